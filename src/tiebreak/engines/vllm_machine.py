"""Where vLLM is, and what its processes are told: the environment it runs in, by the machine's hardware."""

import os
import subprocess
from functools import cache
from pathlib import Path

from tiebreak.devices import VISIBLE
from tiebreak.errors import EngineError

PYTHON = "TIEBREAK_VLLM_PYTHON"
LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
INVARIANT_FROM = 9.0  # compute capability that vLLM's batch-invariant kernels are for
CPU_CACHE = "1"  # GiB for keys and values; a model that samples on a CPU is small


def find_python(installed: Path | None) -> Path:
    """The Python of vLLM's environment: what the variable names, or the one that was installed for the study.

    Raises EngineError where neither is there.
    """
    named = os.environ.get(PYTHON)
    if named:
        if not os.access(named, os.X_OK):
            raise EngineError(f"{PYTHON} is {named}; the Python of an environment with vLLM is expected there")
        return Path(named).absolute()  # not resolved: a virtual environment is known by the link
    if installed is None or not installed.is_file():
        raise EngineError(
            f"vLLM is not installed; run `./dev snakemake --cores 1 vllm` with the study's --config, or let {PYTHON} "
            "name the Python of an environment that has it"
        )
    return installed.absolute()


def environment(device: str) -> dict[str, str]:
    """The environment of vLLM's processes: ours without our packages, offline, telling nobody."""
    kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    told = {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        "VLLM_BATCH_INVARIANT": "1" if is_invariant(device) else "0",
        "PYTHONNOUSERSITE": "1",
    }
    if device == "cpu":
        told |= {"VLLM_CPU_KVCACHE_SPACE": CPU_CACHE, "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    return kept | told


def is_invariant(device: str) -> bool:
    """Whether batch invariance is switched on: on GPUs that have it, never on the CPU, where it crashes."""
    return device == "cuda" and capability() >= INVARIANT_FROM


@cache
def capability() -> float:
    """The compute capability of the GPUs that this process may use, the least of them; 0 where none tells."""
    try:
        return min(map(float, asked("compute_cap")), default=0.0)
    except ValueError:
        return 0.0


@cache
def gpu_names() -> tuple[str, ...]:
    """The kinds of the GPUs that this process may use, as nvidia-smi calls them; none where it does not tell."""
    return tuple(sorted(set(asked("name"))))


def asked(field: str) -> list[str]:
    """What nvidia-smi says of each GPU that this process may use; nothing where it says nothing."""
    which = os.environ.get(VISIBLE)
    chosen = ["-i", which] if which else []
    query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader", *chosen]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]
