"""The first place where a file differs from the one that was computed anew, by the kind of file."""

import csv
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.publish.strict import parsed
from tiebreak.publish.verdicts import Difference, Verdict, differs

NEAR = 1e-9
KEYS = ("run", "repetition", "case_id", "sample", "step")
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Absent:
    """What stands where one of two sides has nothing: equal to nothing that a file may hold."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = Absent()
Part = tuple[dict[str, Any], str, Any, Any]
"""Place, field, found, expected."""


def compared(found: Path, expected: Path, name: str) -> Verdict:
    """The verdict on the file `found`, called `name`, against the one `expected` that was computed anew.

    Numbers that differ by rounding alone are called so, if nothing else does; everything else that differs is named
    where it first does.
    """
    if not found.is_file() or not expected.is_file():
        sides = ["there" if path.is_file() else ABSENT for path in (found, expected)]
        return differs(name, Difference(name, "", sides[0], sides[1]))
    if found.read_bytes() == expected.read_bytes():
        return Verdict(name, "bit-exact")
    try:
        return judged(found, expected, name)
    except (ValueError, LookupError, OSError, RecursionError, csv.Error) as error:
        return differs(name, Difference(name, "", f"{type(error).__name__}: {error}", "a file that can be read"))


def judged(found: Path, expected: Path, name: str) -> Verdict:
    """The verdict on files of other bytes. Raises what reading them raises."""
    rounded = 0
    for place, field, one, other in KINDS.get(found.suffix, lines)(found, expected):
        if not near(one, other):
            return differs(name, Difference(name, field, one, other, place))
        rounded += 1
    if rounded and (found.suffix == ".parquet" or frame(found) == frame(expected)):
        return Verdict(name, "rounding", f"{rounded} numbers differ by less than {NEAR:g} of their size", rounded)
    return differs(name, Difference(name, "bytes", found.stat().st_size, "other bytes for the same values"))


def frame(path: Path) -> bytes:
    """A text with its numbers taken out: what rounding does not touch."""
    return NUMBER.sub(b"#", path.read_bytes())


def near(one: Any, other: Any) -> bool:
    """Whether two values are numbers that rounding alone sets apart."""
    numbers = [number for number in map(as_number, (one, other)) if number is not None]
    if len(numbers) < 2:
        return False
    return all(map(math.isfinite, numbers)) and math.isclose(*numbers, rel_tol=NEAR, abs_tol=0.0)


def as_number(value: Any) -> float | None:
    """A value as a real number, also of its text with a point or an exponent; None for anything else."""
    if isinstance(value, float):
        return value
    if isinstance(value, str) and any(mark in value for mark in ".e"):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def json_parts(found: Path, expected: Path) -> Iterator[Part]:
    """Leaves of two JSON files that differ, under dotted names."""
    one, other = (parsed(path.read_text(encoding="utf-8")) for path in (found, expected))
    yield from walk(one, other, "")


def json_line_parts(found: Path, expected: Path) -> Iterator[Part]:
    """The same for files with one value a line."""
    pairs = itertools.zip_longest(*(path.read_text(encoding="utf-8").splitlines() for path in (found, expected)))
    for number, (one, other) in enumerate(pairs, 1):
        if one != other:
            values = [ABSENT if line is None else parsed(line) for line in (one, other)]
            for _, field, a, b in walk(values[0], values[1], ""):
                yield {"line": number}, field, a, b


def walk(found: Any, expected: Any, name: str) -> Iterator[Part]:
    """Leaves of two values that differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in sorted({*found, *expected}):
            yield from walk(found.get(key, ABSENT), expected.get(key, ABSENT), f"{name}.{key}" if name else key)
    elif isinstance(found, list) and isinstance(expected, list):
        for number, (one, other) in enumerate(itertools.zip_longest(found, expected, fillvalue=ABSENT)):
            yield from walk(one, other, f"{name}[{number}]")
    elif found != expected or type(found) is not type(expected):
        yield {}, name, found, expected


def csv_parts(found: Path, expected: Path) -> Iterator[Part]:
    """Cells of two CSV files that differ."""
    tables = [list(csv.reader(path.open(encoding="utf-8", newline=""))) for path in (found, expected)]
    head = tables[1][0] if tables[1] else []
    for number, (one, other) in enumerate(itertools.zip_longest(*tables), 1):
        for column, (a, b) in enumerate(itertools.zip_longest(one or [], other or [], fillvalue=ABSENT)):
            if a != b:
                yield {"line": number}, head[column] if column < len(head) else f"column {column}", a, b


def table_parts(found: Path, expected: Path) -> Iterator[Part]:
    """Cells of two Parquet tables that differ; where the schemas or the numbers of rows do, that is the difference."""
    one, other = pq.read_table(found), pq.read_table(expected)
    if not one.schema.equals(other.schema):
        yield {}, "schema", one.schema.to_string(), other.schema.to_string()
        return
    if not one.schema.equals(other.schema, check_metadata=True):
        yield {}, "metadata", metadata(one.schema), metadata(other.schema)
    for place, names, a, b in rows_apart(one, other):
        for name in names:
            yield place, name, a.get(name, ABSENT), b.get(name, ABSENT)
    if one.num_rows != other.num_rows:
        yield {}, "rows", one.num_rows, other.num_rows


def metadata(schema: pa.Schema) -> list[Any]:
    """What a schema says beside names and types: of the table, then of each column."""
    return [schema.metadata, *(field.metadata for field in schema)]


def rows_apart(one: pa.Table, other: pa.Table) -> Iterator[tuple[dict[str, Any], list[str], Any, Any]]:
    """Rows of two tables of a schema that differ: place, names of the columns, both rows."""
    for number in range(min(one.num_rows, other.num_rows)):
        a, b = ({} if t is None else t.slice(number, 1).to_pylist()[0] for t in (one, other))
        names = [name for name in one.schema.names if not same(a[name], b[name])]
        if names:
            yield {name: a[name] for name in KEYS if name in a} or {"row": number}, names, a, b


def same(one: Any, other: Any) -> bool:
    """Equality, in which a number that is none equals itself."""
    return bool(one == other) or (one != one and other != other)


def lines(found: Path, expected: Path) -> Iterator[Part]:
    """Lines of two texts that differ, from where they do."""
    texts: Sequence[list[str]] = [
        path.read_text(encoding="utf-8", errors="replace").splitlines() for path in (found, expected)
    ]
    for number, (one, other) in enumerate(itertools.zip_longest(*texts, fillvalue=ABSENT), 1):
        if isinstance(one, str) and isinstance(other, str):
            if one != other:
                yield {"line": number}, "", *apart(one, other)
        else:
            yield {"line": number}, "", one, other


def apart(one: str, other: str, around: int = 60) -> tuple[str, str]:
    """Two lines from a little before the place where they part."""
    at = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, at - around)
    return one[start : at + around], other[start : at + around]


KINDS = {".json": json_parts, ".jsonl": json_line_parts, ".csv": csv_parts, ".parquet": table_parts}
