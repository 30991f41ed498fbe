"""A trained adapter as one that PEFT loads whole, with the proof that it does something.

Two traps of prime-rl's output are refused or mended here. The keys of a broadcast adapter lack the prefix that PEFT
asks for, so that `PeftModel.from_pretrained` warns, loads nothing and serves the base; and `weights/step_N` holds the
base model, into which no adapter was merged.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.errors import TrainingError

PREFIX = "base_model.model."
WEIGHTS, CONFIG, DONE = "adapter_model.safetensors", "adapter_config.json", "STABLE"
PROBE_TOKENS = 16


def export_adapter(source: Path, base: Path, out: Path, *, also_called: Sequence[Path] = ()) -> dict[str, Any]:
    """Write the adapter of folder `source` to `out`, for the base model in folder `base`; returns what was proven.

    source: a folder `broadcasts/step_N` of prime-rl, or a checkpoint of TRL. also_called: other folders of the same
    base model that the adapter may name. Raises TrainingError where the folder holds no finished adapter, an adapter of
    another base model, keys that do not fit, or an adapter that changes no logit.
    """
    from safetensors.torch import save_file

    weights, config = read_adapter(source)
    named = str(config.get("base_model_name_or_path"))
    if Path(named).resolve() not in {path.resolve() for path in (base, *also_called)}:
        raise TrainingError(
            f"{source}: the adapter was trained on {named}, this study's base is {base}; do not mix them"
        )
    out.mkdir(parents=True, exist_ok=True)
    whole = {key if key.startswith(PREFIX) else PREFIX + key: tensor for key, tensor in weights.items()}
    save_file(whole, out / WEIGHTS, metadata={"format": "pt"})
    settings = config | {"base_model_name_or_path": str(base), "inference_mode": True}
    (out / CONFIG).write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return {"source": str(source), "tensors": len(whole), "largest_change": prove(out, base)}


def read_adapter(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the configuration of an adapter's folder. Raises TrainingError where it holds no finished one."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not (source / WEIGHTS).is_file() or not (source / CONFIG).is_file():
        raise TrainingError(f"{source}: expected {WEIGHTS} and {CONFIG}, found no adapter{whole_model(source)}")
    try:
        weights = load_file(source / WEIGHTS)
        config = json.loads((source / CONFIG).read_text(encoding="utf-8"))
    except (SafetensorError, ValueError) as problem:
        raise TrainingError(f"{source}: the adapter cannot be read: {problem}; it was not written whole") from None
    unprefixed = [key for key in weights if not key.startswith(PREFIX)]
    if unprefixed and not (source / DONE).exists():
        raise TrainingError(f"{source}: there is no {DONE} in it: prime-rl had not finished writing this adapter")
    return weights, config


def whole_model(folder: Path) -> str:
    """What to say of a folder that should hold an adapter and holds all weights of a model."""
    if not any(folder.glob("model*.safetensors")):
        return ""
    return (
        " but a whole model: with LoRA prime-rl's weights/step_N is the base, not merged; the adapter lies in "
        "run_default/broadcasts/step_N"
    )


def prove(adapter: Path, base: Path) -> float:
    """Load an adapter on its base and return the largest change of a logit, in nats, over a few tokens.

    In float32, as a small adapter may be lost in the rounding of 16 bits. Raises TrainingError where a key is missing
    or too much, a shape does not fit, or nothing changes.
    """
    import torch
    from peft import LoraConfig, get_peft_model, load_peft_weights, set_peft_model_state_dict
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32").eval()
    tokens = torch.arange(min(PROBE_TOKENS, model.config.vocab_size))[None]
    with torch.inference_mode():
        before = model(tokens).logits
    adapted = get_peft_model(model, LoraConfig.from_pretrained(adapter)).eval()
    try:
        found = set_peft_model_state_dict(adapted, load_peft_weights(adapter, device="cpu"))
    except RuntimeError as problem:
        first = str(problem).strip().split("\n")[-1].strip()
        raise TrainingError(f"{adapter}: does not fit the model in {base}: {first}") from None
    missing = [key for key in found.missing_keys if "lora_" in key]
    if missing or found.unexpected_keys:
        raise TrainingError(
            f"{adapter}: {len(missing)} keys are missing and {len(found.unexpected_keys)} are unknown to the model in "
            f"{base}, as {[*missing, *found.unexpected_keys][0]}; it is an adapter of another model"
        )
    with torch.inference_mode():
        change = float((adapted(tokens).logits - before).abs().max())
    if change == 0.0:
        raise TrainingError(f"{adapter}: the adapter changes no logit of {base}; it was not trained, or not saved")
    return change
