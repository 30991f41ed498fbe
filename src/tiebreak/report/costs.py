"""What a study cost: wall time of its jobs, GPU hours and tokens, by stage, from the records that the jobs left."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from tiebreak.tables import read_table

STAGES: Mapping[str, Sequence[str]] = {
    "data": (
        "replies",
        "blueprints",
        "cases",
        "splits",
        "leakage",
        "traces",
        "tokens",
        "prompts",
        "parity",
        "data_page",
    ),
    "sft": ("base", "sft"),
    "ties gates": ("ties", "bands"),
    "rlvr": ("trial", "rlvr"),
    "probes": ("probe",),
    "evaluations": ("shard", "evaluation"),
    "call budgets": ("budgets",),
    "statistics": ("arm", "analysis", "audits"),
}
GPUS_OF = {
    "sft": "sft",
    "trial": "rlvr",
    "rlvr": "rlvr",
    "probe": "evaluation",
    "bands": "evaluation",
    "shard": "evaluation",
    "evaluation": "evaluation",
    "budgets": "evaluation",
}
COLUMNS = ["stage", "jobs", "seconds", "gpu_hours", "tokens_sampled", "tokens_trained"]


def stage_of(rule: str) -> str:
    """The stage of a rule; a rule that no stage names is a stage by itself."""
    return next((stage for stage, rules in STAGES.items() if rule in rules), rule)


def costs(
    jobs: Iterable[Mapping[str, Any]], gpus: Mapping[str, int], tokens: Mapping[str, Mapping[str, int]]
) -> pd.DataFrame:
    """One row a stage, in the order of the workflow: jobs, their wall seconds added up, GPU hours and tokens.

    jobs: of `chain`; gpus: GPUs of one job of the stages sft, rlvr and evaluation; tokens: by stage the numbers
    `tokens_sampled` (that the model wrote) and `tokens_trained` (in the loss), where they are known.
    A job held its GPUs for its whole wall time, whether it used them or not.
    """
    rows: dict[str, dict[str, Any]] = {}
    for job in jobs:
        row = rows.setdefault(stage_of(job["rule"]), {"jobs": 0, "seconds": 0.0, "gpu_hours": 0.0})
        row["jobs"] += 1
        row["seconds"] = round(row["seconds"] + job["seconds"], 3)
        row["gpu_hours"] += gpus.get(GPUS_OF.get(job["rule"], ""), 0) * job["seconds"] / 3600
    order = [*[stage for stage in STAGES if stage in rows], *[stage for stage in rows if stage not in STAGES]]
    frame = pd.DataFrame([{"stage": stage, **rows[stage], **tokens.get(stage, {})} for stage in order])
    frame = frame.reindex(columns=COLUMNS)
    return frame.astype({"tokens_sampled": "Int64", "tokens_trained": "Int64"})


def total(frame: pd.DataFrame) -> dict[str, Any]:
    """The sums of the columns; tokens over the stages that know them."""
    return {name: frame[name].sum() for name in COLUMNS[1:]}


def elapsed(jobs: Sequence[Mapping[str, Any]]) -> float | None:
    """Seconds from the start of the first job to the end of the last; pauses between them count. None without jobs."""
    starts = [datetime.fromisoformat(job["started"]) for job in jobs]
    ends = [start + timedelta(seconds=job["seconds"]) for start, job in zip(starts, jobs, strict=True)]
    return (max(ends) - min(starts)).total_seconds() if jobs else None


def tokens(
    groups: Iterable[Path], probes: Iterable[Path], evaluated: int, budgets: Iterable[Path] = ()
) -> dict[str, dict[str, int]]:
    """Tokens by stage, for `costs`: of the groups of all trainings, and of probes, evaluations and budgets."""
    return {
        "rlvr": training_tokens(group for path in groups for group in read_groups(path)),
        "probes": {"tokens_sampled": sampled_tokens(probes)},
        "evaluations": {"tokens_sampled": evaluated},
        "call budgets": {"tokens_sampled": sampled_tokens(budgets)},
    }


def sampled_tokens(rollouts: Iterable[Path]) -> int:
    """Tokens that models wrote in these tables of rollouts."""
    return sum(pc.sum(read_table(path, ["new_tokens"])["new_tokens"]).as_py() or 0 for path in rollouts)


def read_groups(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a training's groups, one in memory at a time."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def training_tokens(groups: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Tokens of RL training: sampled in all groups, trained on in those that were kept (a tied group is in no loss)."""
    sampled = trained = 0
    for group in groups:
        tokens = sum(group["new_tokens"])
        sampled += tokens
        trained += 0 if group["tied"] else tokens
    return {"tokens_sampled": sampled, "tokens_trained": trained}
