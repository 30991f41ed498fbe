"""What an arm, or one of its runs, achieved: pass@1 and pass@k on the grade, valid@k, by family, with intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from tiebreak.errors import DataError
from tiebreak.seeds import derive
from tiebreak.stats.bootstrap import DRAWS, cluster_interval
from tiebreak.stats.counts import MEASURES
from tiebreak.stats.passk import Floats, pass_at_k


@dataclass(frozen=True)
class Settings:
    """How everything is computed: α, the cluster of a case, k, the root seed of all draws, named groups of families.

    `arms` is the order in which arms are shown and subtracted (a later one against an earlier one).
    """

    alpha: float
    cluster: str
    k: int
    seed: int
    draws: int = DRAWS
    power: float = 0.8
    strata: Mapping[str, Sequence[str]] | None = None
    arms: Sequence[str] = ()

    @property
    def column(self) -> str:
        """The counts column that holds the cluster of a case."""
        return {"case": "case_id"}.get(self.cluster, self.cluster)


def pool(table: pd.DataFrame) -> pd.DataFrame:
    """Counts summed over runs and repetitions: one row a case, sorted by case_id."""
    summed = table.groupby("case_id", sort=True)[MEASURES].sum()
    labels = table.groupby("case_id", sort=True)[["template", "family"]].first()
    return labels.join(summed).reset_index()


def estimates(pooled: pd.DataFrame, k: int, outcome: str = "graded") -> Floats:
    """pass@k of each case of a pooled table; raises DataError, naming the case, where it has fewer than k samples."""
    short = pooled[pooled["n"] < k]
    if len(short):
        row = short.iloc[0]
        raise DataError(
            f"case {row['case_id']} has {row['n']} samples and {row['errors']} errors; "
            f"pass@{k} needs {k} samples: evaluate the errors again"
        )
    return pass_at_k(pooled["n"].to_numpy(), pooled[outcome].to_numpy(), k)


def interval(pooled: pd.DataFrame, values: Floats, settings: Settings, *names: str) -> dict[str, Any]:
    """The mean of `values` (one a pooled case) with its 1 − α cluster bootstrap interval, drawn from its own stream."""
    seed = derive(settings.seed, "stats", "bootstrap", *names)
    clusters = pooled[settings.column].tolist()
    return asdict(cluster_interval(values, clusters, seed=seed, confidence=1 - settings.alpha, draws=settings.draws))


def achieved(table: pd.DataFrame, settings: Settings, *names: str) -> dict[str, Any]:
    """pass@1 and pass@k with intervals, sizes and both denominators, of the counts in `table`.

    A rate is over the samples that ended; with `_over_all` it is over all rollouts, as if an infrastructure error were
    a failure. `samples` and `rollouts` are those denominators, `fewest_samples` the samples of the case that has
    fewest.

    pass@k is a run's: samples of different runs are draws from different policies, and a pool of them solves more than
    any of them. So it is computed for each run and averaged over the runs, and so are the numbers of cases that a run
    never, sometimes or always solves.
    """
    pooled = pool(table)
    runs = [pool(part) for _, part in table.groupby("run", sort=True)]
    at_k = np.mean([estimates(run, settings.k) for run in runs], axis=0)
    samples, graded, errors = (int(pooled[column].sum()) for column in ("n", "graded", "errors"))
    return {
        "cases": len(pooled),
        "samples": samples,
        "errors": errors,
        "rollouts": samples + errors,
        "fewest_samples": int(pooled["n"].min()),
        "graded": graded,
        "valid": int(pooled["valid"].sum()),
        "success": int(pooled["success"].sum()),
        "pass_at_1": interval(pooled, estimates(pooled, 1), settings, "pass@1", *names),
        "pass_at_k": interval(pooled, at_k, settings, "pass@k", *names),
        "valid_rate": int(pooled["valid"].sum()) / samples,
        "graded_over_all": graded / (samples + errors),
        "valid_over_all": int(pooled["valid"].sum()) / (samples + errors),
        "cases_never": per_run((run["graded"] == 0).sum() for run in runs),
        "cases_mixed": per_run(((run["graded"] > 0) & (run["graded"] < run["n"])).sum() for run in runs),
        "cases_always": per_run((run["graded"] == run["n"]).sum() for run in runs),
    }


def per_run(counted: Iterable[int]) -> int | float:
    """The mean of a count over runs; whole where it is."""
    numbers = [int(number) for number in counted]
    total, runs = sum(numbers), len(numbers)
    return total // runs if total % runs == 0 else round(total / runs, 2)


def per_repetition(table: pd.DataFrame) -> list[dict[str, Any]]:
    """valid@k and graded@k of each repetition of each run: cases with at least one such sample.

    `short` counts cases that lost samples to errors, whose chance was smaller.
    """
    rows = []
    for (run, repetition), part in table.groupby(["run", "repetition"], sort=True):
        rows.append(
            {
                "run": str(run),
                "repetition": int(str(repetition)),
                "cases": len(part),
                "samples": int(part["n"].sum()),
                "errors": int(part["errors"].sum()),
                "valid_cases": int((part["valid"] > 0).sum()),
                "graded_cases": int((part["graded"] > 0).sum()),
                "success_not_graded": int(part["success_not_graded"].sum()),
                "pass_at_1": float((part["graded"] / part["n"].where(part["n"] > 0)).mean()) if len(part) else None,
                "short": int((part["errors"] > 0).sum()),
            }
        )
    return rows


def groups_of(table: pd.DataFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """The table by family, and by each stratum that the caller named and that has cases."""
    parts = {str(family): part for family, part in table.groupby("family", sort=True)}
    for name, families in (settings.strata or {}).items():
        part = table[table["family"].isin(list(families))]
        if len(part):
            parts[name] = part
    return parts


def summarize(table: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    """The summary of one arm: all runs and repetitions pooled, each run alone, by family, by repetition.

    The interval resamples clusters of cases and holds for these runs: it does not include how runs of one recipe differ
    (`run_means` shows that). Raises DataError for an empty table.
    """
    if table.empty:
        raise DataError("no rollouts of this arm; a stopped arm has no summary")
    arm = str(table["arm"].iloc[0])
    runs = {str(run): part for run, part in table.groupby("run", sort=True)}
    by_run = {run: achieved(part, settings, arm, run) for run, part in runs.items()}
    return {
        "arm": arm,
        **achieved(table, settings, arm),
        "runs": {run: {"training_seed": int(runs[run]["training_seed"].iloc[0]), **by_run[run]} for run in runs},
        "run_means": [by_run[run]["pass_at_1"]["value"] for run in runs],
        "repetitions": per_repetition(table),
        "families": {
            name: achieved(part, settings, arm, "family", name) for name, part in groups_of(table, settings).items()
        },
    }


def graded_rate(table: pd.DataFrame) -> Floats:
    """Graded samples over samples of each pooled case; raises DataError for a case without samples."""
    return np.asarray(estimates(pool(table), 1))


def over_all(pooled: pd.DataFrame, outcome: str = "graded") -> Floats:
    """The rate of each pooled case over all its rollouts, an infrastructure error counting as a failure."""
    return np.asarray(pooled[outcome] / (pooled["n"] + pooled["errors"]), dtype=np.float64)
