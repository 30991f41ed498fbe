"""The chain of records behind a report."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.chain import jobs_behind
from tiebreak.errors import DataError


def record(rule: str, inputs: list[str], outputs: list[str], minute: int, **wildcards: str) -> dict[str, Any]:
    """A record as a job leaves it, cut to what the chain reads."""
    return {
        "rule": rule,
        "wildcards": wildcards,
        "params": {"code": "c" * 64},
        "inputs": [{"name": "x", "path": path, "sha256": "a" * 64} for path in inputs],
        "outputs": [{"name": "x", "path": path, "sha256": "b" * 64} for path in outputs],
        "git": {"commit": "d" * 40, "dirty": True},
        "host": {"name": "here"},
        "environment": {"OMP_NUM_THREADS": "1"},
        "started": f"2026-11-29T14:{minute:02d}:00Z",
        "seconds": 1.5,
    }


@pytest.fixture
def records(tmp_path: Path) -> Path:
    found = [
        record("cases", [], ["data/cases.jsonl"], 1),
        record("rlvr", ["data/cases.jsonl", "sft/model"], ["arms/dense/seed0/model"], 3, arm="dense", seed="0"),
        record("rlvr", ["data/cases.jsonl"], ["arms/gone/seed0/model"], 4, arm="gone", seed="0"),
        record("analysis", ["arms/dense/seed0/model", "data/cases.jsonl"], ["stats/analysis.json", "stats/tables"], 5),
    ]
    for number, item in enumerate(found):
        (tmp_path / f"{9 - number}.json").write_text(json.dumps(item))
    return tmp_path


def test_jobs_are_followed_back_from_what_the_report_reads(records: Path) -> None:
    jobs = jobs_behind(["stats/analysis.json", "src/page.html.j2"], records)
    assert [job["job"] for job in jobs] == ["cases", "rlvr-dense-0", "analysis"]
    assert jobs[-1]["outputs"] == {"stats/analysis.json": "b" * 64, "stats/tables": "b" * 64}
    assert (jobs[0]["threads"], jobs[0]["code"], jobs[0]["commit"], jobs[0]["dirty"]) == ("1", "c" * 64, "d" * 40, True)


def test_without_records_nothing_is_behind(tmp_path: Path) -> None:
    assert jobs_behind(["stats/analysis.json"], tmp_path / "none") == []


@pytest.mark.parametrize("text", ["{", "{}", "[]"])
def test_a_damaged_record_is_named(records: Path, text: str) -> None:
    (records / "torn.json").write_text(text)
    with pytest.raises(DataError, match=r"torn\.json: no record of a job"):
        jobs_behind(["stats/analysis.json"], records)
