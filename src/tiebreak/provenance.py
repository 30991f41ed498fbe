"""Provenance: what a job read and made, with which code, on which machine. One record a job, in its first form."""

import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tiebreak.digest import file_digest, json_digest

VERSION = 1
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
    "scipy",
)


def record(
    *,
    rule: str,
    wildcards: Mapping[str, str],
    params: Mapping[str, Any],
    inputs: Sequence[tuple[str, str]],
    outputs: Sequence[tuple[str, str]],
    started: float,
    confinement: Mapping[str, str] | None = None,
    devices: Sequence[str] = (),
) -> dict[str, Any]:
    """The record of a finished job; `inputs` and `outputs` are (name, path) pairs, `started` is seconds since 1970.

    confinement: of `sandbox.probe.enforcement`, where the job ran model-written code. devices: the GPUs it held.
    """
    return {
        "version": VERSION,
        "rule": rule,
        "wildcards": dict(wildcards),
        "params": dict(params),
        "inputs": [described(*item) for item in inputs],
        "outputs": [described(*item) for item in outputs],
        "command": ["snakemake", *(path for _, path in outputs)],
        "git": git_state(Path()),
        "host": host(),
        "gpus": gpus(devices),
        "versions": versions(),
        "environment": environment(),
        "confinement": None if confinement is None else dict(confinement),
        "started": stamp(started),
        "ended": stamp(time.time()),
        "seconds": round(time.time() - started, 3),
    }


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


@lru_cache
def versions() -> dict[str, str]:
    """Python, and the packages that results depend on, as installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def git_state(folder: Path) -> dict[str, Any]:
    """The commit of the code and whether the tree differs from it; nulls outside a repository."""
    commit = git(folder, "rev-parse", "HEAD")
    changes = git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if commit is None or changes is None else bool(changes)}


def git(folder: Path, *arguments: str) -> str | None:
    """What a git command prints; None where it fails or there is no git."""
    return output(["git", "-C", str(folder), *arguments])


def output(command: Sequence[str]) -> str | None:
    """What a command prints; None where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
