"""prime-rl's logs, line by line: what each of its steps came to.

Its orchestrator and its trainer log with loguru, in colours, and progress bars stand in the same files. The messages
are those of the pinned commit: src/prime_rl/utils/logger.py (the format of a line), orchestrator/orchestrator.py,
orchestrator/filters.py, orchestrator/scheduler.py and trainer/rl/train.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILTERS = ("zero_advantage", "gibberish", "repetition")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINE = re.compile(r"(\d\d:\d\d:\d\d) +(TRACE|DEBUG|INFO|SUCCESS|WARNING|ERROR) (.*)")
DETECTED = re.compile(r"Detected \d+/(?P<batch>\d+) rollouts \((?P<counts>.*?)\)(?:, enforced (?P<dropped>\d+))?")
COUNT = re.compile(r"(\w+)=(\d+)")
EMPTY = re.compile(
    r"Attempt (?P<attempt>\d+)/(?P<most>\d+) at step (?P<step>\d+) filtered out all (?P<batch>\d+) rollouts"
)
EXAMPLES = re.compile(r"Computing teacher logprobs for (?P<examples>\d+) training examples")
PAUSED = re.compile(r"Orchestrator paused: waiting for trainer process to complete checkpoint (?P<checkpoint>\d+)")
RESUMED = re.compile(r"Orchestrator resumed: checkpoint \d+ ready \(after (?P<seconds>[\d.]+)s\)")
EVICTED = re.compile(r"Run evicted by trainer: (?P<reason>.*)")
COLLECTED = re.compile(
    r"Step (?P<step>\d+) \| Time: (?P<seconds>\S+)s \| Reward: (?P<reward>\S+) \| Seq\. Length: (?P<length>\S+) "
    r"tokens/sample \| Max\. Off-Policy Level: (?P<off_policy>\d+)"
)
TRAINED = re.compile(
    r"Step (?P<step>\d+) \| Time: (?P<seconds>\S+)s \| Loss: (?P<loss>\S+) \| Entropy: (?P<entropy>\S+)"
    r"(?: \| Mismatch KL: (?P<mismatch_kl>\S+))?(?: \| Grad\. Norm: (?P<grad_norm>\S+))? \| LR: (?P<learning_rate>\S+)"
)


@dataclass(frozen=True)
class Line:
    """A message of a log."""

    clock: str
    level: str
    message: str


def read_line(text: str) -> Line | None:
    """The message in a line of a log, without colours and behind a progress bar; None where there is none."""
    found = LINE.search(COLOUR.sub("", text).rpartition("\r")[2])
    return None if found is None else Line(*found.groups())


@dataclass
class Tail:
    """The new lines of a growing file. A file that became shorter was begun anew, as prime-rl does at every start."""

    path: Path
    offset: int = 0
    rest: bytes = b""

    def read(self) -> Iterator[Line]:
        """The messages that came since the last time; a line without its end waits for it."""
        if not self.path.exists():
            return
        if self.path.stat().st_size < self.offset:
            self.offset, self.rest = 0, b""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            data = file.read()
        self.offset += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if (found := read_line(line.decode("utf-8", "replace"))) is not None:
                yield found


@dataclass
class Collecting:
    """What the orchestrator said since its last step; its next step line makes a record of it."""

    batch: int | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    examples: int | None = None
    waiting: float = 0.0
    retries: int = 0

    def see(self, message: str) -> None:
        """Take in a message."""
        if found := DETECTED.match(message):
            self.batch = int(found["batch"])
            self.dropped = {name: int(count) for name, count in COUNT.findall(found["counts"])}
        elif found := EMPTY.match(message):
            self.batch, self.dropped, self.retries = int(found["batch"]), {}, int(found["attempt"])
        elif found := EXAMPLES.match(message):
            self.examples = int(found["examples"])
        elif found := RESUMED.match(message):
            self.waiting += float(found["seconds"])

    def record(self, found: re.Match[str], batch: int) -> dict[str, Any]:
        """A step in numbers. Steps count from 1, as elsewhere here; prime-rl counts from 0.

        rollouts: of the batch; training_examples is no difference of the two before: a rollout whose turns do not
        continue each other's tokens makes several.
        """
        dropped = {f"dropped_{name}": self.dropped.get(name, 0) for name in FILTERS}
        seconds = float(found["seconds"])
        return {
            "step": int(found["step"]) + 1,
            "rollouts": self.batch or batch,
            "dropped": sum(dropped.values()),
            **dropped,
            "training_examples": self.examples,
            "batches_tied": self.retries,
            "reward_mean": float(found["reward"]),
            "sequence_mean": float(found["length"]),
            "off_policy_max": int(found["off_policy"]),
            "seconds_rollouts": max(0.0, seconds - self.waiting),
            "seconds_waiting": self.waiting,
        }


def trained(message: str) -> tuple[int, dict[str, float | None]] | None:
    """The step of a trainer's step line and what it measured; None for another line."""
    found = TRAINED.match(message)
    if found is None:
        return None
    names = ("loss", "entropy", "mismatch_kl", "grad_norm", "learning_rate")
    numbers = {name: None if found[name] is None else float(found[name]) for name in names}
    return int(found["step"]) + 1, numbers | {"seconds_trainer": float(found["seconds"])}
