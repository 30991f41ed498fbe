"""Arms with a fault beside the same arms without it: what the fault did, and what the shape did, in their trials.

A *cell* is an arm that has a twin: another arm with the same reward shape and other faults. Its tied groups are those
of its trials, all its runs together; a run that never had a trial adds nothing. A run that gave up in its trial, as
every batch tied, is counted in no fraction: a cell that has one is told as it is and compared with none, for the rest
of its runs are those that tied less.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import pandas as pd

from tiebreak.gates import gave_up
from tiebreak.paths import parse_run
from tiebreak.stats.permutation import holm, permutation_p, smallest_p
from tiebreak.stats.sentences import between, signed
from tiebreak.stats.wilson import Fraction, difference, fraction

NO_FAULT = "no fault"
TIED = ["tied", "groups", "tied_fraction", "tied_low", "tied_high"]
COLUMNS = ["arm", "shape", "faults", "runs", "went_on", "gave_up", *TIED]
BY_RUN = "tied_by_run"
SOLVED = ["graded_in_trial", "rollouts_in_trial", "pass_at_1", "pass_low", "pass_high"]


def cells(
    shapes: Mapping[str, Mapping[str, Any]],
    decisions: Mapping[str, Mapping[str, Any]],
    steps: Mapping[str, Sequence[Mapping[str, Any]]],
    analysis: Mapping[str, Any],
) -> pd.DataFrame:
    """One row an arm that has a twin: its trials' tied groups with a Wilson interval, and what was solved.

    shapes: the settings of each arm, `faults` among them; decisions and steps by run. `graded_in_trial` is out of
    `rollouts_in_trial`, sampled while the trials trained; pass_at_1 is of held-out cases, and missing where all runs
    of the arm were stopped. `tied_by_run` is the tied fraction of each run's trial, with blanks between.
    """
    alike = {arm: json.dumps({**part, "faults": None}, sort_keys=True) for arm, part in shapes.items()}
    faults = {arm: ", ".join(part.get("faults", ())) or NO_FAULT for arm, part in shapes.items()}
    plain = {alike[arm]: arm for arm in reversed(list(shapes)) if faults[arm] == NO_FAULT}
    rows = []
    for arm in shapes:
        if any(alike[arm] == alike[other] and faults[arm] != faults[other] for other in shapes):
            runs = [run for run in decisions if parse_run(run)[0] == arm]
            names = {"arm": arm, "shape": plain.get(alike[arm], arm), "faults": faults[arm], "runs": len(runs)}
            went_on = {"went_on": sum(bool(decisions[run]["go"]) for run in runs)}
            went_on["gave_up"] = sum(gave_up(decisions[run]) for run in runs)
            rows.append(names | went_on | tied_part(runs, decisions) | solved(arm, runs, decisions, steps, analysis))
    return pd.DataFrame(rows, columns=[*COLUMNS, BY_RUN, *SOLVED])


def trials(runs: Sequence[str], decisions: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The runs that had a trial with groups, each with what it measured."""
    for run in runs:
        measure = decisions[run]["measure"]
        if decisions[run]["gate"] == "trial" and measure and measure["tied"]["total"]:
            yield run, measure


def tied_part(runs: Sequence[str], decisions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The tied groups of an arm's trials."""
    found = [measure["tied"] for _, measure in trials(runs, decisions)]
    share = fraction(sum(part["count"] for part in found), sum(part["total"] for part in found))
    each = " ".join(repr(part["count"] / part["total"]) for part in found)
    return dict(zip(TIED, asdict(share).values(), strict=True)) | {BY_RUN: each}


def solved(
    arm: str,
    runs: Sequence[str],
    decisions: Mapping[str, Mapping[str, Any]],
    steps: Mapping[str, Sequence[Mapping[str, Any]]],
    analysis: Mapping[str, Any],
) -> dict[str, Any]:
    """What was graded as solved: rollouts of the trials, and held-out cases after training."""
    graded = rollouts = 0
    for run, measure in trials(runs, decisions):
        of_trial = {row["step"] for row in measure["steps"]}
        for row in steps.get(run, ()):
            if row["step"] in of_trial:
                rollouts += row["rollouts"]
                graded += round(row["graded_rate"] * row["rollouts"])
    after = analysis["arms"].get(arm, {}).get("pass_at_1") or {"value": None, "low": None, "high": None}
    return dict(zip(SOLVED, [graded, rollouts, after["value"], after["low"], after["high"]], strict=True))


def effects(frame: pd.DataFrame) -> pd.DataFrame:
    """What each cause did to the tied fraction of the trials: differences of two cells.

    cause `fault`: the same shape with the fault and without; cause `shape`: two shapes under the same faults. low and
    high are Newcombe's interval over the groups of these runs. p is exact over training runs, as a recipe is judged;
    p_holm and smallest_p_holm, the least that so many runs can reach, are after Holm over a cause's differences.
    """
    rows = [
        row for _, part in frame.groupby("shape", sort=False) for row in differences(part, "fault", "faults", "shape")
    ]
    rows += [
        row for _, part in frame.groupby("faults", sort=False) for row in differences(part, "shape", "shape", "faults")
    ]
    found = pd.DataFrame(rows, columns=["cause", "under", "a", "b", "value", "low", "high", "p", "smallest_p"])
    by_cause = found.groupby("cause", sort=False)
    found["p_holm"] = by_cause["p"].transform(lambda ps: holm(list(ps)))
    found["smallest_p_holm"] = by_cause["smallest_p"].transform(lambda ps: [min(1.0, p * len(ps)) for p in ps])
    return found


def differences(part: pd.DataFrame, cause: str, moved: str, held: str) -> Iterator[dict[str, Any]]:
    """The rows of `effects` of cells that differ in `moved` alone; without a fault comes first."""
    ordered = sorted(part.to_dict("records"), key=lambda row: row["faults"] != NO_FAULT)
    for a, b in combinations(ordered, 2):
        found = difference(*(fraction(0, 0) if row["gave_up"] else tied_of(row) for row in (a, b)))
        ours, theirs = runs_of(a), runs_of(b)
        yield (
            {"cause": cause, "under": a[held], "a": a[moved], "b": b[moved]}
            | asdict(found)
            | {"p": permutation_p(ours, theirs), "smallest_p": smallest_p(len(ours), len(theirs))}
        )


def runs_of(row: Mapping[Any, Any]) -> list[float]:
    """The tied fraction of each run's trial, to be compared: none where a run gave up."""
    if row["gave_up"]:
        return []
    return [float(number) for number in str(row[BY_RUN]).split()]


def tied_of(row: Mapping[Any, Any]) -> Fraction:
    """A cell's tied fraction."""
    return fraction(int(row["tied"]), int(row["groups"]))


def sentences(frame: pd.DataFrame, alpha: float) -> list[str]:
    """A sentence a cell, one an effect, and what may be claimed of each cause at level `alpha`."""
    moved = effects(frame)
    lines = [about_cell(row) for row in frame.to_dict("records")]
    lines += [about_effect(row) for row in moved.to_dict("records")]
    return lines + [verdict(part, str(cause), alpha) for cause, part in moved.groupby("cause", sort=False)]


def about_cell(row: Mapping[Any, Any]) -> str:
    """What an arm's trials measured, and what became of it."""
    what = f"{row['arm']} ({row['shape']}, {row['faults']})"
    missing = gave_up_words(row)
    if not row["groups"]:
        return f"{what}: {missing or 'no trial ran, so nothing was measured'}."
    share = tied_of(row)
    tied = f"{row['tied']} of {row['groups']} groups of the trial tied, {between(asdict(share))}"
    graded = f"{row['graded_in_trial']} of its {row['rollouts_in_trial']} rollouts were graded as solved"
    after = {"value": row["pass_at_1"], "low": row["pass_low"], "high": row["pass_high"]}
    then = f"; {row['went_on']} of {row['runs']} runs went on"
    if not pd.isna(row["pass_at_1"]):
        then += f", to a graded pass@1 of {between(none_for_nan(after))} on held-out cases"
    return f"{what}: {tied}; {graded}{then}{missing and f'; {missing}'}."


def gave_up_words(row: Mapping[Any, Any]) -> str:
    """What a cell's fraction leaves out, and what follows; nothing where no run gave up."""
    if not row["gave_up"]:
        return ""
    return (
        f"{row['gave_up']} of {row['runs']} runs gave up in the trial because every batch tied, and are in no "
        "fraction, so this arm is compared with none"
    )


def none_for_nan(part: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table's row; a missing one is None."""
    return {name: None if pd.isna(value) else value for name, value in part.items()}


def about_effect(row: Mapping[Any, Any]) -> str:
    """One difference in words."""
    if pd.isna(row["value"]):
        return f"Under {row['under']}, {row['b']} against {row['a']} was not measured."
    moved = f"{signed(row['value'])} ({signed(row['low'])} to {signed(row['high'])} over groups)"
    return f"Under {row['under']}, the tied fraction with {row['b']} differs from that with {row['a']} by {moved}."


def verdict(part: pd.DataFrame, cause: str, alpha: float) -> str:
    """What may be claimed of a cause: it is judged over training runs, as every recipe is."""
    name = "the fault" if cause == "fault" else "the reward shape"
    if (measured := int(part["value"].notna().sum())) == 0:
        return f"Nothing is said of {name}: no two arms could be compared."
    least = part["smallest_p_holm"].min()
    if least > alpha:
        return (
            f"These are differences between these runs. No claim can be made that {name} makes them: with so few "
            f"training runs an arm the smallest p is {least:.3g} after Holm, above alpha {alpha:g}, whatever the data."
        )
    shown = part[part["p_holm"] <= alpha]
    if shown.empty:
        return f"So {name} is not shown to move the tied fraction: over training runs no p of {measured} is small."
    ways = [f"{signed(row['value'])} under {row['under']}" for row in shown.to_dict("records")]
    return (
        f"So {name} moves the tied fraction in {len(shown)} of {measured} comparisons ({', '.join(ways)}), over "
        "training runs after Holm."
    )
