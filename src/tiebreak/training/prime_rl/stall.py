"""When a training with prime-rl has come to its end without saying so, and why.

A batch that the filters dropped whole (every group tied) leaves the trainer without a step, and then all parts wait for
each other. At the pinned commit the orchestrator draws such a batch again, three times at most, and gives the run up
(orchestrator.py, MAX_EMPTY_BATCH_ATTEMPTS); a batch whose rollouts all made no training example goes out empty. Either
is stopped here, with its diagnosis, and so is silence.
"""

from dataclasses import dataclass, field

from tiebreak.training.prime_rl.logs import COUNT, DETECTED, EMPTY, EVICTED, EXAMPLES, PAUSED, RESUMED, Line

GRACE = 15 * 60.0
"""Seconds after a batch that was dropped whole; drawing another takes less."""
PATIENCE = 60 * 60.0
"""Seconds without any message. The longest step of the published runs took 4 minutes, and starting up is slow."""
MEND = "the reward tells its rollouts nothing apart: see gates/ties of this arm, then change its reward or the prompts"


@dataclass
class Watch:
    """Reads the orchestrator's messages and says when there is nothing left to wait for. Times are seconds."""

    started: float
    heard: float = field(init=False)
    dropped: str | None = None
    paused: str | None = None
    ended: str | None = None

    @property
    def tied(self) -> bool:
        """Whether what ended it, if anything did, was a batch of tied groups, and no failure of a machine."""
        return self.ended is not None or self.dropped is not None

    def __post_init__(self) -> None:
        self.heard = self.started

    def see(self, line: Line, now: float) -> None:
        """Take in a message that came at `now`."""
        self.heard, message = now, line.message
        if found := DETECTED.match(message):
            whole = found["dropped"] == found["batch"]
            counts = ", ".join(f"{name} {count}" for name, count in COUNT.findall(found["counts"]))
            self.dropped = f"all {found['batch']} rollouts of the batch were dropped ({counts})" if whole else None
        elif found := EMPTY.match(message):
            if found["attempt"] == found["most"]:
                again = f"in {found['most']} batches on end at step {int(found['step']) + 1}"
                self.ended = f"{self.dropped or 'all rollouts were dropped'}, {again}; {MEND}"
        elif (found := EXAMPLES.match(message)) and found["examples"] == "0":
            self.ended = f"the batch has no training example, so that the trainer waits for ever; {MEND}"
        elif found := EVICTED.match(message):
            self.ended = f"prime-rl gave this run up ({found['reason']}); {MEND}"
        elif found := PAUSED.match(message):
            self.paused = f"it waits for the trainer's checkpoint {found['checkpoint']}"
        elif RESUMED.match(message):
            self.paused = None

    def diagnosis(self, now: float) -> str | None:
        """Why nothing will come any more; None while something may."""
        silent = now - self.heard
        if self.ended is not None:
            return self.ended
        if self.dropped is not None and silent > GRACE:
            return f"{self.dropped}, and no other batch came in {silent / 60:.0f} minutes; {MEND}"
        if silent > PATIENCE:
            what = f", {self.paused}" if self.paused else ""
            return f"the orchestrator has said nothing for {silent / 60:.0f} minutes{what}; look into its logs"
        return None
