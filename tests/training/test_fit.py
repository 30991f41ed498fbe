"""Models and adapters told apart by their configurations and headers."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tiebreak.errors import EngineError, TrainingError
from tiebreak.training.fit import check_adapter, refuse_adapter, shapes, weights_bytes

WEIGHTS = "adapter_model.safetensors"
LAYER = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.fixture
def adapter(model_folder: Path, tmp_path: Path) -> Path:
    """An adapter of two layers of the tiny model, as PEFT stores it."""
    layers = shapes(model_folder)
    tensors = {}
    for name in ("model.layers.0.self_attn.q_proj", "model.layers.0.mlp.down_proj"):
        rows, columns = layers[f"{name}.weight"]
        tensors[f"base_model.model.{name}.lora_A.weight"] = torch.zeros(4, columns)
        tensors[f"base_model.model.{name}.lora_B.weight"] = torch.zeros(rows, 4)
    save_file(tensors, tmp_path / WEIGHTS)
    config = {"peft_type": "LORA", "base_model_name_or_path": str(model_folder), "r": 4}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    return tmp_path


def test_an_adapter_of_the_model_fits(adapter: Path, model_folder: Path) -> None:
    check_adapter(adapter, model_folder)
    assert weights_bytes(model_folder) == sum(path.stat().st_size for path in model_folder.glob("*.safetensors")) > 0


def test_an_adapter_of_another_base_is_refused(adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=f"was trained on .*, the model here is {tmp_path / 'other'}; do not mix"):
        check_adapter(adapter, tmp_path / "other")


@pytest.mark.parametrize(
    ("key", "shape", "words"),
    [
        (f"{LAYER}.lora_A.weight", (4, 7), f"{LAYER}.lora_A.weight is 4 × 7, its layer in"),
        (f"{LAYER}.lora_B.weight", (7, 4), f"{LAYER}.lora_B.weight is 7 × 4, its layer in"),
        (f"{LAYER}.lora_A.weight", (32,), f"{LAYER}.lora_A.weight is 32, its layer in"),
        ("base_model.model.model.layers.9.mlp.up_proj.lora_A.weight", (4, 32), "has no layer in"),
        ("base_model.model.lm_head.weight", (4, 32), "base_model.model.lm_head.weight has no layer in"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    adapter: Path, model_folder: Path, key: str, shape: tuple[int, ...], words: str
) -> None:
    save_file(load_file(adapter / WEIGHTS) | {key: torch.zeros(shape)}, adapter / WEIGHTS)
    with pytest.raises(TrainingError, match=words):
        check_adapter(adapter, model_folder)


def test_damaged_files_are_named(adapter: Path, model_folder: Path) -> None:
    (adapter / WEIGHTS).write_bytes((adapter / WEIGHTS).read_bytes()[:-10])
    with pytest.raises(TrainingError, match="adapter_model.safetensors: cannot be read: .*; it was not written whole"):
        check_adapter(adapter, model_folder)
    (adapter / "adapter_config.json").write_text("[]")
    with pytest.raises(EngineError, match="adapter_config.json: cannot be read"):
        check_adapter(adapter, model_folder)


def test_an_adapter_is_no_model() -> None:
    refuse_adapter(["config.json", "model.safetensors"], "here")
    with pytest.raises(TrainingError, match="here: holds an adapter"):
        refuse_adapter(["config.json", "adapter_config.json"], "here")
