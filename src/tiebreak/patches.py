"""The code of a job as git knows it, and what a changed tree has beside its commit."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.digest import bytes_digest

CODE = (
    "src",
    "scripts",
    "rules",
    "config",
    "resources",
    "benchmarks",
    "Snakefile",
    "requirements",
    "pyproject.toml",
    "dev",
)
MOST_BYTES = 1 << 20
MOST_NAMES = 50


def keep_patch(folder: Path, patches: Path) -> dict[str, Any] | None:
    """Keep the difference of the code in `folder` to its commit as `patches`/<sha256>.patch, once for all jobs.

    Byte for byte as git writes it, whatever the files' encodings and line ends, so that `git apply` takes it. One of
    over a megabyte is not kept: its digest and size are told, with `kept` false. None where git tells nothing.
    """
    patch = printed(["git", "-C", str(folder), "diff", "--binary", "--no-color", "--no-ext-diff", "HEAD", "--", *CODE])
    if not patch:
        return None
    found = {"sha256": bytes_digest(patch), "bytes": len(patch), "kept": len(patch) <= MOST_BYTES}
    if found["kept"]:
        write_once(patches / f"{found['sha256']}.patch", patch)
    return found


def write_once(path: Path, content: bytes) -> None:
    """Write a file that is named by its content, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def untracked(folder: Path) -> list[str]:
    """The files of the code that git neither tracks nor ignores, the first fifty of them."""
    names = git(folder, "ls-files", "--others", "--exclude-standard", "--", *CODE)
    return sorted((names or "").splitlines())[:MOST_NAMES]


def git(folder: Path, *arguments: str) -> str | None:
    """What a git command prints; None where it fails or there is no git."""
    return output(["git", "-C", str(folder), *arguments])


def output(command: Sequence[str]) -> str | None:
    """The text that a command prints, without what is blank around it; None where it fails or is not there."""
    found = printed(command)
    return None if found is None else found.decode("utf-8", errors="replace").strip()


def printed(command: Sequence[str]) -> bytes | None:
    """What a command prints; None where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
