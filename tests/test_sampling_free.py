"""Sampling without blocks: the same table as in blocks, nothing lost or repeated by a kill -9, errors counted apart."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engines.test_vllm import stand_in, tokenizer

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines import client
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.engines.vllm import Serving, serve
from tiebreak.errors import EngineError
from tiebreak.frames import read_frames
from tiebreak.sampling import Plan, sample, write_rows
from tiebreak.sampling_free import KEPT, sample_free

PLAN = Plan(5, ("eval", 0), "dense", 1, 0, samples=2, tool_rounds=2, block=2)
SAMPLING = Sampling(0.8, 24, 400)


def open_domain(folder: Path) -> RustDomain:
    return RustDomain(Judge(folder / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})


def run(model: Path, cases: list[Any], folder: Path, *, python: Path, plan: Plan = PLAN) -> tuple[str, list[Any]]:
    """Sample as a job does; returns the digest of the table, and its rows."""
    domain = open_domain(folder)
    prompts = [(case, domain.prompt(case)) for case in cases]
    with serve(Serving(python, model, "float32", "cpu"), tokenizer(model), SAMPLING, folder / "log") as engine:
        rows = sample_free(engine, domain, prompts, plan, work=folder / "work")
    out = folder / "rollouts.parquet"
    write_rows(rows, domain, out, folder / "timings.parquet")
    return file_digest(out), [row["rollout"] for row in rows]


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return stand_in(tmp_path)


def test_the_table_is_that_of_blocks(model_folder: Path, cases: list[Any], tmp_path: Path, python: Path) -> None:
    from transformers import AutoModelForCausalLM

    found, rows = run(model_folder, cases, tmp_path / "free", python=python)
    domain = open_domain(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
    engine = HfEngine(model, tokenizer(model_folder), SAMPLING)
    prompts = [(case, domain.prompt(case)) for case in cases]
    out = tmp_path / "rollouts.parquet"
    sample(engine, domain, prompts, PLAN, work=tmp_path / "work", rollouts=out, timings=tmp_path / "timings.parquet")
    assert len(rows) == len(cases) * PLAN.samples
    assert found == file_digest(out)


def test_a_killed_sampling_goes_on_without_losing_or_repeating(
    model_folder: Path, cases: list[Any], tmp_path: Path, python: Path
) -> None:
    straight, _ = run(model_folder, cases, tmp_path / "straight", python=python)
    folder = tmp_path / "killed"
    folder.mkdir()
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    done = subprocess.run(
        [sys.executable, str(script), str(model_folder), str(folder), str(python)], cwd=Path(__file__).parent
    )
    assert done.returncode == -9
    before = names(folder)
    assert 0 < len(before) < len(cases) * PLAN.samples
    resumed, rows = run(model_folder, cases, folder, python=python)
    after = names(folder)
    assert after[: len(before)] == before, "what was kept is not touched"
    assert len(set(after)) == len(after) == len(rows)
    assert resumed == straight


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, ".")
import test_sampling_free as mine
from tiebreak import sampling_free
from tiebreak.domains.rust.generator import generate

append = sampling_free.append_frame
def once(path, rows):
    append(path, rows)
    os.kill(os.getpid(), signal.SIGKILL)
sampling_free.append_frame = once
mine.run(Path(sys.argv[1]), list(generate("all", 6, 11)), Path(sys.argv[2]), python=Path(sys.argv[3]))
"""


def names(folder: Path) -> list[tuple[str, int]]:
    """The rollouts that are kept, in the order in which they were."""
    rows = [row["rollout"] for frame in read_frames(folder / "work" / KEPT) for row in frame]
    return [(row["case_id"], row["sample"]) for row in rows]


def test_an_error_is_played_again_and_then_counted_without_a_score(
    model_folder: Path, cases: list[Any], tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TRIES", 1)
    monkeypatch.setenv("LOOPBACK", json.dumps({"stuck": f"crates/{cases[1].case_id}"}))
    _, rows = run(model_folder, cases, tmp_path, python=python)
    failed = [row for row in rows if row["stop"] == "error"]
    assert [(row["case_id"], row["sample"]) for row in failed] == [(cases[1].case_id, 0), (cases[1].case_id, 1)]
    assert all(row["graded"] is None and row["rewards"] == {} for row in failed)
    timings = tables.read_table(tmp_path / "timings.parquet").to_pylist()
    assert {row["attempts"] for row in timings if row["case_id"] == cases[1].case_id} == {3}
    assert {row["attempts"] for row in timings if row["case_id"] != cases[1].case_id} == {1}
    assert not {name for name in names(tmp_path) if name[0] == cases[1].case_id}, "a restart tries them again"
    monkeypatch.delenv("LOOPBACK")
    _, mended = run(model_folder, cases, tmp_path, python=python)
    assert not [row for row in mended if row["stop"] == "error"] and len(mended) == len(rows)


def test_where_nothing_can_be_played_the_job_fails(
    model_folder: Path, cases: list[Any], tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TRIES", 1)
    monkeypatch.setenv("LOOPBACK", json.dumps({"stuck": "crates"}))
    with pytest.raises(EngineError, match="all 4 rollouts ended in an error, each played 3 times"):
        run(model_folder, cases[:2], tmp_path, python=python)
    assert os.environ["LOOPBACK"]
