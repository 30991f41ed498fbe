"""Which training a thing belongs to, and the seeds of its streams."""

from dataclasses import dataclass

from tiebreak.seeds import derive


@dataclass(frozen=True)
class Run:
    """Which training this is: the names of its seed streams, and its arm's shape."""

    root_seed: int
    arm: str
    training_seed: int

    def seed(self, *names: str | int) -> int:
        """A seed of this training."""
        return derive(self.root_seed, "train", self.arm, self.training_seed, *names)
