"""What would more runs, repetitions or cases buy? The design at hand beside a few others, for both questions.

*This recipe*: two arms whose run means spread as the variance components say (see `variance.run_deviation`), judged by
the permutation of runs at Holm's first step. *These checkpoints*: two arms compared case by case, an arm's runs pooled;
what their true differences vary by from case to case stays, what sampling adds shrinks with the number of samples.
Clusters grow with cases, and a cluster's cases stay as alike as they are.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from tiebreak.paths import BASE_ARM
from tiebreak.stats.arms import Settings, estimates, pool
from tiebreak.stats.bootstrap import cluster_error
from tiebreak.stats.permutation import smallest_p
from tiebreak.stats.power import attainable, detectable, detectable_between_runs, power_of, runs_needed
from tiebreak.stats.run_power import power_of_runs
from tiebreak.stats.variance import Components, run_deviation

EFFECTS = (0.02, 0.05, 0.1)
"""The differences of pass@1 that powers are given for; an observed difference would only repeat its p."""


@dataclass(frozen=True)
class Design:
    """How much is measured: runs an arm, repetitions of an evaluation, samples a repetition, cases."""

    runs: int
    repetitions: int
    samples: int
    cases: int


@dataclass(frozen=True)
class Spread:
    """How the paired differences of two arms vary over cases: truly, and by sampling at the design at hand.

    alike: the variance of their mean over clusters, in units of what independent cases would have.
    clusters: their number.
    """

    true: float
    sampling: float
    alike: float
    clusters: int


def what_if(table: pd.DataFrame, parts: Components, settings: Settings) -> list[dict[str, Any]]:
    """One row a design: what it could show, with `power` at each of EFFECTS and the minimal detectable effect.

    table: counts. Values are None where no spread is known, or (detectable) where no data could reach α.
    """
    arms = [arm for arm, runs in table.groupby("arm")["run"].nunique().items() if arm != BASE_ARM or runs > 1]
    recipe_pairs, case_pairs = math.comb(len(arms), 2), math.comb(table["arm"].nunique(), 2)
    if not case_pairs:
        return []
    now = at_hand(table, arms)
    spread = paired_spread(table, settings)
    return [
        {
            "change": change,
            **asdict(design),
            "recipe": over_runs(design, parts, recipe_pairs, settings) if recipe_pairs else None,
            "checkpoints": over_cases(design, now, spread, case_pairs, settings),
        }
        for change, design in others(now, recipe_pairs, settings)
    ]


def at_hand(table: pd.DataFrame, arms: Sequence[Any]) -> Design:
    """The design of a counts table; the fewest runs of any tested arm count."""
    per_arm = table.groupby("arm")["run"].nunique()
    runs = int(per_arm[list(arms)].min()) if arms else 1
    samples = int((table["n"] + table["errors"]).max())
    return Design(runs, int(table["repetition"].nunique()), samples, int(table["case_id"].nunique()))


def others(now: Design, pairs: int, settings: Settings) -> list[tuple[str, Design]]:
    """The design at hand and what it may be changed to, by name."""
    runs, repetitions, samples, cases = now.runs, now.repetitions, now.samples, now.cases
    rows = [("as it is", now)]
    needed = runs_needed(alpha=settings.alpha, pairs=pairs) if pairs else None
    if needed is not None and needed > runs:
        rows.append(("runs that can reach alpha", Design(needed, repetitions, samples, cases)))
    return [
        *rows,
        ("twice the runs", Design(2 * runs, repetitions, samples, cases)),
        ("twice the repetitions", Design(runs, 2 * repetitions, samples, cases)),
        ("twice the cases", Design(runs, repetitions, samples, 2 * cases)),
        ("twice the runs and the cases", Design(2 * runs, repetitions, samples, 2 * cases)),
    ]


def over_runs(design: Design, parts: Components, pairs: int, settings: Settings) -> dict[str, Any]:
    """What the permutation of runs could show of two arms under `design`."""
    runs, alpha = design.runs, settings.alpha
    deviation = run_deviation(parts, cases=design.cases, samples=design.samples * design.repetitions)
    possible = attainable(runs, runs, alpha=alpha, pairs=pairs)
    known = deviation is not None and deviation > 0
    return {
        "smallest_p_holm": min(1.0, pairs * smallest_p(runs, runs)),
        "run_deviation": deviation,
        "detectable": detectable_between_runs(
            deviation, parts.freedom, runs, runs, alpha=alpha, pairs=pairs, power=settings.power
        )
        if known
        else None,
        "power": {
            f"{effect:g}": power_of_runs(effect / deviation, runs, runs, level=alpha / pairs)
            if deviation is not None and known
            else (None if possible else 0.0)
            for effect in EFFECTS
        },
    }


def over_cases(design: Design, now: Design, spread: Spread, pairs: int, settings: Settings) -> dict[str, Any]:
    """What the sign flip over clusters could show of two arms under `design`, by the t approximation."""
    share = (now.runs * now.repetitions) / (design.runs * design.repetitions)
    variance = spread.true + spread.sampling * share
    error = math.sqrt(spread.alike * variance / design.cases) if variance > 0 else None
    freedom = spread.clusters * design.cases // now.cases - 1
    level = settings.alpha / pairs
    return {
        "error": error,
        "detectable": detectable(error, freedom, alpha=level, power=settings.power),
        "power": {f"{effect:g}": power_of(effect, error, freedom, alpha=level) for effect in EFFECTS},
    }


def paired_spread(table: pd.DataFrame, settings: Settings) -> Spread:
    """The spread of paired differences, averaged over all pairs of arms."""
    pooled = [pool(part) for _, part in table.groupby("arm", sort=True)]
    clusters = pooled[0][settings.column].tolist()
    totals, sampling, alike = [], [], []
    for left, right in combinations(pooled, 2):
        deltas = estimates(right, 1) - estimates(left, 1)
        total = float(deltas.var(ddof=1)) if len(deltas) > 1 else 0.0
        error = cluster_error(deltas, clusters)
        totals.append(total)
        sampling.append(sum(sampling_variance(part) for part in (left, right)))
        alike.append(error**2 * len(deltas) / total if error is not None and total > 0 else 1.0)
    total, drawn = float(np.mean(totals)), float(np.mean(sampling))
    return Spread(max(0.0, total - drawn), min(total, drawn), float(np.mean(alike)), len(set(clusters)))


def sampling_variance(pooled: pd.DataFrame) -> float:
    """The variance that sampling gives the rate of a case, averaged over cases: the mean of p(1 − p)/(n − 1)."""
    rates = pooled["graded"] / pooled["n"]
    return float((rates * (1 - rates) / (pooled["n"] - 1).clip(lower=1)).mean())
