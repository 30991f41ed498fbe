"""How much disk a study of a large model still takes, from the size of its weights: rough, and rather too much."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tiebreak.engines.vllm_machine import PYTHON
from tiebreak.paths import BASE_ARM, Paths, vllm

if TYPE_CHECKING:
    from tiebreak.study import Study

GIB = 1 << 30
TOOL = 25 * GIB  # prime-rl's environment: PyTorch, vLLM and the CUDA libraries in their wheels
VLLM = 15 * GIB  # vLLM's own environment
MOMENTS = 2  # of AdamW: a checkpoint is the weights and these
ADAPTER_WIDTH = 512  # an adapter is at most rank / this of the weights; of Qwen3-4B a rank of 64 is a twentieth


def needed(study: "Study", weights: int, root: Path, *, at_once: int = 1) -> dict[str, int]:
    """Bytes that the study's parts will still take at most, by name; what is there already takes no more.

    weights: bytes of the base. root: the folder of this project. at_once: trainings that are between their trial's
    start and their end; a finished one removes its checkpoints. A checkpoint is written before the one before it goes,
    so that SFT has two at a time; of an RL training prime-rl keeps two and writes a third, each with all weights.
    """
    paths = Paths(study.name, root / "results")
    has_base = not study.model.is_hub or (paths.base / "config.json").is_file()
    has_sft = (paths.model(BASE_ARM) / "config.json").is_file()
    runs = sum(not paths.model(run).exists() for run in study.trained_runs)
    rank = study.rlvr.lora_rank
    trained = weights if rank == 0 else weights * rank // ADAPTER_WIDTH
    whole = study.rlvr.trainer == "prime-rl"
    of_sft = 0 if has_sft else 2 * (1 + MOMENTS) * weights
    of_rl = min(runs, at_once) * (3 * weights if whole else 2 * (1 + MOMENTS) * trained)
    parts = {
        "prime-rl's environment": TOOL * sum(not (root / tool).is_file() for tool in study.tools()),
        "vLLM's environment": VLLM * lacks_vllm(study, root),
        "the hub's cache and the base": 0 if has_base else 2 * weights,
        "the SFT model": 0 if has_sft else weights,
        "checkpoints": max(of_sft, of_rl),
        "trained models": runs * trained,
    }
    return {name: size for name, size in parts.items() if size}


def lacks_vllm(study: "Study", root: Path) -> bool:
    """Whether vLLM is still to be installed for the study."""
    samples = "vllm" in (study.engine("rlvr"), study.engine("evaluation"))
    there = any((root / "results").glob(f"{vllm('*', Path())}"))
    return samples and PYTHON not in os.environ and not there
