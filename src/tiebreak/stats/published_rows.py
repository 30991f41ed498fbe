"""One evaluation in the layout of the published study: a JSON list with a row a case.

A row has `name`, `k` (rollouts of the case), how many of them are valid (`valid_trace_solves`, or `valid_solves` in the
counts-only files), maybe `cargo_solves` (success) and maybe `rollouts`, the k transcripts. Its field `pass_at_k` holds
solves/k, which is no pass@k, and is not read. No seeds are recorded.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak.digest import text_digest
from tiebreak.errors import DataError

VALID = ("valid_trace_solves", "valid_solves")
LARGEST_K = 100_000  # rollouts of a case; more is a slip of the pen, and the tests' tables grow with it
LAYOUT = f"a list of rows with name, k and {' or '.join(VALID)}"


@dataclass(frozen=True)
class Published:
    """Counts of one file: `table` has a row a case with case_id, n, errors (0), valid and, where it is given, success.

    retained: whether every row keeps its rollouts. traces: a digest of each case's rollouts, where they are kept.
    contradicted: the cases whose kept rollouts are marked valid more or less often than was counted.
    """

    path: Path
    k: int
    table: pd.DataFrame
    retained: bool
    traces: Mapping[str, str] = field(repr=False)
    contradicted: tuple[str, ...] = ()

    @property
    def doubt(self) -> str | None:
        """In words, that counts and kept rollouts contradict each other."""
        if not self.contradicted:
            return None
        return (
            f"{self.path}: in {len(self.contradicted)} cases ({self.contradicted[0]}) the kept rollouts are marked "
            "valid more or less often than was counted; the counts are compared"
        )


def read_published(path: Path) -> Published:
    """The evaluation of a file. Raises DataError, naming the row, for any other layout and for impossible numbers."""
    stored = read_json(path)
    if not looks_published(stored):
        raise DataError(f"{path}: not the published layout; {LAYOUT} is expected")
    rows = [checked(row, f"{path}: row {number}") for number, row in enumerate(stored)]
    table = pd.DataFrame(rows)
    twice = table[table["case_id"].duplicated()]
    if len(twice):
        raise DataError(f"{path}: case {twice.iloc[0]['case_id']} stands there twice; a case has one row")
    k = int(table["n"].iloc[0])
    if (table["n"] != k).any():
        odd = table[table["n"] != k].iloc[0]
        raise DataError(
            f"{path}: k is {odd['n']} in case {odd['case_id']} and {k} in {table['case_id'].iloc[0]}; one k"
        )
    if table["success"].isna().any():
        table = table.drop(columns="success")
    kept = [row.get("rollouts") for row in stored]
    traces = {
        name: text_digest(json.dumps(part, sort_keys=True))
        for name, part in zip(table["case_id"], kept, strict=True)
        if part
    }
    against = tuple(
        name
        for name, part, valid in zip(table["case_id"], kept, table["valid"], strict=True)
        if contradicts(part, int(valid))
    )
    return Published(path, k, table, len(traces) == len(table), traces, against)


def read_json(path: Path) -> Any:
    """The JSON value of a file; raises DataError for a file that cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; name a stored evaluation") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: no JSON ({error}); {LAYOUT} is expected") from error


def looks_published(stored: Any) -> bool:
    """Whether a JSON value is a list of rows of this layout."""
    return isinstance(stored, list) and bool(stored) and all(isinstance(row, dict) and "name" in row for row in stored)


def checked(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The counts of one row; raises DataError for missing, impossible or contradictory ones."""
    name = row["name"]
    if not isinstance(name, str) or not name:
        raise DataError(f"{place}: name is {name!r}; the case's name is expected")
    place = f"{place} ({name})"
    k = whole(row, "k", place)
    given = {field: whole(row, field, place) for field in VALID if field in row}
    if not given:
        raise DataError(f"{place}: neither {' nor '.join(VALID)}; {LAYOUT} is expected")
    if len(set(given.values())) > 1:
        raise DataError(f"{place}: {' and '.join(f'{key} {value}' for key, value in given.items())}; they must agree")
    valid = next(iter(given.values()))
    success = whole(row, "cargo_solves", place) if "cargo_solves" in row else None
    if k > LARGEST_K:
        raise DataError(f"{place}: k is {k}; at most {LARGEST_K} rollouts of a case are expected")
    if k < 1 or max(valid, success or 0) > k:
        raise DataError(f"{place}: {max(valid, success or 0)} of k = {k} rollouts solved it; impossible")
    check_rollouts(row.get("rollouts"), k, place)
    return {"case_id": name, "n": k, "errors": 0, "valid": valid, "success": success}


def whole(row: Mapping[str, Any], field: str, place: str) -> int:
    """A field that is a whole number of at least 0."""
    value = row.get(field)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        found = "missing" if field not in row else f"{value!r:.80}"
        raise DataError(f"{place}: {field} is {found}; a whole number of at least 0 is expected")
    return value


def check_rollouts(rollouts: Any, k: int, place: str) -> None:
    """Raises DataError where the kept rollouts are not the k that were counted."""
    if rollouts is not None and not isinstance(rollouts, list):
        raise DataError(f"{place}: rollouts is {type(rollouts).__name__}; a list is expected")
    if rollouts and len(rollouts) != k:
        raise DataError(f"{place}: {len(rollouts)} rollouts are kept, k is {k}; they are not those that were counted")


def contradicts(rollouts: Any, valid: int) -> bool:
    """Whether kept rollouts say by their marks that another number of them is valid."""
    marks = [rollout.get("valid_trace") for rollout in rollouts or [] if isinstance(rollout, dict)]
    return bool(marks) and all(isinstance(mark, bool) for mark in marks) and marks.count(True) != valid


def refuse_same_traces(files: Sequence[Published]) -> None:
    """Raises DataError for two files that keep the same rollouts: one evaluation under two names."""
    for first, second in combinations(files, 2):
        if first.traces and first.traces == second.traces:
            raise DataError(
                f"{first.path} and {second.path} keep the same rollouts in every case: one evaluation under two names, "
                "as equal seeds make it; a repetition needs seeds of its own"
            )
