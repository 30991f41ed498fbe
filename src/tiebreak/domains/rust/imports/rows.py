"""A file of specs, one a line: model replies as they were published, or blueprints. A bad line is a row with an error.

A reply is `{"custom_id": …, "text": …}`, the text being a blueprint's JSON. A `finish_reason` other than `stop` says
that the model did not end it; other keys are passed over.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tiebreak.domains.rust.blueprints import Blueprint, parse_blueprint
from tiebreak.errors import BlueprintError, DataError

_NO_WORD = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True)
class Row:
    """One spec: what it is called, the blueprint's JSON, and what is wrong with its place in the source, if anything.

    prefix: what comes before the spec's own case id in a study (the published way to tell specs of one name apart).
    case_id: what stands in its place altogether (a case folder's name).
    """

    name: str
    text: str = ""
    error: str | None = None
    prefix: str = ""
    case_id: str = ""

    def blueprint(self) -> Blueprint:
        """The spec as a blueprint. Raises BlueprintError with what is wrong."""
        if self.error is not None:
            raise BlueprintError(self.error)
        return parse_spec(self.text)


def read_rows(path: Path) -> list[Row]:
    """The specs of a file, in its order. A name that was used before makes its row bad; blank lines are passed over.

    Raises DataError where the file cannot be read or holds no line.
    """
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}; name a JSONL file of specs") from problem
    rows = [_row(line, number) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    if not rows:
        raise DataError(f"{path}: holds no line; one spec a line is expected, as JSON")
    return list(_unique(rows))


def _unique(rows: list[Row]) -> Iterator[Row]:
    """The rows, with an error at every name that came before."""
    seen: set[str] = set()
    for row in rows:
        yield (
            replace(row, error=row.error or "this id was used before; ids must be unique") if row.name in seen else row
        )
        seen.add(row.name)


def _row(line: bytes, number: int) -> Row:
    name = f"line {number}"
    try:
        text = line.decode("utf-8").strip().removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        return Row(name, error=f"byte {problem.start} is no UTF-8; save the file as UTF-8")
    try:
        item = load_json(text)
    except (ValueError, RecursionError) as problem:
        return Row(name, error=f"no JSON ({problem}); one whole JSON object a line is expected")
    if not isinstance(item, dict):
        return Row(name, error=f"found a {type(item).__name__}; one JSON object a line is expected")
    if "family" in item:
        case_id = item.get("case_id")
        return Row(case_id if isinstance(case_id, str) and case_id and writable(case_id) else name, text)
    return _reply(item, name)


def _reply(item: dict[str, Any], name: str) -> Row:
    custom_id, text = item.get("custom_id"), item.get("text")
    if not isinstance(custom_id, str) or not custom_id or not writable(custom_id):
        return Row(name, error=f"custom_id: {_found(item, 'custom_id')}, a name is expected")
    if not isinstance(text, str):
        return Row(custom_id, error=f"text: {_found(item, 'text')}, the model's reply is expected")
    if (reason := item.get("finish_reason", "stop")) != "stop":
        mend = "; raise the limit of tokens" if reason == "length" else ""
        return Row(custom_id, error=f"the reply is not whole: it ended by {reason!r:.40}, not by itself{mend}")
    return Row(custom_id, text, prefix=custom_id)


def writable(text: str) -> bool:
    """Whether a text can be written to a file: JSON can hold half a surrogate pair, UTF-8 cannot."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _found(item: dict[str, Any], key: str) -> str:
    return f"found {item[key]!r:.40}" if key in item else "missing"


def parse_spec(text: str) -> Blueprint:
    """A blueprint's JSON as a blueprint. Raises BlueprintError; a key given twice in one object is an error as well."""
    blueprint = parse_blueprint(text)
    try:
        load_json(text)
    except ValueError as problem:  # the key of a step given twice: JSON would silently take the last
        raise BlueprintError(str(problem)) from problem
    return blueprint


def load_json(text: str) -> Any:
    """The JSON value of a text. Raises ValueError for bad JSON and for a key given twice in one object."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is given twice in one object; keep one")
        found[key] = value
    return found


def identifier(*parts: str) -> str:
    """The parts as one case id: letters, digits and underscores."""
    return "_".join(_NO_WORD.sub("_", part) for part in parts if part)
