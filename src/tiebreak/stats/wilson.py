"""Wilson's interval for a fraction, and Newcombe's for a difference of two."""

import math
from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True)
class Fraction:
    """`count` of `total`, its value and its Wilson interval; an empty total has no value (NaN is never written)."""

    count: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def fraction(count: int, total: int, confidence: float = 0.95) -> Fraction:
    """`count / total` with its two-sided Wilson interval (scipy's), which stays inside [0, 1]."""
    if total == 0:
        return Fraction(0, 0, None, None, None)
    interval = binomtest(count, total).proportion_ci(confidence_level=confidence, method="wilson")
    return Fraction(int(count), int(total), count / total, float(interval.low), float(interval.high))


@dataclass(frozen=True)
class Difference:
    """A difference of two fractions and its interval; None where one of them is of nothing."""

    value: float | None
    low: float | None
    high: float | None


def difference(a: Fraction, b: Fraction) -> Difference:
    """b − a with Newcombe's score interval (Statistics in Medicine 17, 1998, method 10), from their intervals."""
    if a.value is None or b.value is None or a.low is None or a.high is None or b.low is None or b.high is None:
        return Difference(None, None, None)
    value = b.value - a.value
    return Difference(
        value,
        value - math.hypot(b.value - b.low, a.high - a.value),
        value + math.hypot(b.high - b.value, a.value - a.low),
    )
