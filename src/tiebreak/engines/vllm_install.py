"""vLLM in an environment of its own, from its own hash-locked closure. (Its CPU build was installed so, no other.)"""

import json
import shutil
import sys
from pathlib import Path

from tiebreak.digest import file_digest
from tiebreak.errors import EngineError
from tiebreak.installing import execute


def commands(venv: Path, lock: Path) -> list[list[str]]:
    """What is run, in order. The lock is whole, so nothing is resolved anew, and no package comes in by the way.

    With torchvision and its kin, which vLLM's CPU build asks for in their CUDA builds, `from vllm import LLM` dies.
    """
    python = str(venv / "bin" / "python")
    return [
        [str(getattr(sys, "_base_executable", sys.executable)), "-m", "venv", "--clear", str(venv)],
        [python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", str(lock)],
        [python, "-c", "from vllm import LLM"],
    ]


def install(stamp: Path, lock: Path) -> None:
    """Install it beside `stamp`, which is written last, with the lock's digest. Raises EngineError with what failed."""
    venv = python_of(stamp).parents[1]
    shutil.rmtree(venv, ignore_errors=True)
    venv.parent.mkdir(parents=True, exist_ok=True)
    for command in commands(venv, lock):
        execute(command, EngineError)
    said = {"lock": file_digest(lock), "python": sys.version.split()[0]}
    stamp.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def python_of(stamp: Path) -> Path:
    """The Python of the environment that a stamp says is installed."""
    return stamp.parent / "venv" / "bin" / "python"
