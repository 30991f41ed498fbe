"""An adapter's folder as an engine needs it: refused before anything is loaded where it cannot be served."""

import json
from dataclasses import dataclass
from pathlib import Path

from tiebreak.errors import EngineError
from tiebreak.sections.rlvr import RANKS

CONFIG = "adapter_config.json"


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter: its folder, its largest rank, and the folder of the model that it was trained on."""

    folder: Path
    rank: int
    base: Path


def is_adapter(folder: Path) -> bool:
    """Whether a model's folder holds an adapter and not the weights themselves."""
    return (folder / CONFIG).is_file()


def read_adapter(folder: Path, base: Path) -> Adapter:
    """The adapter in `folder`, which must be one of the model in `base`.

    Raises EngineError for one of another model, of a rank that no server takes, or that is no plain LoRA.
    """
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        named = Path(config["base_model_name_or_path"])
        rank = max([int(config["r"]), *map(int, (config.get("rank_pattern") or {}).values())])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise EngineError(
            f"{folder / CONFIG}: cannot be read as PEFT's ({problem!r}); export the adapter anew"
        ) from None
    if named.resolve() != base.resolve():
        raise EngineError(f"{folder}: the adapter was trained on {named}, the model here is {base}; do not mix them")
    if config.get("peft_type") != "LORA" or config.get("use_dora") or config.get("modules_to_save"):
        raise EngineError(f"{folder}: the engine serves plain LoRA, without DoRA and modules_to_save; train such a one")
    smallest_rank(rank, folder)
    return Adapter(folder, rank, base)


def smallest_rank(rank: int, folder: Path | None = None) -> int:
    """The least limit that a server can be started with and that admits `rank`. Raises EngineError if none does."""
    for limit in RANKS:
        if rank <= limit:
            return limit
    place = "" if folder is None else f"{folder}: "
    raise EngineError(f"{place}the adapter's rank is {rank}, the engine serves ranks up to {RANKS[-1]}; lower it")
