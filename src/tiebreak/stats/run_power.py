"""The power of the run-level permutation test, for run means that are normal around their arm's mean.

With few runs the test has few p-values to give (five runs an arm: multiples of 2/252), so its power is that of the test
itself, over seeded draws of run means, every assignment counted. With many runs it is the t-test's (Hoeffding 1952),
and the noncentral t gives it.
"""

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.stats import chi2, nct
from scipy.stats import t as student

from tiebreak.seeds import derive
from tiebreak.stats.passk import Floats
from tiebreak.stats.permutation import TOLERANCE, smallest_p

DRAWS = 20_000
ENUMERATE = 1_000
CELLS = 4_000_000
LARGEST = 1e3


def power_of_runs(effect: float, runs_a: int, runs_b: int, *, level: float) -> float:
    """The chance that two arms whose means differ by `effect` get p ≤ `level`.

    effect: in standard deviations of a run mean. 0.0 where no data reach the level. Its own standard error is at most
    0.0036 where it is drawn.
    """
    if smallest_p(runs_a, runs_b) > level:
        return 0.0
    count = math.comb(runs_a + runs_b, runs_a)
    if count > ENUMERATE:
        return power_of_t(effect, runs_a, runs_b, level_of(level, count, equal=runs_a == runs_b))
    above, below = thresholds(runs_a, runs_b, level)
    return float(((effect > above) | (effect < below)).mean())


def level_of(level: float, count: int, *, equal: bool) -> float:
    """The largest p up to `level` that `count` assignments can give; with equal arms they come in mirrored twos."""
    steps = count // 2 if equal else count
    return math.floor(level * steps + TOLERANCE) / steps


def power_of_t(effect: float, runs_a: int, runs_b: int, level: float) -> float:
    """The power of the two-sided, two-sample t-test."""
    return two_sided(effect / math.sqrt(1 / runs_a + 1 / runs_b), runs_a + runs_b - 2, level)


def two_sided(ratio: float, freedom: int, level: float) -> float:
    """The power of a two-sided t-test for an effect of `ratio` standard errors."""
    bound = student.ppf(1 - level / 2, freedom)
    found = nct.sf(bound, freedom, ratio) + nct.cdf(-bound, freedom, ratio)
    if np.isfinite(found):
        return float(found)
    # scipy gives NaN for large ratios; there the estimate of the error alone decides: P(χ²/f ≤ (ratio / bound)²)
    return float(chi2.cdf(freedom * (ratio / bound) ** 2, freedom))


@lru_cache(maxsize=64)
def thresholds(runs_a: int, runs_b: int, level: float) -> tuple[Floats, Floats]:
    """For each draw the effects over which, and below which, the permutation test rejects.

    With g_k the difference that assignment k gives without an effect, and s_k the share of the effect that it sees, the
    assignment is as far out as the actual one, |g_k + s_k δ| ≥ g_0 + δ > 0, up to the larger of (g_k − g_0) / (1 − s_k)
    and −(g_k + g_0) / (1 + s_k). The test rejects above the place where few enough assignments are left.
    """
    weights = contrasts(runs_a, runs_b)
    allowed = math.floor(level * len(weights) + TOLERANCE)
    seed = derive(0, "stats", "run-power", runs_a, runs_b)
    draws = np.random.default_rng(seed).standard_normal((DRAWS, runs_a + runs_b))
    shares = weights[1:, runs_a:].sum(axis=1)
    blocks = [part @ weights.T for part in np.array_split(draws, max(1, DRAWS * len(weights) // CELLS))]
    above = np.concatenate([reached(block, shares, allowed) for block in blocks])
    below = -np.concatenate([reached(-block, shares, allowed) for block in blocks])
    return above, below


def reached(spreads: Floats, shares: Floats, allowed: int) -> Floats:
    """The effect, for each row of differences, above which at most `allowed` assignments are as far out."""
    own, others = spreads[:, :1], spreads[:, 1:]
    last = np.maximum((others - own) / (1 - shares), -(others + own) / (1 + shares))
    if allowed > last.shape[1]:
        return -own[:, 0]
    place = last.shape[1] - allowed
    return np.maximum(np.partition(last, place, axis=1)[:, place], -own[:, 0])


def contrasts(runs_a: int, runs_b: int) -> Floats:
    """The weights that give mean(b) − mean(a) for every assignment, one a row, the actual assignment first.

    With equally many runs, one of each two mirrored assignments: both differ by as much.
    """
    total = runs_a + runs_b
    chosen = np.asarray(list(combinations(range(total), runs_a)))
    if runs_a == runs_b:
        chosen = chosen[chosen[:, 0] == 0]
    rows = np.full((len(chosen), total), 1 / runs_b)
    np.put_along_axis(rows, chosen, -1 / runs_a, axis=1)
    return rows


def detectable_ratio(runs_a: int, runs_b: int, *, level: float, power: float) -> float | None:
    """The least effect, in standard deviations of a run mean, that is found with `power`; None where none is."""
    low, high = 0.0, 1.0
    while power_of_runs(high, runs_a, runs_b, level=level) < power:
        low, high = high, 2 * high
        if high > LARGEST:
            return None
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        if power_of_runs(middle, runs_a, runs_b, level=level) < power:
            low = middle
        else:
            high = middle
    return high
