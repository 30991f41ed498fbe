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
from tiebreak.frames import append_frame, read_frames
from tiebreak.sampling import Plan, sample, write_rows
from tiebreak.sampling_free import KEPT, identity, kept_in, sample_free

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
    if "rollout" in rows[0]:
        os.kill(os.getpid(), signal.SIGKILL)
sampling_free.append_frame = once
mine.run(Path(sys.argv[1]), list(generate("all", 6, 11)), Path(sys.argv[2]), python=Path(sys.argv[3]))
"""


def names(folder: Path) -> list[tuple[str, int]]:
    """The rollouts that are kept, in the order in which they were."""
    (path,) = (folder / "work").glob(KEPT.format("*"))
    rows = [row["rollout"] for frame in read_frames(path)[1:] for row in frame]
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


ENGINE: dict[str, Any] = {"engine": "vllm", "vllm": "0.11.0", "device": "cuda", "gpus": ["NVIDIA H200"], "flags": ["a"]}


@pytest.mark.parametrize("change", [{"vllm": "0.12.0"}, {"gpus": ["NVIDIA A100"]}, {"numbers": "statistical"}])
def test_what_another_engine_made_is_left_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    first = kept_in(tmp_path, ENGINE)
    append_frame(first, [{"rollout": 1}, {"rollout": 2}])
    assert kept_in(tmp_path, ENGINE) == first and not capsys.readouterr().err
    second = kept_in(tmp_path, ENGINE | change)
    assert second != first and read_frames(second) == [[{"engine": ENGINE | change}]]
    (name,) = change
    told = (
        f"2 rollouts of another engine (its and ours: {name} {ENGINE.get(name)!r} and {change[name]!r}) stay in {first}"
    )
    assert told in capsys.readouterr().err
    assert kept_in(tmp_path, ENGINE) == first and len(read_frames(first)) == 2, "it may come back"


def test_two_starts_of_an_engine_are_the_same_one() -> None:
    assert identity(ENGINE | {"adapter_effect": 0.51}) == identity(ENGINE | {"adapter_effect": 0.52}) == ENGINE


def test_a_sampling_by_another_engine_starts_anew(
    model_folder: Path, cases: list[Any], tmp_path: Path, python: Path
) -> None:
    run(model_folder, cases[:1], tmp_path, python=python)
    (first,) = (tmp_path / "work").glob(KEPT.format("*"))
    before = first.read_bytes()
    domain, warm = open_domain(tmp_path), Sampling(0.5, 24, 400)
    prompts = [(cases[0], domain.prompt(cases[0]))]
    with serve(
        Serving(python, model_folder, "float32", "cpu"), tokenizer(model_folder), warm, tmp_path / "l"
    ) as engine:
        rows = sample_free(engine, domain, prompts, PLAN, work=tmp_path / "work")
    (second,) = set((tmp_path / "work").glob(KEPT.format("*"))) - {first}
    assert len(rows) == PLAN.samples and first.read_bytes() == before
    assert sum(map(len, read_frames(second)[1:])) == PLAN.samples
