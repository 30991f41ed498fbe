"""The code of a job as git knows it, and what a changed tree has beside its commit."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.digest import text_digest

CODE = ("src", "scripts", "rules", "config", "Snakefile", "requirements")
MOST_BYTES = 1 << 20
MOST_NAMES = 50


def keep_patch(folder: Path, patches: Path) -> dict[str, Any] | None:
    """Keep the difference of the tree in `folder` to its commit as `patches`/<sha256>.patch, once for all jobs.

    One of over a megabyte is not kept: its digest and size are told, with `kept` false. None where git tells nothing.
    """
    text = output(["git", "-C", str(folder), "diff", "--binary", "--no-color", "--no-ext-diff", "HEAD"])
    if not text:
        return None
    text += "\n"  # `output` strips it, and git apply wants it
    found = {"sha256": text_digest(text), "bytes": len(text.encode()), "kept": len(text.encode()) <= MOST_BYTES}
    if found["kept"]:
        write_once(patches / f"{found['sha256']}.patch", text)
    return found


def write_once(path: Path, text: str) -> None:
    """Write a file that is named by its content, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def untracked(folder: Path) -> list[str]:
    """The files of the code that git neither tracks nor ignores, the first fifty of them."""
    names = git(folder, "ls-files", "--others", "--exclude-standard", "--", *CODE)
    return sorted((names or "").splitlines())[:MOST_NAMES]


def git(folder: Path, *arguments: str) -> str | None:
    """What a git command prints; None where it fails or there is no git."""
    return output(["git", "-C", str(folder), *arguments])


def output(command: Sequence[str]) -> str | None:
    """What a command prints; None where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
