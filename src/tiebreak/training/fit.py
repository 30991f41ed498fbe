"""Whether a folder holds what a study takes it for, and how large it is: from configurations and headers alone."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tiebreak.engines.adapter import CONFIG, read_adapter
from tiebreak.errors import TrainingError

KEY = re.compile(r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<half>[AB])(?:\.default)?\.weight")
DONT_MIX = "it is another model's: train this study's own, or put the other model in its place"


def refuse_adapter(names: Iterable[str], place: str) -> None:
    """Refuse files of an adapter where a whole model is meant. Raises TrainingError.

    transformers would load the model that the adapter names, whatever revision the study asks for.
    """
    if CONFIG in set(names):
        raise TrainingError(
            f"{place}: holds an adapter ({CONFIG}), not a model; name the model that it was trained on, or merge it"
        )


def weights_bytes(folder: Path) -> int:
    """The size of the weights in a model's folder."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def check_adapter(adapter: Path, base: Path) -> None:
    """Hold a stored adapter against the model that it is for, without loading either.

    Raises EngineError where it names another base or cannot be served, and TrainingError where the shape of a matrix
    does not fit the layer that it is for.
    """
    read_adapter(adapter, base)
    layers = shapes(base)
    for key, shape in shapes(adapter).items():
        match = KEY.fullmatch(key)
        found = None if match is None else layers.get(f"{match['layer']}.weight")
        if match is None or found is None:
            raise TrainingError(f"{adapter}: {key} has no layer in {base}; {DONT_MIX}")
        side = 1 if match["half"] == "A" else 0  # A reads what the layer reads, B writes what it writes
        if len(shape) != 2 or shape[side] != found[side]:
            said, wanted = (" × ".join(map(str, sizes)) for sizes in (shape, found))
            raise TrainingError(f"{adapter}: {key} is {said}, its layer in {base} {wanted}; {DONT_MIX}")


def shapes(folder: Path) -> dict[str, Any]:
    """The shapes of all tensors in a folder, from the files' headers. Raises TrainingError for a damaged file."""
    from safetensors import SafetensorError, safe_open

    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, framework="numpy") as file:
                found |= {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as problem:
            raise TrainingError(f"{path}: cannot be read: {problem}; it was not written whole") from None
    return found
