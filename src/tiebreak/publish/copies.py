"""Runs of other models that say the same: rollouts of one may be a copy of the other's under new labels."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from tiebreak.publish.verdicts import Difference, Verdict, differs

FEW = 500
"""Rollouts under which a short training may leave every draw as it was; of the laptop study's 1,024 a repetition, two
runs share 8 to 17 in a hundred."""


class Voices:
    """What the model of each run wrote in its evaluations, as one digest a run; rollouts come in the tables' order."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        self.count: dict[str, int] = {}

    def hear(self, run: str, row: Mapping[str, Any]) -> None:
        """Add a rollout of a run."""
        own = [turn["content"] for turn in row["turns"] if turn["role"] == "assistant"]
        key = json.dumps([row["repetition"], row["case_id"], row["sample"], own])
        self.said.setdefault(run, hashlib.sha256()).update(key.encode())
        self.count[run] = self.count.get(run, 0) + 1

    def alike(self) -> Iterator[tuple[str, str]]:
        """Pairs of runs that say the same in all rollouts."""
        for one, other in combinations(self.said, 2):
            if self.said[one].digest() == self.said[other].digest():
                yield one, other

    def verdicts(self, models: Mapping[str, str]) -> Iterator[Verdict]:
        """The verdict on all pairs; models: the digest of each run's model. Equal models may say the same."""
        subject = "runs against each other"
        for one, other in self.alike():
            if models.get(one) == models.get(other):
                continue
            count, words = self.count[one], f"{one} and {other}, of different models, say the same in all rollouts"
            if count >= FEW:
                found = Difference("results/evals", f"what {other} says", f"what {one} says", "its own words")
                yield differs(subject, found, count)
            else:
                yield Verdict(subject, "noted", f"{words}: so few show no copy; --rerun {other} does", count)
            return
        yield Verdict(subject, "bit-exact", "no two of different models say the same in all rollouts", len(self.said))
