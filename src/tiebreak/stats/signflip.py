"""The paired sign-flip test: were the differences as likely to have the other sign?

Over cases, or over clusters of cases whose differences flip together. It speaks of the checkpoints that were compared,
never of the recipe that made them.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

from tiebreak.errors import DataError
from tiebreak.stats.passk import Floats, Integers

BUDGET = 4_000_000_000
LARGEST_SUM = 50_000_000  # of differences, for a table of chances in memory (eight bytes each)
MOST_LISTED = 20  # units whose sign assignments can be listed one by one
DRAWS = 99_999
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class SignFlip:
    """A two-sided result. `units` are cases or clusters, `moved` those with a difference, up and down among them.

    `exact` is False where the enumeration was too large and `draws` seeded ones stand in, with their own `error` (one
    standard error of p). `bound` says that p is below what a float carries: read it as "less than".
    `smallest_p` is the least p that this many moved units can give.
    """

    p: float
    units: int
    moved: int
    up: int
    down: int
    exact: bool = True
    bound: bool = False
    smallest_p: float = 1.0
    draws: int | None = None
    error: float | None = None


def subset_sums(sizes: Integers) -> Floats:
    """P(sum of a random subset of `sizes` = s) for s in 0..Σ sizes, each element in or out by a fair coin.

    Direct convolution, one element at a time, so that every term is a sum of positive numbers and keeps its relative
    precision (a fast Fourier transform would not). O(n · Σ sizes) time, O(Σ sizes) memory.
    """
    chances = np.zeros(int(sizes.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for size in np.sort(sizes).tolist():
        half = chances[: reach + 1] * 0.5
        chances[: reach + 1] = half
        reach += size
        chances[size : reach + 1] += half
    return chances


def sign_flip_p(differences: npt.ArrayLike) -> float:
    """Exact two-sided paired sign-flip p-value.

    differences: one integer per case (b − a), any order; zeros carry no information and are dropped.
    Returns P(|Σ ±d| ≥ |Σ d|) over all 2^n sign assignments, by convolution; 1.0 if all are zero, and 0.0 where the
    value is below what a float carries (`sign_flip` gives a bound then).
    Cost: O(n · Σ|d|) time and O(Σ|d|) memory.
    """
    signed = whole(differences)
    total = abs(int(signed.sum()))
    if total == 0:
        return 1.0
    sizes = np.abs(signed[signed != 0])
    unit = int(np.gcd.reduce(sizes))
    sizes, total = sizes // unit, total // unit
    # Σ ±d = 2 · (sum of the positive ones) − Σ|d|, so the upper tail begins at (Σ|d| + total) / 2.
    tail = subset_sums(sizes)[(int(sizes.sum()) + total) // 2 :]
    return min(1.0, 2.0 * float(tail.sum()))


def listed_p(differences: npt.ArrayLike) -> float:
    """`sign_flip_p` by listing all 2^n assignments of the n differences that are not zero: for few large ones."""
    signed = whole(differences)
    sums = np.zeros(1, dtype=np.int64)
    for size in np.abs(signed[signed != 0]).tolist():
        sums = np.concatenate([sums + size, sums - size])
    return float((np.abs(sums) >= abs(int(signed.sum()))).mean())


def whole(differences: npt.ArrayLike) -> Integers:
    """`differences` as integers; raises DataError for anything else."""
    array = np.atleast_1d(np.asarray(differences))
    if array.dtype.kind not in "iu":
        raise DataError(f"differences are {array.dtype}; the exact sign-flip test needs integers")
    return array.astype(np.int64)


def sign_flip(differences: npt.ArrayLike, *, seed: int = 0, budget: int = BUDGET) -> SignFlip:
    """The sign-flip test of integer `differences`: exact by convolution while n · Σ|d| stays within `budget`, exact by
    listing for few units, else by seeded draws."""
    signed = whole(differences)
    moved = int(np.count_nonzero(signed))
    up, down = int((signed > 0).sum()), int((signed < 0).sum())
    smallest = min(1.0, math.ldexp(1.0, 1 - moved))
    total = int(np.abs(signed).sum()) // max(1, int(np.gcd.reduce(signed)) if signed.size else 1)
    if moved * total <= budget and total <= LARGEST_SUM:
        p = sign_flip_p(signed)
    elif moved <= MOST_LISTED:
        p = listed_p(signed)
    else:
        p, error = drawn(signed, seed)
        return SignFlip(p, len(signed), moved, up, down, False, False, smallest, DRAWS, error)
    return SignFlip(max(p, SMALLEST), len(signed), moved, up, down, True, p < SMALLEST, max(smallest, SMALLEST))


def drawn(signed: Integers, seed: int) -> tuple[float, float]:
    """p and its standard error from `DRAWS` seeded sign assignments."""

    def statistic(values: Floats, axis: int = -1) -> Floats:
        return np.abs(values.sum(axis=axis))

    batch = max(1, 4_000_000 // max(1, len(signed)))
    result = permutation_test(
        (signed.astype(float),),
        statistic,
        permutation_type="samples",
        alternative="greater",
        n_resamples=DRAWS,
        vectorized=True,
        batch=batch,
        rng=np.random.default_rng(seed),
    )
    p = float(result.pvalue)
    return p, math.sqrt(p * (1 - p) / DRAWS)


def common_scale(numbers: Sequence[npt.ArrayLike], limit: int = 1 << 40) -> int:
    """The least common multiple of all sample sizes; raises DataError past `limit`."""
    scale = math.lcm(*(int(n) for n in np.unique(np.concatenate([np.ravel(np.asarray(part)) for part in numbers]))))
    if scale > limit:
        raise DataError(f"sample sizes have no common multiple under {limit}")
    return scale


def rate_differences(
    solved_a: npt.ArrayLike, samples_a: npt.ArrayLike, solved_b: npt.ArrayLike, samples_b: npt.ArrayLike
) -> Integers:
    """b/n_b − a/n_a per case, as integers on one common scale (divided by their greatest common divisor).

    Where sample sizes differ so much that no small scale exists (a few rollouts lost to errors), rates are rounded to
    1e-6: far finer than one sample and harmless to the test.
    """
    a, n_a, b, n_b = (np.asarray(part, dtype=np.int64) for part in (solved_a, samples_a, solved_b, samples_b))
    if (n_a == 0).any() or (n_b == 0).any():
        raise DataError("a case without a single sample cannot be compared; sample it again or leave it out everywhere")
    try:
        scale = common_scale([n_a, n_b])
        signed = b * (scale // n_b) - a * (scale // n_a)
    except DataError:
        signed = np.rint((b / n_b - a / n_a) * 1e6).astype(np.int64)
    divisor = int(np.gcd.reduce(signed)) if signed.size else 1
    return np.asarray(signed // max(1, divisor), dtype=np.int64)


def cluster_sums(differences: npt.ArrayLike, clusters: Sequence[Hashable]) -> Integers:
    """The differences summed within each cluster, in order of first appearance; they flip sign together."""
    signed = whole(differences)
    if len(clusters) != len(signed):
        raise DataError(f"{len(clusters)} cluster labels for {len(signed)} differences; one each is expected")
    sums: dict[Hashable, int] = {}
    for cluster, difference in zip(clusters, signed.tolist(), strict=True):
        sums[cluster] = sums.get(cluster, 0) + difference
    return np.asarray(list(sums.values()), dtype=np.int64)
