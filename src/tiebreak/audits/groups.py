"""Training groups: where GRPO could learn, and from what.

Among the groups without any success the shaping is all that a shape adds. A total reward may differ there for the
penalty table alone, so the shaping terms are looked at apart from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from tiebreak.audits.ties import TOLERANCE, spread
from tiebreak.errors import DataError
from tiebreak.paths import parse_run
from tiebreak.stats.wilson import fraction

COUNTS = ("groups", "tied", "no_success", "no_success_tied", "no_success_shaped", "no_success_penalties_only")
"""Of groups: all; those whose total rewards tie; those without any success, and of these: those that tie, those whose
shaping terms vary, and those whose total varies though their shaping does not."""
COLUMNS = ["run", "arm", "step", *COUNTS, "kept", "tied_fraction", "low", "high"]


def measure(group: Mapping[str, Any], shaping: Sequence[str]) -> dict[str, int]:
    """One group of `groups.jsonl` as counts of 0 and 1. Rollouts that ended in an infrastructure error are left out.

    A group of which none is left counts as tied, as it does for the trainer.
    """
    ended = [number for number, reward in enumerate(group["rewards"]) if reward is not None]
    totals = [group["rewards"][number] for number in ended]
    paid = [sum(group["terms"][number].get(term, 0.0) for term in shaping) for number in ended]
    tied = not ended or spread(totals) < TOLERANCE
    shaped = bool(ended) and spread(paid) >= TOLERANCE
    lost = not any(group["success"][number] for number in ended)
    values = (True, tied, lost, lost and tied, lost and shaped, lost and not tied and not shaped)
    return {name: int(value) for name, value in zip(COUNTS, values, strict=True)}


def by_step(runs: Mapping[str, Iterable[Mapping[str, Any]]], shaping: Sequence[str]) -> pd.DataFrame:
    """One row a run and step: COUNTS, `kept` (groups that do not tie) and the tied fraction with its Wilson interval.

    runs: the groups of each run. shaping: the names of the shaping terms. Raises DataError for a group without them.
    """
    rows = []
    for run, groups in runs.items():
        for number, group in enumerate(groups):
            try:
                rows.append({"run": run, "arm": parse_run(run)[0], "step": group["step"], **measure(group, shaping)})
            except (KeyError, TypeError, IndexError, AttributeError) as error:
                raise DataError(
                    f"run {run}: group {number} is no record of a group ({error!r}); remake groups.jsonl"
                ) from None
    frame = pd.DataFrame(rows, columns=["run", "arm", "step", *COUNTS])
    return shares(frame.groupby(["run", "arm", "step"], as_index=False, sort=True).sum())


def by_run(steps: pd.DataFrame) -> pd.DataFrame:
    """The same counts and fraction for each run, its steps together."""
    summed = steps.groupby(["run", "arm"], as_index=False, sort=True)[list(COUNTS)].sum()
    summed.insert(2, "steps", steps.groupby(["run", "arm"], sort=True).size().to_numpy())
    return shares(summed)


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts with `kept` and the tied fraction of the groups."""
    found = [fraction(tied, groups) for tied, groups in zip(frame["tied"], frame["groups"], strict=True)]
    bounds = pd.DataFrame(
        [(one.value, one.low, one.high) for one in found], columns=["tied_fraction", "low", "high"], index=frame.index
    )
    return frame.assign(kept=frame["groups"] - frame["tied"], **bounds)


def disagreements(steps: pd.DataFrame, recorded: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[str]:
    """Where the trainer's own record of a step (`steps.jsonl`) counts other groups or ties than its groups show."""
    found = []
    counted = {(row["run"], row["step"]): row for row in steps.to_dict("records")}
    for run, lines in recorded.items():
        for line in lines:
            row = counted.pop((run, line["step"]), None)
            shown = None if row is None else (row["groups"], row["tied"])
            if shown != (line["groups"], line["tied"]):
                found.append(
                    f"run {run}, step {line['step']}: recorded {line['tied']} of {line['groups']} tied, {shown}"
                )
    return found + [f"run {run}, step {step}: groups without a record of the step" for run, step in counted]
