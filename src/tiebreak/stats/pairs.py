"""Two arms compared, by two questions that are never mixed.

*These checkpoints*: paired over cases (an arm's runs and repetitions pooled), sign flips over cases and over clusters.
*This recipe*: exact permutation of training runs, arm against arm, conditional on the SFT checkpoint they start from.
"""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from tiebreak.paths import BASE_ARM
from tiebreak.seeds import derive
from tiebreak.stats.arms import Settings, estimates, groups_of, interval, over_all, pool
from tiebreak.stats.bootstrap import cluster_error
from tiebreak.stats.permutation import holm, max_t, permutation_p, smallest_p
from tiebreak.stats.power import attainable, detectable, detectable_between_runs, run_spread, runs_needed
from tiebreak.stats.signflip import cluster_sums, rate_differences, sign_flip


def ordered(table: pd.DataFrame, settings: Settings) -> list[str]:
    """The arms of the table: the baseline, then the study's order, then whatever it does not name."""
    present = set(table["arm"])
    names = dict.fromkeys([BASE_ARM, *settings.arms, *table["arm"]])
    return [arm for arm in names if arm in present]


def compared(table: pd.DataFrame, a: str, b: str, settings: Settings, *names: str, pairs: int = 1) -> dict[str, Any]:
    """Arm b against arm a on the same cases: delta of pass@1 with interval, both sign-flip tests, cases up and down.

    `solved` counts cases with at least one graded sample; those numbers grow with the number of samples, so they are
    given only where both arms have the same sizes. `delta_over_all` is the delta with infrastructure errors counted as
    failures, `samples` and `rollouts` are both denominators, a first. pairs: how many pairs Holm corrects over; the
    detectable effect is at α / pairs.
    """
    left, right = pool(table[table["arm"] == a]), pool(table[table["arm"] == b])
    signed = rate_differences(left["graded"], left["n"], right["graded"], right["n"])
    deltas = estimates(right, 1) - estimates(left, 1)
    clusters = left[settings.column].tolist()
    seed = derive(settings.seed, "stats", "signflip", a, b, *names)
    over_cases = sign_flip(signed, seed=seed)
    over_clusters = sign_flip(cluster_sums(signed, clusters), seed=seed)
    error = cluster_error(deltas, clusters)
    same = bool((left["n"].to_numpy() == right["n"].to_numpy()).all())
    before, after = left["graded"].to_numpy() > 0, right["graded"].to_numpy() > 0
    return {
        "a": a,
        "b": b,
        "cases": len(left),
        "delta": interval(left, deltas, settings, "delta", a, b, *names),
        "delta_over_all": float(np.mean(over_all(right) - over_all(left))),
        "samples": {"a": int(left["n"].sum()), "b": int(right["n"].sum())},
        "rollouts": {name: int((part["n"] + part["errors"]).sum()) for name, part in (("a", left), ("b", right))},
        "over_cases": asdict(over_cases),
        "over_clusters": asdict(over_clusters),
        "solved": {"up": int((after & ~before).sum()), "down": int((before & ~after).sum())} if same else None,
        "detectable": detectable(error, len(set(clusters)) - 1, alpha=settings.alpha / pairs, power=settings.power),
    }


def checkpoints(table: pd.DataFrame, settings: Settings) -> list[dict[str, Any]]:
    """Every pair of arms (`sft` among them) over all cases, Holm over the pairs beside both p-values, and by family.

    `claim` is true where the Holm-adjusted p over clusters is at most α.
    """
    pairs = list(combinations(ordered(table, settings), 2))
    rows = [compared(table, a, b, settings, pairs=len(pairs)) for a, b in pairs]
    for kind in ("over_cases", "over_clusters"):
        for row, p in zip(rows, holm([row[kind]["p"] for row in rows]), strict=True):
            row[kind]["p_holm"] = p
    for row, (a, b) in zip(rows, pairs, strict=True):
        both = table[table["arm"].isin([a, b])]
        row["families"] = {
            name: compared(part, a, b, settings, name) for name, part in groups_of(both, settings).items()
        }
        row["claim"] = row["over_clusters"]["p_holm"] <= settings.alpha
    return rows


def run_means(table: pd.DataFrame, settings: Settings) -> dict[str, list[float]]:
    """Graded pass@1 of each run (mean over cases, repetitions pooled), by arm."""
    means: dict[str, list[float]] = {arm: [] for arm in ordered(table, settings)}
    for _, part in table.groupby("run", sort=True):
        means[part["arm"].iloc[0]].append(float(np.mean(estimates(pool(part), 1))))
    return means


def recipe(table: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    """The run-level test of every pair of arms, and of the global null.

    The baseline takes part only where it was trained with several seeds. `possible` says whether the design could reach
    α at all after Holm; where it could not, `claim` is false whatever the data.
    """
    means = run_means(table, settings)
    tested = {arm: runs for arm, runs in means.items() if arm != BASE_ARM or len(runs) > 1}
    pairs = list(combinations(tested, 2))
    spread, freedom = run_spread(list(tested.values()))
    raw = [permutation_p(tested[a], tested[b]) for a, b in pairs]
    rows = [
        pair_of_runs(tested, a, b, p, adjusted, len(pairs), (spread, freedom), settings)
        for (a, b), p, adjusted in zip(pairs, raw, holm(raw), strict=True)
    ]
    return {
        "run_means": means,
        "baseline_tested": BASE_ARM in tested,
        "conditional_on_one_sft": BASE_ARM not in tested,
        "pairs": rows,
        "run_spread": spread,
        "freedom": freedom,
        "max_t": asdict(max_t(tested, seed=derive(settings.seed, "stats", "max-t"))) if len(tested) > 1 else None,
        "runs_needed": runs_needed(alpha=settings.alpha, pairs=len(pairs)) if pairs else None,
    }


def pair_of_runs(
    means: Mapping[str, list[float]],
    a: str,
    b: str,
    p: float,
    adjusted: float,
    pairs: int,
    spread: tuple[float | None, int],
    settings: Settings,
) -> dict[str, Any]:
    """One pair of the run-level test, with what the design could and could not have shown."""
    runs_a, runs_b = len(means[a]), len(means[b])
    least = smallest_p(runs_a, runs_b)
    possible = attainable(runs_a, runs_b, alpha=settings.alpha, pairs=pairs)
    return {
        "a": a,
        "b": b,
        "runs": [runs_a, runs_b],
        "delta": float(np.mean(means[b]) - np.mean(means[a])),
        "p": p,
        "p_holm": adjusted,
        "smallest_p": least,
        "smallest_p_holm": min(1.0, least * pairs),
        "possible": possible,
        "claim": possible and adjusted <= settings.alpha,
        "detectable": detectable_between_runs(
            *spread, runs_a, runs_b, alpha=settings.alpha, pairs=pairs, power=settings.power
        ),
    }
