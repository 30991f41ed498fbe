"""The run-level test: is a difference between two arms larger than what their training runs differ by anyway?

Unpaired and exact: every way of handing the runs' means to the arms counts. With few runs the smallest p that can come
out is large whatever the data (`smallest_p`), and then nothing may be claimed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from tiebreak.stats.passk import Floats

ENUMERATE = 20_000_000
DRAWS = 99_999
TOLERANCE = 1e-12


def smallest_p(runs_a: int, runs_b: int) -> float:
    """The least two-sided p that this many runs an arm can reach, whatever the data.

    With equal numbers the mirrored assignment is as extreme as the observed one, hence 2 / C(2m, m).
    """
    if runs_a == 0 or runs_b == 0:
        return 1.0
    return (2 if runs_a == runs_b else 1) / math.comb(runs_a + runs_b, runs_a)


def permutation_p(a: Sequence[float], b: Sequence[float]) -> float:
    """P(|difference of means| ≥ the observed one) over all C(n + m, n) assignments of the runs; 1.0 for an empty arm.

    a, b: one number a run (its mean graded pass@1).
    """
    if not a or not b:
        return 1.0
    observed = abs(float(np.mean(a)) - float(np.mean(b)))
    every = np.concatenate(list(spreads(np.asarray([*a, *b], dtype=float), (len(a), len(b)))))
    return float((every >= observed - TOLERANCE).mean())


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of `ps`, in their order; an adjusted p is at most 1."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, running = [1.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = running
    return adjusted


@dataclass(frozen=True)
class MaxT:
    """The test of the global null "no arm differs from another": the largest pair difference, and its p."""

    p: float
    statistic: float
    assignments: int
    exact: bool
    error: float | None


def assignments(sizes: Sequence[int]) -> int:
    """In how many ways runs can be handed to arms of these sizes."""
    total, count = sum(sizes), 1
    for size in sizes:
        count *= math.comb(total, size)
        total -= size
    return count


def spreads(values: Floats, sizes: Sequence[int], low: float = np.inf, high: float = -np.inf) -> Iterator[Floats]:
    """The largest difference of group means, for every way of handing `values` to groups of these sizes.

    Yields blocks: the last two groups are enumerated as one array. `low` and `high` are the extremes so far.
    """
    if len(sizes) == 1:
        mean = values.mean()
        yield np.asarray([max(high, mean) - min(low, mean)])
        return
    chosen = np.asarray(list(combinations(range(len(values)), sizes[0])))
    if len(sizes) == 2:
        first = values[chosen].mean(axis=1)
        second = (values.sum() - first * sizes[0]) / sizes[1]
        yield np.maximum(np.maximum(first, second), high) - np.minimum(np.minimum(first, second), low)
        return
    for group in chosen:
        mean = values[group].mean()
        yield from spreads(np.delete(values, group), sizes[1:], min(low, mean), max(high, mean))


def max_t(arms: Mapping[str, Sequence[float]], *, seed: int = 0, limit: int = ENUMERATE) -> MaxT:
    """The largest difference between two arms' run means against its permutation distribution.

    Exact while there are at most `limit` assignments; else `DRAWS` seeded ones, with the standard error of p.
    """
    sizes = [len(runs) for runs in arms.values() if runs]
    values = np.asarray([value for runs in arms.values() for value in runs], dtype=float)
    if len(sizes) < 2:
        return MaxT(1.0, 0.0, 1, True, None)
    bounds = np.cumsum([0, *sizes])
    means = [values[low:high].mean() for low, high in pairwise(bounds)]
    observed = float(max(means) - min(means))
    count = assignments(sizes)
    if count <= limit:
        hits = sum(int((block >= observed - TOLERANCE).sum()) for block in spreads(values, sizes))
        return MaxT(hits / count, observed, count, True, None)
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(values, (DRAWS, 1)), axis=1)
    drawn = np.stack([part.mean(axis=1) for part in np.split(shuffled, bounds[1:-1], axis=1)])
    p = float((1 + (np.ptp(drawn, axis=0) >= observed - TOLERANCE).sum()) / (DRAWS + 1))
    return MaxT(p, observed, count, False, math.sqrt(p * (1 - p) / DRAWS))
