"""Evaluation by the vLLM engine in the real workflow: the stand-in draws as transformers do, so the tables are equal.

With `--vllm=PYTHON` the real vLLM samples as well, and what is compared is that nothing is missing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from engines.test_vllm import stand_in

from tiebreak.digest import file_digest

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
REPETITION = "results/minute/evals/dense-seed0/rep1"
EVALUATION = "evaluation: {k: 2,"


def test_an_evaluation_by_the_engine_gives_the_same_table_in_one_job_and_in_shards(
    minute: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIEBREAK_VLLM_PYTHON", str(stand_in(tmp_path)))
    wanted = {name: file_digest(minute.folder / REPETITION / name) for name in ("rollouts.parquet", "summary.json")}
    for number, keys in enumerate(("engine: vllm,", "engine: vllm, shards: 3,")):
        copy = minute.copy_to(tmp_path / str(number))
        copy.edit("config/test/minute.yaml", EVALUATION, f"{EVALUATION} {keys}")
        done = copy.minute(f"{REPETITION}/summary.json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert {name: file_digest(copy.folder / REPETITION / name) for name in wanted} == wanted
        record = json.loads(next((copy.results / "records").glob("evaluation-1-dense-seed0*.json")).read_text())
        assert number == 1 or record["resolved"]["engine"]["engine"] == "vllm"
        assert not (copy.results / "work").exists() or not list((copy.results / "work").glob("evaluation*"))


def test_the_real_vllm_evaluates(
    fresh: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    python = pytestconfig.getoption("--vllm")
    if python is None:
        pytest.skip("needs an environment with vLLM: --vllm=PYTHON")
    monkeypatch.setenv("TIEBREAK_VLLM_PYTHON", str(Path(python).absolute()))
    copy = fresh.copy_to(tmp_path / "copy")
    copy.edit("config/test/minute.yaml", EVALUATION, f"{EVALUATION} engine: vllm,")
    copy.edit("config/test/minute.yaml", "heads: 2, kv_heads: 2", "heads: 1, kv_heads: 1")  # of 32, as vLLM's CPU asks
    done = copy.minute("results/minute/evals/sft/rep0/summary.json")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((copy.results / "evals/sft/rep0/summary.json").read_text())
    assert (summary["cases"], summary["rollouts"], summary["errors"]) == (8, 16, 0)
    table = pq.read_table(copy.results / "evals/sft/rep0/rollouts.parquet").to_pylist()
    assert len({(row["case_id"], row["sample"]) for row in table}) == 16
    assert all(turn["sampling_seed"] for row in table for turn in row["turns"] if turn["role"] == "assistant")
    engine = json.loads((copy.results / "records/evaluation-0-sft.json").read_text())["resolved"]["engine"]
    assert (engine["vllm"], engine["numbers"], engine["adapter_effect"]) == ("0.32.0", "statistical", None)
