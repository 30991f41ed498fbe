"""Text that commands read and print: people's files, blueprints among them, and what models and programs wrote."""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.errors import BlueprintError, DataError

if TYPE_CHECKING:
    from tiebreak.domains.rust.blueprints import Blueprint

SHOWN = 5
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class _Spec:
    """A blueprint in a file, not yet read as one: where it stands, what it is called, and its JSON."""

    place: str
    names: tuple[str, ...]
    text: str


def add_blueprint(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a blueprint."""
    parser.add_argument(
        "--blueprint",
        required=True,
        metavar="SPEC.json",
        help="the case: a file with a blueprint (one JSON object), or with one a line (JSONL)",
    )
    parser.add_argument("--case", metavar="ID", help="which one of several: a case_id, or a published custom_id")


def read_text(file: str) -> str:
    """The text of a file (`-`: standard input). DataError, with the line, where it is no UTF-8."""
    place = "standard input" if file == "-" else file
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise DataError(f"{place}: cannot be read: {error.strerror}; {mend(file)}") from error
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{place}: line {line}: byte {error.start} is no UTF-8; save the file as UTF-8") from error


def mend(file: str) -> str:
    """What to do about a file that is not there: a study's own is made, another one is named."""
    if not Path(file).exists() and Path(file).parts[:1] == ("results",):
        return "./dev snakemake --cores all data, with the study's --config, makes a study's cases"
    return "name a text file"


def read_blueprint(file: str, case: str | None = None) -> "Blueprint":
    """The one blueprint of a file, or the one called `case` (its case_id, or the custom_id of a published spec).

    A file holds a JSON object, or one a line; a published spec is an object with the blueprint's JSON as its `text`.
    DataError where the file or the choice is bad, BlueprintError where the blueprint is.
    """
    from tiebreak.domains.rust.blueprints import parse_blueprint

    spec = _choose(list(_specs(file, read_text(file))), file, case)
    _object(spec.text, spec.place)
    try:
        return parse_blueprint(spec.text)
    except BlueprintError as error:
        raise BlueprintError(f"{spec.place}: {error}") from error


def _choose(specs: list[_Spec], file: str, case: str | None) -> _Spec:
    found = [spec for spec in specs if case is None or case in spec.names]
    if len(found) == 1:
        return found[0]
    if case is None and found:
        raise DataError(f"{file}: holds {len(found)} blueprints ({_named(found)}); choose one with --case ID")
    if case is None:
        raise DataError(f"{file}: holds no blueprint; one JSON object, or one a line, is expected")
    if found:
        places = " and ".join(spec.place.removeprefix(f"{file}: ") for spec in found[:2])
        raise DataError(f"{file}: --case {case}: found {len(found)} times ({places}); its custom_id may be unique")
    raise DataError(f"{file}: --case {case}: no such blueprint; there are {_named(specs) or 'none'}")


def _named(specs: Iterable[_Spec]) -> str:
    names = [spec.names[0] if spec.names else "one without a name" for spec in specs]
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def _specs(file: str, text: str) -> Iterator[_Spec]:
    """The blueprints of a file: it is one JSON object, or has one on each line that is not blank."""
    if not _has_lines(file, text):
        yield _spec(file, text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _spec(f"{file}: line {number}", line)


def _has_lines(file: str, text: str) -> bool:
    """Whether a file has an object a line: by its name, or because something follows the first object."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return file.endswith(".jsonl") or error.msg == "Extra data"
    except (ValueError, RecursionError):
        return False
    return False


def _spec(place: str, text: str) -> _Spec:
    item = _object(text, place)
    names = [item.get("case_id"), item.get("custom_id")]
    if isinstance(item.get("text"), str) and "custom_id" in item:
        text = item["text"]
        inner = _loaded(text)
        names.insert(0, inner.get("case_id") if isinstance(inner, dict) else None)
    return _Spec(place, tuple(name for name in names if isinstance(name, str)), text)


def _object(text: str, place: str) -> dict[str, Any]:
    item = _loaded(text)
    if isinstance(item, Exception):
        raise DataError(f"{place}: no JSON ({item}); a blueprint is one JSON object")
    if not isinstance(item, dict):
        raise DataError(f"{place}: found a {type(item).__name__}; a blueprint is one JSON object")
    return item


def _loaded(text: str) -> Any:
    """The JSON value in `text`, or what is wrong with it: bad JSON, numbers of too many digits, nesting too deep."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return error


def show(text: str) -> None:
    """Print what a model or its program wrote: what the output cannot carry, or a terminal would obey, is escaped."""
    if sys.stdout.isatty():
        text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def show_grade(graded: bool, reasons: Iterable[str]) -> None:
    """Print a grade and, a line each, why it is none."""
    show(f"graded: {str(graded).lower()}")
    for reason in reasons:
        show(f"  {reason}")
