"""The analysis of a study: one JSON-ready dict from which the report, the tables and every claim are drawn.

Keys: version, settings, sizes, stopped, arms (see `arms.summarize`), checkpoints and recipe (see `pairs`), noise,
variance, what_if (see `designs`), bands, learning (None without a probe), statements {about, text} and sentences (what
can and cannot be said, in words; the same lines). Rates are fractions of samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from tiebreak.errors import ConfigError, DataError
from tiebreak.stats.arms import Settings, summarize
from tiebreak.stats.bands import bands
from tiebreak.stats.bootstrap import DRAWS
from tiebreak.stats.counts import check
from tiebreak.stats.designs import what_if
from tiebreak.stats.learning import learning
from tiebreak.stats.noise import floor
from tiebreak.stats.pairs import checkpoints, ordered, recipe
from tiebreak.stats.sentences import statements
from tiebreak.stats.variance import components

VERSION = 1
CLUSTERS = ("case", "template", "family")


def settings_of(
    *,
    alpha: float,
    cluster: str,
    k: int,
    seed: int,
    draws: int = DRAWS,
    power: float = 0.8,
    strata: Mapping[str, Sequence[str]] | None = None,
    arms: Sequence[str] = (),
) -> Settings:
    """Checked settings; raises ConfigError for values that no analysis can use."""
    if not 0 < alpha < 1:
        raise ConfigError(f"statistics.alpha is {alpha}; a number between 0 and 1 is expected, as in 0.05")
    if cluster not in CLUSTERS:
        raise ConfigError(f"statistics.cluster is {cluster!r}; one of {', '.join(CLUSTERS)} is expected")
    if k < 1:
        raise ConfigError(f"evaluation.k is {k}; at least 1 is expected")
    return Settings(alpha, cluster, k, seed, draws, power, strata, tuple(arms))


def sizes(table: pd.DataFrame) -> dict[str, int]:
    """How much was measured."""
    return {
        "cases": int(table["case_id"].nunique()),
        "templates": int(table["template"].nunique()),
        "families": int(table["family"].nunique()),
        "arms": int(table["arm"].nunique()),
        "runs": int(table["run"].nunique()),
        "repetitions": int(table["repetition"].nunique()),
        "samples": int(table["n"].sum()),
        "errors": int(table["errors"].sum()),
        "rollouts": int(table["n"].sum() + table["errors"].sum()),
    }


def analyse(
    counts: pd.DataFrame,
    *,
    alpha: float,
    cluster: str,
    k: int,
    seed: int,
    probe: pd.DataFrame | None = None,
    stopped: Mapping[str, str] | None = None,
    strata: Mapping[str, Sequence[str]] | None = None,
    arms: Sequence[str] = (),
    draws: int = DRAWS,
    power: float = 0.8,
) -> dict[str, Any]:
    """Everything the study can say.

    counts: the table of `stats.counts`; probe: the same for the probe's rollouts, `sft` among them.
    stopped: the reason of each run that has no rollouts; listed, and counted nowhere.
    strata: further names for groups of families (`{"patch": ["patch_test_pass", …]}`), reported beside the families.
    arms: the order of the study file; a pair is the later arm against the earlier one, `sft` first.
    Raises DataError for tables that no comparison may be drawn from, ConfigError for impossible settings.
    """
    settings = settings_of(
        alpha=alpha, cluster=cluster, k=k, seed=seed, draws=draws, power=power, strata=strata, arms=arms
    )
    table = check(counts)
    if table.empty:
        raise DataError("no rollouts at all: every run was stopped, or the evaluations are empty")
    stopped = dict(sorted((stopped or {}).items()))
    both = sorted(set(stopped) & set(table["run"]))
    if both:
        raise DataError(f"run {both[0]} is listed as stopped ({stopped[both[0]]}) and has rollouts; one must be wrong")
    order, parts = ordered(table, settings), components(table)
    analysis: dict[str, Any] = {
        "version": VERSION,
        "settings": {
            **asdict(settings),
            "strata": {name: list(part) for name, part in (strata or {}).items()},
            "arms": list(arms),
        },
        "sizes": sizes(table),
        "stopped": [{"run": run, "reason": reason.removeprefix(f"{run}: ")} for run, reason in stopped.items()],
        "arms": {arm: summarize(table[table["arm"] == arm], settings) for arm in order},
        "checkpoints": checkpoints(table, settings),
        "recipe": recipe(table, settings),
        "noise": {"graded": floor(table), "valid": floor(table, "valid")},
        "variance": asdict(parts) | {"negative": list(parts.negative)},
        "what_if": what_if(table, parts, settings),
        "bands": bands(table, order, settings),
        "learning": learning(probe, settings) if probe is not None and len(probe) else None,
    }
    analysis["statements"] = statements(analysis)
    analysis["sentences"] = [statement["text"] for statement in analysis["statements"]]
    return analysis
