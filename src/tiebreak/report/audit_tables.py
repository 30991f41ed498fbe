"""The tables behind the audits' figures, from `audits.json` and from per-step facts of a prime-rl run."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tiebreak.paths import parse_run

SHARES = {
    "tied_fraction": ("tied", "groups"),
    "no_success_fraction": ("no_success", "groups"),
    "shaped_fraction": ("no_success_shaped", "no_success"),
}
"""Each drawn share with its numerator and denominator; the third is out of the groups without success."""


def table(audits: Mapping[str, Any], name: str) -> pd.DataFrame:
    """One of the tables of `audits.json`."""
    return pd.DataFrame(audits["tables"][name])


def groups(audits: Mapping[str, Any]) -> pd.DataFrame:
    """Training groups by run and step, with SHARES; one out of nothing is missing."""
    frame = table(audits, "group_steps")
    if frame.empty:
        return frame
    for name, (part, whole) in SHARES.items():
        frame[name] = frame[part] / frame[whole].where(frame[whole] > 0)
    return frame.assign(training_seed=frame["run"].map(training_seed))


def training_seed(run: str) -> int:
    """The training seed in a run's name; 0 where it has none."""
    return parse_run(run)[1] or 0


def kept(frame: pd.DataFrame) -> pd.DataFrame:
    """What of each batch went on to training: kept = batch − dropped, and `training_examples` under its own name."""
    return frame[["step", "batch", "dropped_total", "kept", "training_examples"]]


def never_solved(audits: Mapping[str, Any]) -> pd.DataFrame:
    """Cases never solved by arm and furthest phase."""
    return table(audits, "never_solved_counts")


def ranking(audits: Mapping[str, Any]) -> pd.DataFrame:
    """How each shape ranks the evaluations' rollouts, where there are mixed groups."""
    frame = table(audits, "ranking")
    return frame[(frame["source"] == "evaluation") & (frame["mixed"] > 0)] if len(frame) else frame


def figure_tables(audits: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The table of each figure by its name."""
    return {
        "figure_groups": groups(audits),
        "figure_never_solved": never_solved(audits),
        "figure_ranking": ranking(audits),
    }
