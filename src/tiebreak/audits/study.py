"""All audits of a study together: their tables, and the checks that hold stored numbers against recomputed ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from tiebreak.audits import groups, protocol, tamper, taxonomy
from tiebreak.audits.ranking import ranking
from tiebreak.audits.statements import statements
from tiebreak.audits.stored import Stored
from tiebreak.audits.ties import TOLERANCE
from tiebreak.domains.reading import Reader
from tiebreak.stats.bootstrap import DRAWS

Lines = Mapping[str, Iterable[Mapping[str, Any]]]


def tables(
    stored: Stored, steps: pd.DataFrame, reader: Reader, *, seed: int, confidence: float = 0.95, draws: int = DRAWS
) -> dict[str, pd.DataFrame]:
    """Every audit's table by name. steps: of `groups.by_step`."""
    rollouts, lost = stored.rollouts, taxonomy.never_solved(stored.rollouts, reader.phases)
    return {
        "group_steps": steps,
        "group_runs": groups.by_run(steps),
        "calls": tamper.calls(stored),
        "tampering": tamper.attempts(stored, reader.tampering),
        "outcomes": tamper.outcomes(rollouts),
        "findings": tamper.findings(rollouts),
        "never_solved": lost,
        "never_solved_counts": taxonomy.counted(lost, rollouts, reader.phases),
        "protocol": protocol.cleanliness(rollouts, reader.slips),
        "lengths": protocol.lengths(rollouts),
        "new_tokens": protocol.histogram(rollouts),
        "ranking": ranking(rollouts, reader.shapes, seed=seed, confidence=confidence, draws=draws),
    }


def checks(stored: Stored, steps: pd.DataFrame, recorded: Lines, shapes: Sequence[str]) -> dict[str, Any]:
    """What was held against what: counts compared and the differences found, of which there should be none."""
    differing = groups.disagreements(steps, recorded)
    compared = [rewards_compared(stored.rollouts, shape) for shape in shapes]
    return {
        "steps": {"compared": len(steps), "differing": differing},
        "rewards": {"compared": sum(map(len, compared)), "differing": int(sum(part.sum() for part in compared))},
    }


def rewards_compared(rollouts: pd.DataFrame, shape: str) -> pd.Series:
    """For each rollout of the shape's own arm that has both rewards, whether the recomputed one is another."""
    pair = rollouts.reindex(columns=["reward", f"reward.{shape}"])[rollouts["arm"] == shape].dropna()
    return (pair["reward"] - pair[f"reward.{shape}"]).abs() >= TOLERANCE


def document(
    found: Mapping[str, pd.DataFrame], checked: Mapping[str, Any], stored: Stored, **settings: Any
) -> dict[str, Any]:
    """The audits as one JSON value: `rollouts` read by source, `settings`, `checks`, the rows of every table, and
    `statements` in words."""
    by_source = stored.rollouts["source"].value_counts().sort_index()
    audits = {
        "rollouts": {str(source): int(count) for source, count in by_source.items()},
        "calls": len(stored.calls),
        "settings": settings,
        "checks": dict(checked),
        "tables": {name: records(frame) for name, frame in found.items()},
    }
    return audits | {"statements": statements(audits)}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as JSON values; a missing one is null, a whole number is one."""
    plain = frame.astype(dict.fromkeys(frame, object))
    rows = plain.where(frame.notna(), None).to_dict("records")
    return [{str(name): value(cell) for name, cell in row.items()} for row in rows]


def value(cell: Any) -> Any:
    """A cell as a JSON value."""
    found = cell.item() if hasattr(cell, "item") else cell
    return int(found) if isinstance(found, float) and found.is_integer() and abs(found) < 2**53 else found
