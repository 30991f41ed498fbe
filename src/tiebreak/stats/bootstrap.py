"""Seeded cluster bootstrap intervals of a mean over cases."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import bootstrap

from tiebreak.errors import DataError
from tiebreak.stats.passk import Floats

DRAWS = 9_999


@dataclass(frozen=True)
class Interval:
    """A mean over cases and its percentile interval; None bounds where a single cluster leaves nothing to resample."""

    value: float
    low: float | None
    high: float | None
    clusters: int

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside the interval; never without one."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def cluster_totals(
    values: npt.ArrayLike, clusters: Sequence[Hashable], weights: npt.ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Sum of the values and number of cases in each cluster, clusters sorted by label.

    weights: how many cases each value is the mean of; 1 by default.
    """
    array = np.asarray(values, dtype=float)
    counted = np.ones_like(array) if weights is None else np.asarray(weights, dtype=float)
    if not len(clusters) == len(array) == len(counted):
        raise DataError(f"{len(clusters)} cluster labels for {len(array)} values; one each is expected")
    if not np.isfinite(array).all():
        raise DataError(f"value {int(np.argmax(~np.isfinite(array)))} is not a number; an interval needs numbers")
    _, codes = np.unique(np.asarray([str(label) for label in clusters]), return_inverse=True)
    sums = np.bincount(codes, weights=array * counted).astype(np.float64)
    return sums, np.bincount(codes, weights=counted).astype(np.float64)


def ratio(sums: Floats, sizes: Floats, axis: int = -1) -> Floats:
    """The mean over cases of a resample of clusters."""
    return np.asarray(sums.sum(axis=axis) / sizes.sum(axis=axis))


def cluster_interval(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable],
    *,
    seed: int,
    confidence: float = 0.95,
    draws: int = DRAWS,
    weights: npt.ArrayLike | None = None,
) -> Interval:
    """The mean of `values` (one a case) and its percentile interval, whole clusters resampled with replacement.

    weights: how many cases each value is the mean of, where it is that of several.
    The same seed gives the same interval. With few clusters (under about 20) such intervals are too narrow.
    Raises DataError for no cases and for NaN.
    """
    sums, sizes = cluster_totals(values, clusters, weights)
    if not len(sums):
        raise DataError("no cases: a mean needs at least one")
    mean = float(sums.sum() / sizes.sum())
    if len(sums) == 1:
        return Interval(mean, None, None, 1)
    result = bootstrap(
        (sums, sizes),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=draws,
        batch=max(1, 2_000_000 // len(sums)),
        method="percentile",
        confidence_level=confidence,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(mean, float(result.low), float(result.high), len(sums))


def cluster_error(values: npt.ArrayLike, clusters: Sequence[Hashable]) -> float | None:
    """The cluster-robust standard error of the mean of `values`; None for a single cluster.

    sqrt(G / (G − 1) · Σ (S_g − n_g · mean)²) / N over G clusters with sums S_g and sizes n_g.
    """
    sums, sizes = cluster_totals(values, clusters)
    count = len(sums)
    if count < 2:
        return None
    residuals = sums - sizes * (sums.sum() / sizes.sum())
    return float(np.sqrt(count / (count - 1) * (residuals**2).sum()) / sizes.sum())
