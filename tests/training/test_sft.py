"""SFT of a study's traces, with what a large model needs: micro-batches, recomputed activations, 16 bits, a cosine."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForCausalLM

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.errors import TrainingError
from tiebreak.sections.sft import Large, Sft
from tiebreak.training.sft import recipe_of, train_sft

LARGE = Large(micro_batch=1, max_length=400, warmup=0.5)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory, cases: list[Any]) -> Path:
    """Four traces."""
    path = tmp_path_factory.mktemp("traces") / "sft.parquet"
    rows = [
        {
            **{key: getattr(case, key) for key in ("case_id", "family", "template", "difficulty")},
            "turns": [
                {"role": "user", "content": case.user, "loss": False},
                {"role": "assistant", "content": case.final, "loss": True},
            ],
        }
        for case in cases[:4]
    ]
    tables.write_table(path, rows, tables.SFT)
    return path


def test_a_large_model_is_fine_tuned_in_micro_batches(traces: Path, model_folder: Path, tmp_path: Path) -> None:
    sft = Sft(epochs=3, batch=2, learning_rate=1e-3, context_weight=0.0, large=LARGE)
    numbers = train_sft(
        sft,
        traces=traces,
        base=model_folder,
        max_length=24_576,
        root_seed=1,
        out=tmp_path / "model",
        steps=tmp_path / "steps.jsonl",
        work=tmp_path / "work",
        dtype="bfloat16",
    )
    lines = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    rates = [line["learning_rate"] for line in lines if "learning_rate" in line]
    assert len(rates) == 6, "4 traces, 3 epochs, 2 a step"
    assert rates.index(max(rates)) in (2, 3, 4) and rates[-1] < max(rates), "up for half of the steps, then down"
    assert numbers["traces"] == 4 and numbers["truncated"] == 0
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "model").config.dtype.is_floating_point
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert config["dtype"] == "bfloat16"
    weights = "model.safetensors"
    assert file_digest(tmp_path / "model" / weights) != file_digest(model_folder / weights)


def test_a_trace_over_the_limit_of_sft_stops_the_study(traces: Path, model_folder: Path, tmp_path: Path) -> None:
    sft = Sft(batch=2, large=LARGE.model_copy(update={"max_length": 64}))
    places = {"out": tmp_path / "model", "steps": tmp_path / "steps.jsonl", "work": tmp_path / "work"}
    with pytest.raises(TrainingError, match=r"\(or sft.large.max_length\) is 64; raise it .*traces are never cut"):
        train_sft(sft, traces=traces, base=model_folder, max_length=24_576, root_seed=1, **places)
    assert recipe_of(sft).accumulation == 2
