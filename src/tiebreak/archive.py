"""A finished training is never lost. Snakemake removes a job's outputs before it runs them again, so each training is
kept a second time when it ends (as hard links: no second copy on disk), and set aside under its digest by the next one.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tiebreak.digest import json_digest
from tiebreak.provenance import path_digest

KEPT = "finished"
PREVIOUS = "previous"


def keep(outputs: Sequence[Path], work: Path) -> str:
    """Keep the outputs of a finished training under `work`/finished/<digest>; returns the digest (16 digits)."""
    digest = json_digest([[path.name, path_digest(path)] for path in outputs])[:16]
    folder = work / KEPT / digest
    unfinished = folder.with_name(f".{digest}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    for path in outputs:
        if path.is_dir():
            shutil.copytree(path, unfinished / path.name, copy_function=link)
        else:
            link(path, unfinished / path.name)
    if folder.exists():
        shutil.rmtree(unfinished)
    else:
        unfinished.rename(folder)
    return digest


def link(source: str | Path, target: str | Path) -> str:
    """A hard link, or a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return str(target)


def finished(work: Path) -> list[Path]:
    """The trainings that are kept under `work`."""
    return sorted(path for path in (work / KEPT).glob("*") if not path.name.startswith("."))


def unfinished(work: Path) -> list[Path]:
    """The folders under `work` of jobs that did not end."""
    return sorted(path for path in work.glob("*") if path.is_dir() and path.name != KEPT)


def set_aside(work: Path, place: Path) -> list[Path]:
    """Move what is kept under `work` to `place`/previous/<digest>; returns where it is now."""
    moved = []
    for path in finished(work):
        target = place / PREVIOUS / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.rmtree(path)
        else:
            path.rename(target)
        moved.append(target)
    return moved
