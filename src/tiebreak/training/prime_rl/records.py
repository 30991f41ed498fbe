"""The records of a training with prime-rl, kept beside its checkpoints in the files that TRL's backend has, too.

prime-rl begins its logs anew at every start, so what they say is written down while they grow.
"""

import json
import os
from pathlib import Path
from typing import Any

from tiebreak.frames import append_frame, read_frames
from tiebreak.training.grpo import read_steps, trim
from tiebreak.training.prime_rl.logs import COLLECTED, Collecting, Line, trained
from tiebreak.training.prime_rl.rollouts import stored_groups, summary


class Records:
    """`steps.jsonl` (a line a step) and `groups.jsonl.zst` (a frame a step) in `work`, of the run in `out`."""

    def __init__(self, work: Path, out: Path, *, size: int, batch: int) -> None:
        self.work, self.out, self.size, self.batch = work, out, size, batch
        self.load()

    def load(self) -> None:
        """What is written down already."""
        self.steps = {row["step"]: row for row in read_steps(self.path)}
        self.seen = {frame[0]["step"] for frame in read_frames(self.work / "groups.jsonl.zst")}
        self.collecting = Collecting()

    @property
    def path(self) -> Path:
        """The file of the steps."""
        return self.work / "steps.jsonl"

    def forget_after(self, step: int) -> None:
        """Forget the steps after a checkpoint: they will be made again."""
        trim(self.work, step)
        self.load()

    def collected(self, line: Line) -> None:
        """Take in a message of the orchestrator."""
        found = COLLECTED.match(line.message)
        if found is None:
            self.collecting.see(line.message)
            return
        record = self.collecting.record(found, self.batch)
        self.collecting = Collecting()
        groups = stored_groups(self.out, record["step"], self.size)
        if record["step"] not in self.seen:
            append_frame(self.work / "groups.jsonl.zst", groups)
            self.seen.add(record["step"])
        self.update(record["step"], record | summary(groups))

    def trained(self, line: Line) -> None:
        """Take in a message of the trainer. It may come before or after the orchestrator's of the same step."""
        found = trained(line.message)
        if found is not None:
            step, numbers = found
            self.update(step, {"step": step, **numbers})

    def update(self, step: int, numbers: dict[str, Any]) -> None:
        """Add numbers to a step's record, and write all down."""
        self.steps[step] = self.steps.get(step, {}) | numbers
        unfinished = self.path.with_suffix(".part")
        rows = [self.steps[number] for number in sorted(self.steps)]
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        os.replace(unfinished, self.path)
