"""Adapters as their trainers leave them, on a tiny Qwen3: what loads, what has an effect, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from tiebreak.errors import TrainingError
from tiebreak.training.export import CONFIG, PREFIX, WEIGHTS, export_adapter

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def trained(base: Path, out: Path, scale: float = 0.1) -> Path:
    """An adapter as TRL saves it; its second matrices are no longer zero."""
    torch.manual_seed(1)
    config = LoraConfig(r=4, lora_alpha=8, target_modules=TARGETS, task_type="CAUSAL_LM")
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(base, dtype="float32"), config)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=scale) if scale else None
    model.save_pretrained(out)
    return out


def broadcast(adapter: Path, out: Path, base: Path) -> Path:
    """The same as prime-rl leaves it.

    Source at the pinned commit: trainer/runs.py, get_state_dict_for_run (keys `model.layers.…lora_A.weight`);
    trainer/lora.py, save_lora_config (the configuration's keys); trainer/rl/broadcast/filesystem.py, STABLE last.
    """
    out.mkdir(parents=True)
    weights = {key.removeprefix(PREFIX): tensor for key, tensor in load_file(adapter / WEIGHTS).items()}
    save_file(weights, out / WEIGHTS, metadata={"format": "pt"})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(base),
        "r": 4,
        "lora_alpha": 8.0,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted(TARGETS),
        "modules_to_save": None,
    }
    (out / CONFIG).write_text(json.dumps(config))
    (out / "STABLE").touch()
    return out


@pytest.fixture
def adapter(model_folder: Path, tmp_path: Path) -> Path:
    return trained(model_folder, tmp_path / "checkpoint-3")


@pytest.fixture
def step(adapter: Path, model_folder: Path, tmp_path: Path) -> Path:
    return broadcast(adapter, tmp_path / "run_default/broadcasts/step_3", model_folder)


def logits(base: Path, adapter: Path | None = None) -> Any:
    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32").eval()
    if adapter is not None:
        model = PeftModel.from_pretrained(model, adapter).eval()
    with torch.inference_mode():
        return model(torch.arange(20)[None]).logits


def test_the_published_trap_and_the_way_out(step: Path, adapter: Path, model_folder: Path, tmp_path: Path) -> None:
    plain = logits(model_folder)
    with pytest.warns(UserWarning, match="missing adapter keys"):
        trapped = logits(model_folder, step)
    assert torch.equal(trapped, plain), "PEFT takes the broadcast, warns, and serves the base"
    proof = export_adapter(step, model_folder, tmp_path / "model")
    exported = logits(model_folder, tmp_path / "model")
    assert torch.equal(exported, logits(model_folder, adapter)) and not torch.equal(exported, plain)
    assert proof["tensors"] == 2 * len(TARGETS) and proof["largest_change"] > 0.01


def test_an_adapter_of_trl_keeps_its_bytes(adapter: Path, model_folder: Path, tmp_path: Path) -> None:
    export_adapter(adapter, model_folder, tmp_path / "model")
    before, after = load_file(adapter / WEIGHTS), load_file(tmp_path / "model" / WEIGHTS)
    assert before.keys() == after.keys() and all(torch.equal(before[key], after[key]) for key in before)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "model", dtype="float32")  # as an evaluation loads it
    with torch.inference_mode():
        found = loaded.eval()(torch.arange(20)[None]).logits
    assert torch.equal(found, logits(model_folder, adapter))


def test_the_base_that_was_not_merged_is_refused(model_folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights/step_3"
    shutil.copytree(model_folder, weights)
    with pytest.raises(
        TrainingError, match="a whole model: with LoRA prime-rl's weights/step_N is the base, not merged"
    ):
        export_adapter(weights, model_folder, tmp_path / "model")


def test_an_unfinished_broadcast_is_refused(step: Path, model_folder: Path, tmp_path: Path) -> None:
    (step / "STABLE").unlink()
    with pytest.raises(TrainingError, match="there is no STABLE in it"):
        export_adapter(step, model_folder, tmp_path / "model")
    (step / WEIGHTS).write_bytes((step / WEIGHTS).read_bytes()[:-10])
    with pytest.raises(TrainingError, match="cannot be read: .*not written whole"):
        export_adapter(step, model_folder, tmp_path / "model")
    (step / WEIGHTS).unlink()
    with pytest.raises(TrainingError, match="found no adapter$"):
        export_adapter(step, model_folder, tmp_path / "model")


def test_an_adapter_of_another_base_is_refused(step: Path, model_folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(model_folder, other)
    with pytest.raises(TrainingError, match=f"trained on {model_folder}, this study's base is {other}"):
        export_adapter(step, other, tmp_path / "model")
    export_adapter(step, other, tmp_path / "model", also_called=[model_folder])


def test_an_adapter_that_does_not_fit_is_refused(step: Path, model_folder: Path, tmp_path: Path) -> None:
    weights = load_file(step / WEIGHTS)
    first = next(iter(weights))
    save_file({key: tensor for key, tensor in weights.items() if key != first}, step / WEIGHTS)
    with pytest.raises(TrainingError, match="1 keys are missing and 0 are unknown"):
        export_adapter(step, model_folder, tmp_path / "model")
    save_file(weights | {first.replace("layers.0", "layers.9"): weights[first].clone()}, step / WEIGHTS)
    with pytest.raises(TrainingError, match="0 keys are missing and 1 are unknown"):
        export_adapter(step, model_folder, tmp_path / "model")
    save_file(weights | {first: torch.zeros(4, 7)}, step / WEIGHTS)
    with pytest.raises(TrainingError, match="does not fit the model in"):
        export_adapter(step, model_folder, tmp_path / "model")


def test_an_adapter_without_effect_is_refused(model_folder: Path, tmp_path: Path) -> None:
    untrained = trained(model_folder, tmp_path / "checkpoint-0", scale=0.0)
    with pytest.raises(TrainingError, match="changes no logit"):
        export_adapter(untrained, model_folder, tmp_path / "model")
