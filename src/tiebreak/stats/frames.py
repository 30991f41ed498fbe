"""The analysis as flat tables, for CSV files and for the page."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

PARTS = ("value", "low", "high")


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Numbers and words of a nested row under dotted names; lists and inner tables are left out."""
    cells: dict[str, Any] = {}
    for key, value in row.items():
        if key in ("runs", "families", "repetitions", "run_means"):
            continue
        if isinstance(value, Mapping):
            cells |= flat(value, f"{prefix}{key}.")
        elif not isinstance(value, list):
            cells[prefix + key] = value
    return cells


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of flattened rows."""
    return pd.DataFrame([flat(row) for row in rows])


def frames(analysis: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Every table of the analysis by name: arms, runs, families, repetitions, checkpoints, recipe, noise, variance,
    what_if, bands, learning, stopped."""
    arms = analysis["arms"]
    learned = analysis["learning"] or {"runs": {}, "arms": {}}
    return {
        "arms": frame(arms.values()),
        "runs": frame(
            {"arm": arm, "run": run, **row} for arm, part in arms.items() for run, row in part["runs"].items()
        ),
        "families": frame(
            {"arm": arm, "family": name, **row} for arm, part in arms.items() for name, row in part["families"].items()
        ),
        "repetitions": frame({"arm": arm, **row} for arm, part in arms.items() for row in part["repetitions"]),
        "checkpoints": frame(analysis["checkpoints"]),
        "checkpoints_by_family": frame(
            {"family": name, **row} for pair in analysis["checkpoints"] for name, row in pair["families"].items()
        ),
        "recipe": frame(
            {**pair, "runs_a": pair["runs"][0], "runs_b": pair["runs"][1]} for pair in analysis["recipe"]["pairs"]
        ),
        "noise": frame({"outcome": name, **row} for name, part in analysis["noise"].items() for row in part["pairs"]),
        "variance": frame([{**analysis["variance"], "negative": ", ".join(analysis["variance"]["negative"])}]),
        "what_if": frame(analysis["what_if"]),
        "bands": frame(
            {"a": pair["a"], "b": pair["b"], **row} for pair in analysis["bands"]["pairs"] for row in pair["bands"]
        ),
        "learning": frame(
            [{"run": run, **row} for run, row in learned["runs"].items()]
            + [{"run": "all runs", "arm": arm, **row} for arm, row in learned["arms"].items()]
        ),
        "stopped": frame(analysis["stopped"]),
    }
