"""JSON Lines of a file or of standard input, read so that whatever is wrong is named with its file and line."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak.errors import DataError


def read_objects(file: str, what: str, keys: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, object) of each line of a file (`-`: standard input); blank lines are passed over.

    what: what the objects are, in the plural; keys: what each must hold, in words. DataError names the bad line.
    """
    found = False
    for number, line in enumerate(_lines(file, what), 1):
        place = f"{'standard input' if file == '-' else file}:{number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{place}: byte {error.start} is no UTF-8; save the file as UTF-8") from error
        if text.strip():
            found = True
            yield place, _object(text, place, keys)
    if not found:
        raise DataError(f"{file}: no {what}; one JSON object a line is expected")


def _lines(file: str, what: str) -> Iterator[bytes]:
    if file == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as lines:
            yield from lines
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; name a JSONL file of {what}") from error


def _object(text: str, place: str, keys: str) -> dict[str, Any]:
    try:
        item = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: no JSON ({error}); one JSON object a line is expected") from error
    if not isinstance(item, dict):
        raise DataError(f"{place}: found {kind(item)}, a JSON object with {keys} is expected")
    return item


def expect(item: Mapping[str, Any], place: str, wanted: Mapping[str, tuple[type, str]]) -> None:
    """Raise DataError for the first key that is not of its type; `wanted` has each key's type, and it in words."""
    for key, (expected, words) in wanted.items():
        if type(item.get(key)) is not expected:
            raise wrong(item, key, words, place)


def wrong(item: Mapping[str, Any], key: str, words: str, place: str) -> DataError:
    """The error of a key that does not hold what `words` say."""
    found = kind(item[key]) if key in item else "nothing"
    return DataError(f"{place}: {key}: found {found}, expected {words}")


def kind(value: Any) -> str:
    """What a JSON value is, in words, with the value itself where it is short."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return f"{names.get(type(value), 'a number')} ({json.dumps(value)[:40]})"
