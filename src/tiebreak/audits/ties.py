"""Ties: GRPO learns only where the rewards inside a group differ.

A *tied* group is one whose total rewards differ by less than 1e-9: its advantages are zero and it teaches nothing.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from tiebreak.errors import DataError
from tiebreak.stats.wilson import Fraction, fraction

TOLERANCE = 1e-9

Rewards = Sequence[Sequence[float]]


def spread(rewards: Sequence[float]) -> float:
    """Largest minus smallest reward of one group; raises DataError for an empty group and for NaN."""
    values = np.asarray(rewards, dtype=float)
    if not values.size:
        raise DataError("a group without rollouts has no rewards to compare")
    if not np.isfinite(values).all():
        raise DataError(f"reward {int(np.argmax(~np.isfinite(values)))} of a group is not a number: {list(rewards)}")
    return float(np.ptp(values))


def tied(rewards: Rewards, tolerance: float = TOLERANCE) -> npt.NDArray[np.bool_]:
    """Whether each group of `rewards[group][rollout]` is tied."""
    return np.asarray([spread(group) < tolerance for group in rewards], dtype=bool)


def tied_fraction(rewards: Rewards, tolerance: float = TOLERANCE) -> Fraction:
    """The tied fraction of the groups with its Wilson interval (no value for no groups)."""
    marks = tied(rewards, tolerance)
    return fraction(int(marks.sum()), len(marks))


def tied_by_step(steps: Sequence[int], marks: Sequence[bool]) -> dict[int, Fraction]:
    """The tied fraction of each step; `steps` and `marks` run in parallel, one entry a group."""
    pairs = sorted(zip(steps, marks, strict=True))
    by_step = {step: [mark for _, mark in part] for step, part in groupby(pairs, key=first)}
    return {step: fraction(sum(part), len(part)) for step, part in by_step.items()}


def first(pair: tuple[int, bool]) -> int:
    """The step of a (step, mark) pair."""
    return pair[0]


@dataclass(frozen=True)
class TermActivity:
    """Where one term of a reward moves: the groups in which it varies, of all; `dead` if in none."""

    term: str
    groups: int
    moved: int
    smallest: float
    largest: float

    @property
    def dead(self) -> bool:
        """Whether the term never differed inside a group, so that it cannot have taught anything."""
        return self.moved == 0


def term_activity(
    groups: Sequence[Sequence[Mapping[str, float]]], terms: Iterable[str] = (), tolerance: float = TOLERANCE
) -> list[TermActivity]:
    """How each term behaves over `groups[group][rollout] = {term: value}`; a term that a rollout lacks is 0 there.

    terms: the names that the table declares, so that a term which never appears is seen as dead; others are added as
    they occur. Works the same over real groups and over one synthetic group that should move every term.
    """
    names = list(dict.fromkeys([*terms, *(name for group in groups for rollout in group for name in rollout)]))
    return [activity(name, groups, tolerance) for name in names]


def activity(name: str, groups: Sequence[Sequence[Mapping[str, float]]], tolerance: float = TOLERANCE) -> TermActivity:
    """How one term behaves over the groups."""
    values = [[float(rollout.get(name, 0.0)) for rollout in group] for group in groups]
    moved = sum(spread(group) >= tolerance for group in values)
    every = [value for group in values for value in group] or [0.0]
    return TermActivity(name, len(groups), moved, min(every), max(every))


def dead_terms(
    groups: Sequence[Sequence[Mapping[str, float]]], terms: Iterable[str] = (), tolerance: float = TOLERANCE
) -> list[str]:
    """The names of the terms that never vary inside a group; all declared `terms` where there are no groups."""
    return [row.term for row in term_activity(groups, terms, tolerance) if row.dead]


def group_rewards(keys: Sequence[Hashable], rewards: Sequence[float]) -> list[list[float]]:
    """Rewards gathered into groups by key (a prompt, or a step and a prompt), in order of first appearance."""
    groups: dict[Hashable, list[float]] = {}
    for key, reward in zip(keys, rewards, strict=True):
        groups.setdefault(key, []).append(float(reward))
    return list(groups.values())
