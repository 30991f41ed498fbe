"""What effect could the design have seen? The minimal detectable effect beside every null result.

Over cases, an effect δ with standard error s is found with probability `power` when δ ≈ (t[1 − α/2] + t[power]) · s, t
being Student's quantiles at the degrees of freedom of s. Over training runs the permutation test itself is asked (see
`run_power`): with few runs it is far from a t-test. Both take the spread they are given for the true one; a spread
estimated from few runs is itself uncertain. Where the design cannot reach α at all, no effect is detectable.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from tiebreak.stats.permutation import smallest_p
from tiebreak.stats.run_power import detectable_ratio, power_of_runs, two_sided

POWER = 0.8
MOST_RUNS = 100


def detectable(standard_error: float | None, freedom: int, *, alpha: float, power: float = POWER) -> float | None:
    """The minimal detectable effect in units of `standard_error`; None where no spread was measured."""
    if standard_error is None or freedom < 1 or not standard_error > 0:
        return None
    return float((student.ppf(1 - alpha / 2, freedom) + student.ppf(power, freedom)) * standard_error)


def power_of(effect: float, standard_error: float | None, freedom: int, *, alpha: float) -> float | None:
    """The chance that a two-sided t-test at α finds `effect`; None where no spread was measured."""
    if standard_error is None or freedom < 1 or not standard_error > 0:
        return None
    return two_sided(effect / standard_error, freedom, alpha)


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

    spread: the standard deviation of run means, with its degrees of freedom (none known below 1). Uses α / pairs,
    Holm's first step: the condition for the smallest p of the family.
    """
    if spread is None or freedom < 1 or not attainable(runs_a, runs_b, alpha=alpha, pairs=pairs):
        return None
    ratio = detectable_ratio(runs_a, runs_b, level=alpha / pairs, power=power)
    return None if ratio is None else ratio * spread


def attainable(runs_a: int, runs_b: int, *, alpha: float, pairs: int) -> bool:
    """Whether any data could bring the Holm-adjusted p of a pair to α or below."""
    return min(1.0, smallest_p(runs_a, runs_b) * pairs) <= alpha


def runs_needed(*, alpha: float, pairs: int) -> int | None:
    """The least number of runs an arm (the same for all) with which α can be reached; None past 100."""
    for runs in range(2, MOST_RUNS + 1):
        if attainable(runs, runs, alpha=alpha, pairs=pairs):
            return runs
    return None


def runs_for(
    effect: float, spread: float, *, alpha: float, pairs: int, power: float = POWER
) -> tuple[int, float] | None:
    """The least number of runs an arm that finds `effect` with at least `power`, and the power it has.

    spread: the standard deviation of run means at the evaluation that is planned. None past 100 runs.
    """
    for runs in range(runs_needed(alpha=alpha, pairs=pairs) or MOST_RUNS + 1, MOST_RUNS + 1):
        found = power_of_runs(effect / spread, runs, runs, level=alpha / pairs) if spread > 0 else 1.0
        if found >= power:
            return runs, found
    return None
