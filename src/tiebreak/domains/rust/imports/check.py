"""What materialization makes of a file of specs, row by row: accepted, or rejected at which step and why."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.imports.rows import Row
from tiebreak.domains.rust.materialize import Reject, examine
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import BlueprintError

CHUNK = 100  # small enough for a progress bar, large enough that verdicts are batched


class Checked(TypedDict):
    """One spec's outcome. `step` counts from 1; 0 is the spec, the plan or the crate as a whole; accepted: None."""

    custom_id: str
    outcome: Literal["accepted", "rejected"]
    step: int | None
    errors: list[str]


def check(rows: Sequence[Row], judge: Judge, progress: Callable[[int], object] | None = None) -> list[Checked]:
    """The outcome of each row, in order; `progress` is called with the number of rows that were just finished."""
    parsed: dict[int, Blueprint] = {}
    bad: dict[int, str] = {}
    for place, row in enumerate(rows):
        try:
            parsed[place] = row.blueprint()
        except BlueprintError as problem:
            bad[place] = str(problem)
    if progress is not None:
        progress(len(bad))
    names = [rows[place].name for place in parsed]
    found = dict(zip(parsed, examine(list(parsed.values()), judge, progress, names, CHUNK), strict=True))
    rejects = [
        Reject(case_id=row.name, step=0, errors=[bad[place]]) if place in bad else found[place]
        for place, row in enumerate(rows)
    ]
    return [_checked(row.name, reject) for row, reject in zip(rows, rejects, strict=True)]


def _checked(name: str, reject: Reject | None) -> Checked:
    if reject is None:
        return Checked(custom_id=name, outcome="accepted", step=None, errors=[])
    return Checked(custom_id=name, outcome="rejected", step=reject["step"], errors=reject["errors"])
