"""The learning probe: did training move the policy on its own prompts?

A fixed set of training prompts, sampled with the same seeds before (`sft`) and after (a run). Reward per step cannot
tell, since it follows which prompts a batch held.
"""

from typing import Any

import numpy as np
import pandas as pd

from tiebreak.errors import DataError
from tiebreak.paths import BASE_ARM
from tiebreak.seeds import derive
from tiebreak.stats.arms import Settings, estimates, interval, pool
from tiebreak.stats.bootstrap import cluster_interval
from tiebreak.stats.counts import check
from tiebreak.stats.pairs import ordered
from tiebreak.stats.signflip import cluster_sums, rate_differences, sign_flip


def gain(before: pd.DataFrame, after: pd.DataFrame, settings: Settings, *names: str) -> dict[str, Any]:
    """The paired gain in graded pass@1 over the probe's prompts.

    `gain` has the interval over the study's clusters and `excludes_zero` refers to it; `over_prompts` resamples prompts
    alone (the probe's prompts are fixed, so it answers for them); p and p_clusters are sign flips over prompts and over
    clusters.
    """
    left, right = pool(before), pool(after)
    deltas = estimates(right, 1) - estimates(left, 1)
    seed = derive(settings.seed, "stats", "learning", *names)
    whole = interval(left, deltas, settings, "learning", *names)
    ids = left["case_id"].tolist()
    prompts = cluster_interval(deltas, ids, seed=seed, confidence=1 - settings.alpha, draws=settings.draws)
    signed = rate_differences(left["graded"], left["n"], right["graded"], right["n"])
    return {
        "prompts": len(left),
        "before": float(np.mean(estimates(left, 1))),
        "after": float(np.mean(estimates(right, 1))),
        "valid_before": float(left["valid"].sum() / left["n"].sum()),
        "valid_after": float(right["valid"].sum() / right["n"].sum()),
        "gain": whole,
        "over_prompts": {"low": prompts.low, "high": prompts.high},
        "p": sign_flip(signed, seed=seed).p,
        "p_clusters": sign_flip(cluster_sums(signed, left[settings.column].tolist()), seed=seed).p,
        "excludes_zero": whole["low"] is not None and (whole["low"] > 0 or whole["high"] < 0),
        "errors": int(left["errors"].sum() + right["errors"].sum()),
    }


def learning(probe: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    """The gain of each run and of each arm (its runs pooled) over the baseline's probe.

    probe: counts of the probe rollouts, the baseline among them. Raises DataError where it is not.
    """
    table = check(probe)
    before = table[table["arm"] == BASE_ARM]
    if before.empty:
        raise DataError(f"the probe has no rollouts of {BASE_ARM!r}; without them there is no before")
    rest = table[table["arm"] != BASE_ARM]
    return {
        "runs": {
            str(run): {"arm": str(part["arm"].iloc[0]), **gain(before, part, settings, str(run))}
            for run, part in rest.groupby("run", sort=True)
        },
        "arms": {arm: gain(before, rest[rest["arm"] == arm], settings, "arm", arm) for arm in ordered(rest, settings)},
    }
