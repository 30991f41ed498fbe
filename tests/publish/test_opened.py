"""A release that cannot be opened is refused with the file's name."""

import json
from pathlib import Path

import pytest

from tiebreak.errors import DataError
from tiebreak.paths import Paths
from tiebreak.publish.opened import put_records, put_results, read_records
from tiebreak.publish.packs import write_pack

RECORD = {
    "rule": "arm",
    "wildcards": {"arm": "dense"},
    "started": "2026-01-01",
    "ended": "2026-01-02",
    "seconds": 1.0,
    "host": {"name": "h"},
    "params": {"code": "c", "toolchain": "t"},
    "git": {"commit": "c", "dirty": False},
    "environment": {"OMP_NUM_THREADS": "1"},
    "inputs": [],
    "outputs": [],
}


def release(folder: Path, *lines: str) -> Path:
    """A folder with these lines as records."""
    folder.mkdir(exist_ok=True)
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("line", ["7", "[]", '"x"', "{", '{"seconds": NaN}', "[" * 200_000, '{"a": 1, "a": 2}'])
def test_what_is_no_record_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"records\.jsonl: line 2: no record of a job"):
        read_records(release(tmp_path, json.dumps(RECORD), line))


@pytest.mark.parametrize("arm", ["x" * 300, "../x", ["x"]])
def test_a_job_s_name_can_name_a_file(tmp_path: Path, arm: object) -> None:
    with pytest.raises(DataError, match="is no job's name"):
        put_records(release(tmp_path, json.dumps(RECORD | {"wildcards": {"arm": arm}})), Paths("s", tmp_path / "r"))


def test_an_open_file_stands_beside_packs_and_not_in_them(tmp_path: Path) -> None:
    source = tmp_path / "source/stats/tables"
    source.parent.mkdir(parents=True)
    source.write_text("x")
    write_pack(tmp_path / "one/results/stats.zip", tmp_path / "source", ["stats/tables"])
    (tmp_path / "one/results/stats/tables").mkdir(parents=True)
    (tmp_path / "one/results/stats/tables/x").write_text("x")
    with pytest.raises(DataError, match="stats/tables/x: cannot be put to "):
        put_results(tmp_path / "one", tmp_path / "out")
