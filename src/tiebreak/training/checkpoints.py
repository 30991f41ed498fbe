"""Finding the checkpoint to go on from. A trainer writes a checkpoint in place, its state last: a torn one has none."""

import json
import shutil
from pathlib import Path

STATE = "trainer_state.json"


def last_checkpoint(work: Path) -> Path | None:
    """The newest whole checkpoint under `work`; later torn ones are removed."""
    found = sorted(work.glob("checkpoint-*"), key=step_of, reverse=True)
    for folder in found:
        if is_whole(folder):
            return folder
        shutil.rmtree(folder)
    return None


def step_of(folder: Path) -> int:
    """The step of a checkpoint's folder."""
    return int(folder.name.rpartition("-")[2])


def is_whole(folder: Path) -> bool:
    """Whether the trainer finished writing the checkpoint."""
    try:
        return int(json.loads((folder / STATE).read_text(encoding="utf-8"))["global_step"]) == step_of(folder)
    except (OSError, ValueError, KeyError):
        return False
