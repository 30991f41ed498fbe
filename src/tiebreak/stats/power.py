"""What effect could the design have seen? The minimal detectable effect beside every null result.

An effect δ with standard error s is found with probability `power` when δ ≈ (t[1 − α/2] + t[power]) · s, t being
Student's quantiles at the degrees of freedom of s. An approximation: the tests here are permutation tests, and a spread
estimated from few runs is itself uncertain. Where the design cannot reach α at all, no effect is detectable.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from tiebreak.stats.permutation import smallest_p

POWER = 0.8
MOST_RUNS = 100


def detectable(standard_error: float | None, freedom: int, *, alpha: float, power: float = POWER) -> float | None:
    """The minimal detectable effect in units of `standard_error`; None where no spread was measured."""
    if standard_error is None or freedom < 1 or not standard_error > 0:
        return None
    return float((student.ppf(1 - alpha / 2, freedom) + student.ppf(power, freedom)) * standard_error)


def run_spread(arms: Sequence[Sequence[float]]) -> tuple[float | None, int]:
    """The standard deviation of run means around their arm's mean, pooled over arms, and its degrees of freedom."""
    freedom = sum(len(runs) - 1 for runs in arms if runs)
    if freedom < 1:
        return None, 0
    squares = sum(float(((np.asarray(runs) - np.mean(runs)) ** 2).sum()) for runs in arms if runs)
    return math.sqrt(squares / freedom), freedom


def detectable_between_runs(
    spread: float | None, freedom: int, runs_a: int, runs_b: int, *, alpha: float, pairs: int, power: float = POWER
) -> float | None:
    """The minimal detectable difference of two arms' run means under Holm over `pairs`; None where p cannot reach α.

    Uses α / pairs, Holm's first step: the condition for the smallest p of the family.
    """
    if spread is None or not attainable(runs_a, runs_b, alpha=alpha, pairs=pairs):
        return None
    return detectable(spread * math.sqrt(1 / runs_a + 1 / runs_b), freedom, alpha=alpha / pairs, power=power)


def attainable(runs_a: int, runs_b: int, *, alpha: float, pairs: int) -> bool:
    """Whether any data could bring the Holm-adjusted p of a pair to α or below."""
    return min(1.0, smallest_p(runs_a, runs_b) * pairs) <= alpha


def runs_needed(*, alpha: float, pairs: int) -> int | None:
    """The least number of runs an arm (the same for all) with which α can be reached; None past 100."""
    for runs in range(2, MOST_RUNS + 1):
        if attainable(runs, runs, alpha=alpha, pairs=pairs):
            return runs
    return None
