"""The science digest: blind to clocks and to what is no science, and to nothing else."""

import json
from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.publish.science import science_digest, science_files

STEP = {"step": 1, "loss": 0.5, "seconds_rollouts": 2.0, "train_runtime": 3.0, "train_steps_per_second": 4.0}


def study(root: Path, **changes: object) -> list[str]:
    """A few files of a study; returns their names."""
    files = {
        "arms/dense/seed0/steps.jsonl": json.dumps(STEP | changes) + "\n",
        "data/cases.jsonl": "{}\n",
        "evals/sft/rep0/timings.parquet": "slow",
        "report/index.html": "<p>now</p>",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return list(files)


def test_times_do_not_count_and_losses_do(tmp_path: Path) -> None:
    names = study(tmp_path / "a")
    first = science_digest(tmp_path / "a", names)
    study(tmp_path / "b", seconds_rollouts=9.0, train_runtime=9.0, train_steps_per_second=9.0)
    assert science_digest(tmp_path / "b", names) == first
    study(tmp_path / "c", loss=0.25)
    assert science_digest(tmp_path / "c", names) != first


def test_only_tables_count(tmp_path: Path) -> None:
    names = study(tmp_path)
    assert list(science_files(tmp_path, names)) == ["arms/dense/seed0/steps.jsonl", "data/cases.jsonl"]
    before = science_digest(tmp_path, names)
    (tmp_path / "evals/sft/rep0/timings.parquet").write_text("fast")
    assert science_digest(tmp_path, reversed(names)) == before
    (tmp_path / "data/cases.jsonl").write_text('{"a": 1}\n')
    assert science_digest(tmp_path, names) != before
    with pytest.raises(DataError, match="holds no results of a study"):
        science_digest(tmp_path, ["report/index.html"])
