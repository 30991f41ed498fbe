"""Name families: where nobody recorded templates, patterns over case names stand in for them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tiebreak.errors import DataError

Families = Sequence[tuple[str, re.Pattern[str]]]
EXPECTED = '{"families": [[name, pattern], …]} is expected'


def read_families(path: Path) -> Families:
    """The (name, pattern) pairs of a file `{"families": [[name, pattern], …]}`, in its order. DataError if it is none.

    The patterns are regular expressions that are searched in case names.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["families"]
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}; {EXPECTED}") from problem
    except (ValueError, RecursionError, KeyError, TypeError) as problem:
        raise DataError(f"{path}: no name families ({problem!r}); {EXPECTED}") from problem
    if not isinstance(entries, list):
        raise DataError(f"{path}: families is a {type(entries).__name__}; {EXPECTED}")
    return [_family(entry, f"{path}: families[{number}]") for number, entry in enumerate(entries)]


def _family(entry: object, place: str) -> tuple[str, re.Pattern[str]]:
    match entry:
        case [str(name), str(pattern)] if name:
            try:
                return name, re.compile(pattern)
            except re.error as problem:
                raise DataError(f"{place}: {pattern!r} is no regular expression: {problem}") from problem
    raise DataError(f"{place}: found {entry!r:.60}; a name and a pattern are expected")


def template_of(case_id: str, families: Families) -> str:
    """The name of the first family whose pattern occurs in the case's name; else the case is a cluster of its own."""
    return next((name for name, pattern in families if pattern.search(case_id)), case_id)
