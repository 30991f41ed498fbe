"""The two tables of a release that people load first: what every run came to on every case, and every training step."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak import tables
from tiebreak.audits.stored import json_lines
from tiebreak.paths import BASE_ARM, parse_run
from tiebreak.stats.counts import counts
from tiebreak.tables import COUNT, REAL, SEED, TEXT, schema

RESULTS = schema(
    {
        "study": TEXT,
        "run": TEXT,
        "arm": TEXT,
        "training_seed": COUNT,
        "repetition": COUNT,
        "case_id": TEXT,
        "family": TEXT,
        "template": TEXT,
        "root_seed": SEED,
        "k": COUNT,
        "rollouts": COUNT,
        "valid": COUNT,
        "success": COUNT,
        "graded": COUNT,
        "errors": COUNT,
    },
    ("run", "repetition", "case_id"),
    optional=("training_seed",),
)
"""One row a run, repetition and case: of `k` rollouts asked for, `rollouts` ended and `errors` did not."""

PLACE = {"study": TEXT, "run": TEXT, "arm": TEXT, "training_seed": COUNT, "root_seed": SEED, "step": COUNT}
STEP_COUNTS = ("groups", "tied", "kept", "rollouts", "errors", "new_tokens_max", "truncated")
STEP_REALS = (
    *("tied_fraction", "reward_mean", "reward_std", "valid_rate", "success_rate", "graded_rate", "new_tokens_mean"),
    *("turns_mean", "loss", "kl", "entropy", "grad_norm", "learning_rate", "seconds_rollouts", "seconds_update"),
)
TRAINING = schema(
    PLACE | dict.fromkeys(STEP_COUNTS, COUNT) | dict.fromkeys(STEP_REALS, REAL),
    ("run", "step"),
    optional=(*STEP_COUNTS, *STEP_REALS),
)
"""One row an RL training step; what a trainer does not measure is null."""


def results_rows(paths: Iterable[Path], study: str, root_seed: int, k: int) -> list[dict[str, Any]]:
    """The rows of RESULTS from the tables of rollouts of all evaluations."""
    table: pd.DataFrame = counts(paths)
    names = ["run", "arm", "repetition", "case_id", "family", "template", "valid", "success", "graded", "errors"]
    return [
        {name: row[name] for name in names}
        | {"study": study, "root_seed": root_seed, "k": k, "rollouts": row["n"]}
        | {"training_seed": None if row["arm"] == BASE_ARM else row["training_seed"]}
        for row in table.to_dict("records")
    ]


def training_rows(steps: Mapping[str, Path], study: str, root_seed: int) -> Iterator[dict[str, Any]]:
    """The rows of TRAINING from the records of each run's steps."""
    for run, path in steps.items():
        arm, seed = parse_run(run)
        place = {"study": study, "run": run, "arm": arm, "training_seed": seed, "root_seed": root_seed}
        for step in json_lines(path):
            yield place | {"step": step["step"]} | {name: step.get(name) for name in (*STEP_COUNTS, *STEP_REALS)}


def write_tables(
    folder: Path, rollouts: Iterable[Path], steps: Mapping[str, Path], *, study: str, root_seed: int, k: int
) -> None:
    """Write results.parquet and training.parquet into `folder`."""
    tables.write_table(folder / "results.parquet", results_rows(rollouts, study, root_seed, k), RESULTS)
    tables.write_table(folder / "training.parquet", training_rows(steps, study, root_seed), TRAINING)
