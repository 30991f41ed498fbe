"""Provenance: what a job read and made, with which code, on which machine. One record a job.

A record is whole when its job can be run again from it and the same files come out (`publish.replay`).
"""

import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest, json_digest, package_locks, pinned_versions
from tiebreak.patches import CODE, git, keep_patch, output, untracked

VERSION = 2
LOCKS = ("flake.lock", "pyproject.toml")
ENVIRONMENT = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "peft",
    "datasets",
    "tokenizers",
    "safetensors",
    "pyarrow",
    "pandas",
    "numpy",
    "scipy",
    "matplotlib",
    "snakemake",
)


def record(
    *,
    rule: str,
    wildcards: Mapping[str, str],
    params: Mapping[str, Any],
    inputs: Sequence[tuple[str, str]],
    outputs: Sequence[tuple[str, str]],
    started: float,
    asked: str,
    resolved: Mapping[str, Any],
    patches: Path,
    devices: Sequence[str] = (),
) -> dict[str, Any]:
    """The record of a finished job; `inputs` and `outputs` are (name, path) pairs, `started` is seconds since 1970.

    asked: the study as the user named it. resolved: what the job settled for itself (engine, trainer, seed streams,
    programs and by what they were confined). patches: where the patch of a changed tree is kept. devices: its GPUs.
    """
    ended = time.time()
    return {
        "version": VERSION,
        "rule": rule,
        "wildcards": dict(wildcards),
        "params": dict(params),
        "inputs": [described(*item) for item in inputs],
        "outputs": [described(*item) for item in outputs],
        "command": command(asked, [path for _, path in outputs]),
        "resolved": dict(resolved),
        **surroundings(patches),
        "gpus": gpus(devices),
        "started": stamp(started),
        "ended": stamp(ended),
        "seconds": round(ended - started, 3),
    }


def surroundings(patches: Path) -> dict[str, Any]:
    """Where something is made: the state of the code, its locks and pinned versions, the machine, the versions that are
    there, and numbers of threads.
    """
    locks = [*package_locks(Path()), *map(Path, LOCKS)]
    return {
        "git": git_state(Path(), patches),
        "locks": {str(path): file_digest(path) for path in locks if path.is_file()},
        "pinned": pinned_versions(Path()) if Path("pyproject.toml").is_file() else {},
        "host": host(),
        "versions": versions(),
        "environment": environment(),
    }


def command(asked: str, outputs: Sequence[str]) -> list[str]:
    """What makes these outputs again."""
    return ["./dev", "snakemake", "--cores", "all", *outputs, "--config", f"study={asked}"]


def described(name: str, path: str) -> dict[str, Any]:
    """One file or folder of a job: its name in the rule, path and digest."""
    return {"name": name, "path": path, "sha256": path_digest(Path(path))}


def path_digest(path: Path) -> str:
    """The digest of a file, or of a folder: of its files' names and digests (hidden ones are not counted)."""
    if path.is_dir():
        files = sorted(item for item in path.rglob("*") if item.is_file() and not item.name.startswith("."))
        return json_digest([[str(item.relative_to(path)), file_digest(item)] for item in files])
    return file_digest(path)


def environment() -> dict[str, str | None]:
    """The variables that change the bits of a result: the numbers of threads."""
    return {name: os.environ.get(name) for name in ENVIRONMENT}


def stamp(seconds: float) -> str:
    """A moment in UTC, as 2026-11-29T14:58:45Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def host() -> dict[str, Any]:
    """The machine."""
    return {"name": platform.node(), "system": platform.platform(), "cpu": cpu_name(), "cores": os.cpu_count()}


def gpus(held: Sequence[str]) -> list[dict[str, str]]:
    """The GPUs that a job held, with name and driver as far as NVIDIA's tool tells them."""
    told: dict[str, dict[str, str]] = {}
    if held:
        query = ["nvidia-smi", "--query-gpu=index,name,driver_version", "--format=csv,noheader"]
        rows = [line.split(", ") for line in (output(query) or "").splitlines()]
        told = {row[0]: {"name": row[1], "driver": row[2]} for row in rows if len(row) == 3}
    return [{"device": device, **told.get(device, {})} for device in held]


def cpu_name() -> str:
    """The CPU's model, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def versions() -> dict[str, str]:
    """Python, and the packages that results depend on, as installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found | ({"cuda": cuda} if (cuda := cuda_version()) else {})


def cuda_version() -> str | None:
    """The CUDA that torch was built for, in a job that has loaded it; None for a CPU build."""
    torch = sys.modules.get("torch")
    return None if torch is None else torch.version.cuda


def git_state(folder: Path, patches: Path | None = None) -> dict[str, Any]:
    """The commit of the code and whether the code (`patches.CODE`) differs from it; nulls outside a repository.

    patches: keep the difference there, named by its digest (`patch`), and name the code that git does not know.
    """
    commit = git(folder, "rev-parse", "HEAD")
    changes = git(folder, "status", "--porcelain", "--untracked-files=no", "--", *CODE)
    state = {"commit": commit, "dirty": None if commit is None or changes is None else bool(changes)}
    if patches is None or commit is None:
        return state
    found = {"patch": keep_patch(folder, patches) if changes else None, "untracked": untracked(folder)}
    return state | {name: value for name, value in found.items() if value}
