"""Where a training with prime-rl can go on: a step that all of its parts have whole.

prime-rl resumes trainer and orchestrator each from the last folder that it finds, whole or torn, and the orchestrator
saves a step before the trainer does: after a kill in between the two would go on from different steps and wait for each
other. So the step is chosen here, and what lies beyond it is removed.

Source at the pinned commit: trainer/ckpt.py and orchestrator/ckpt.py (what is saved, and where), utils/pathing.py
(resolve_latest_ckpt_step), orchestrator/utils.py (get_weight_dir asks for the broadcast of that step).
"""

import shutil
from pathlib import Path

from tiebreak.errors import TiedError

RUN = "run_default"


def broadcast(out: Path, step: int) -> Path:
    """The adapter after step `step`, as the rollout server gets it."""
    return out / RUN / "broadcasts" / f"step_{step}"


def last_step(out: Path) -> int | None:
    """The last step that trainer, orchestrator and the broadcast all have whole; None where there is none."""
    return max((step for step in steps(out / "checkpoints") if is_whole(out, step)), default=None)


def is_whole(out: Path, step: int) -> bool:
    """Whether a step can be resumed. Each part writes its last file last."""
    needed = (
        out / "checkpoints" / f"step_{step}" / "trainer" / ".metadata",
        out / RUN / "checkpoints" / f"step_{step}" / "orchestrator" / "buffer" / "rollout_buffer.jsonl",
        broadcast(out, step) / "STABLE",
    )
    return all(path.exists() for path in needed)


def steps(folder: Path) -> list[int]:
    """The steps that have a folder there."""
    return sorted(int(path.name.removeprefix("step_")) for path in folder.glob("step_*"))


def forget_after(out: Path, step: int | None) -> None:
    """Remove checkpoints beyond a step (all of them for None): torn, or not had by every part."""
    for folder in (out / "checkpoints", out / RUN / "checkpoints"):
        for later in steps(folder):
            if step is None or later > step:
                shutil.rmtree(folder / f"step_{later}")


def refuse_evicted(out: Path) -> None:
    """Raise TiedError where prime-rl gave this run up: it would stop at once, and says why only the first time."""
    path = out / RUN / "control" / "evicted.txt"
    if path.exists():
        raise TiedError(
            f"{path}: prime-rl gave this run up: {path.read_text(encoding='utf-8').strip()}. Change the reward or the "
            f"prompts; to try the same again, remove this file"
        )
