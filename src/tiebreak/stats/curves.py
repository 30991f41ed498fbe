"""pass@k over k for each arm, with cluster bootstrap bands."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tiebreak.seeds import derive
from tiebreak.stats.arms import Settings, estimates, pool
from tiebreak.stats.bootstrap import cluster_totals
from tiebreak.stats.passk import Floats

ROWS = 2_000
COLUMNS = ["arm", "k", "value", "low", "high"]


def pass_at_k_curves(counts: pd.DataFrame, arms: Sequence[str], settings: Settings) -> pd.DataFrame:
    """pass@k of each arm for every k up to the samples of the case that has fewest: columns arm, k, value, low, high.

    counts: the table of `stats.counts`. Unbiased over all samples of a case in a run, and averaged over the runs, as
    in `stats.arms`; the band at a k is the 1 − α percentile interval over clusters of cases, None for a single one.
    """
    rows: list[dict[str, Any]] = []
    for arm in arms:
        runs = [pool(part) for _, part in counts[counts["arm"] == arm].groupby("run", sort=True)]
        most = min(int(run["n"].min()) for run in runs)
        values = np.stack([np.mean([estimates(run, k) for run in runs], axis=0) for k in range(1, most + 1)], axis=1)
        seed = derive(settings.seed, "stats", "curves", arm)
        low, high = bands(values, runs[0][settings.column].tolist(), seed=seed, settings=settings)
        rows += [
            {"arm": arm, "k": k + 1, "value": float(values[:, k].mean()), "low": low[k], "high": high[k]}
            for k in range(most)
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def bands(
    values: Floats, clusters: Sequence[Hashable], *, seed: int, settings: Settings
) -> tuple[list[float | None], list[float | None]]:
    """Bounds of the mean of each column of `values` (cases × k), the same resamples of clusters for all of them.

    Whole clusters are resampled with replacement, so a resample is a multinomial count of each cluster.
    """
    totals = [cluster_totals(column, clusters) for column in values.T]
    sums, sizes = np.stack([total for total, _ in totals], axis=1), totals[0][1]
    if len(sizes) == 1:
        return [None] * values.shape[1], [None] * values.shape[1]
    rng, means = np.random.default_rng(seed), []
    for start in range(0, settings.draws, ROWS):
        drawn = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), min(ROWS, settings.draws - start))
        means.append(drawn @ sums / (drawn @ sizes)[:, None])
    bounds = np.quantile(np.concatenate(means), [settings.alpha / 2, 1 - settings.alpha / 2], axis=0)
    return bounds[0].tolist(), bounds[1].tolist()
