"""The science digest: one SHA-256 over what a study found, blind to when, where and how fast it was found.

The same commit, locks and seeds give the same digest on machines of a kind. It covers the files of `TABLES` and no
others: no record, timing, log or page. Steps of a training are digested without their `seconds_…`.
"""

import fnmatch
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest, json_digest
from tiebreak.errors import DataError

TABLES = (
    "data/blueprints.jsonl",
    "data/cases.jsonl",
    "data/rejects.jsonl",
    "data/splits.json",
    "data/*.parquet",
    "gates/*.json",
    "gates/ties/*.json",
    "sft/record.json",
    "sft/steps.jsonl",
    "arms/*/seed*/decision.json",
    "arms/*/seed*/steps.jsonl",
    "arms/*/seed*/groups.jsonl",
    "arms/*/summary.json",
    "probes/*/rollouts.parquet",
    "budgets/*/rollouts.parquet",
    "evals/*/rep*/rollouts.parquet",
    "evals/*/rep*/summary.json",
    "stats/analysis.json",
    "stats/tables/*.csv",
    "audits/audits.json",
    "audits/tables/*.csv",
)
TIMES = "seconds"


def science_digest(root: Path, names: Iterable[str]) -> str:
    """The digest over those of the files `names` under `root` that count; `names` may hold others."""
    return json_digest(science_files(root, names))


def science_files(root: Path, names: Iterable[str]) -> dict[str, str]:
    """The digest of each file that counts. Raises DataError where none does."""
    counted = sorted({name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in TABLES)})
    if not counted:
        raise DataError(f"{root}: holds no results of a study; name a folder such as results/laptop")
    return {name: table_digest(root / name) for name in counted}


def table_digest(path: Path) -> str:
    """The digest of one file; of training steps without their times."""
    if path.name != "steps.jsonl":
        return file_digest(path)
    return json_digest([timeless(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line])


def timeless(step: dict[str, Any]) -> dict[str, Any]:
    """A step's record without what a clock measured."""
    return {name: value for name, value in step.items() if not is_time(name)}


def is_time(name: str) -> bool:
    """Whether a field of a step is wall time, or a rate over it."""
    return TIMES in name or name.endswith(("_runtime", "_per_second"))
