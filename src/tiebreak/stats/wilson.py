"""Wilson's interval for a fraction."""

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
