"""The tables of the published glyph study, from its dataset's layout: as it computed them, and exactly.

Their way (analysis/retained_run_stats.py and pooled_band_analysis.py of github.com/JayZenith/GLYPH): 20,000 sign
assignments from Python's Mersenne Twister with seed 0, cases in the order of their names, p = hits / draws; families by
name patterns. Ours: the same statistics, every assignment counted.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.stats.bands import BANDS, banded
from tiebreak.stats.clusters import Clusters, Patterns, by_name
from tiebreak.stats.passk import Integers
from tiebreak.stats.published_layout import Arms, Repetition, find, missing
from tiebreak.stats.signflip import cluster_sums, rate_differences, sign_flip

DRAWS = 20_000
SEED = 0
PAIRS = (("sft", "dense"), ("sft", "sparse"), ("sft", "compiler"), ("dense", "compiler"))
# The families that the published analysis guessed from the names of its cases, in its order.
PATTERNS: Patterns = (
    ("config_merge", "config|layered|profile_override|flags_cli|merge_layers"),
    ("enum_dispatch", "dispatch|shipping|router|route_|enum_|policy_"),
    ("ranking", "rank|leaderboard|league_table"),
    ("record_parser", "record|csv|key_value"),
    ("report_summary", "department|weekly_sales|daily_sales|region_summary|category_summary"),
    ("state_transition", "ticket|workflow|account_freeze"),
    ("booking", "booking"),
    ("filter_collect", "collect|filter_map|select_|extract_tags|eligible_"),
)


def monte_carlo(signed: Integers, draws: int = DRAWS, seed: int = SEED) -> float:
    """p of the sign flip by `draws` assignments, the very ones that a loop over `random.Random(seed)` makes.

    Zeros take their draw as well. The estimate is hits / draws, which can be 0; its standard error is sqrt(p(1 −
    p)/draws).
    """
    state = random.Random(seed).getstate()[1]
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.asarray(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    heads = twister.random_sample((draws, len(signed))) < 0.5
    sums = np.where(heads, signed, -signed).sum(axis=1)
    return float((np.abs(sums) >= abs(int(signed.sum()))).mean())


def both_ways(signed: Integers, clusters: Clusters, *, theirs: bool = True) -> dict[str, Any]:
    """The same differences tested their way and ours, over cases and over families."""
    sums = cluster_sums(signed, clusters.labels or [])
    ours = {"over_cases": asdict(sign_flip(signed)), "over_clusters": asdict(sign_flip(sums))}
    if not theirs:
        return {"theirs": None, "ours": ours}
    drawn = {"p_cases": monte_carlo(signed), "p_clusters": monte_carlo(sums), "draws": DRAWS, "clusters": len(sums)}
    return {"theirs": drawn, "ours": ours}


def table(folder: Path, patterns: Patterns = PATTERNS, source: str = "the published name patterns") -> dict[str, Any]:
    """The published tables of the evaluations below a folder, JSON-ready. Raises DataError as `find` does."""
    found = find(folder)
    arms = found.arms
    first = next(iter(arms.values()))[0]
    names = first.valid.index.tolist()
    clusters = by_name(names, patterns, source)
    pairs = [pair for pair in PAIRS if set(pair) <= set(arms)] if found.published else list(combinations(arms, 2))
    return {
        "cases": len(names),
        "k": first.file.k,
        "clusters": {"source": clusters.source, "count": clusters.count},
        "arms": {arm: [level(repetition) for repetition in repetitions] for arm, repetitions in arms.items()},
        "pairs": [solved(arms[a][0], arms[b][0], clusters) for a, b in pairs],
        "repetitions": [
            solved(x, y, clusters) for repetitions in arms.values() for x, y in combinations(repetitions, 2)
        ],
        "pooled": [pooled(arms[a], arms[b], clusters) for a, b in pairs],
        "bands": [by_band(arms[a], arms[b]) for a, b in pairs if a == pairs[0][0] and len(arms[a]) > 1],
        "missing": missing(arms) if found.published else [],
        "notes": notes(arms),
    }


def level(repetition: Repetition) -> dict[str, Any]:
    """valid@k and pass@1 of one repetition."""
    valid, k = repetition.valid, repetition.file.k
    return {
        "repetition": repetition.name,
        "file": str(repetition.file.path),
        "retained": repetition.file.retained,
        "solved": int((valid > 0).sum()),
        "pass_at_1": float(valid.mean() / k),
    }


def solved(x: Repetition, y: Repetition, clusters: Clusters) -> dict[str, Any]:
    """Repetition y against x in cases with at least one valid rollout."""
    signed = (y.valid > 0).to_numpy().astype(np.int64) - (x.valid > 0).to_numpy().astype(np.int64)
    return {
        "a": x.arm,
        "b": y.arm,
        "repetitions": [x.name, y.name],
        "delta": int(signed.sum()),
        "up": int((signed > 0).sum()),
        "down": int((signed < 0).sum()),
        **both_ways(signed, clusters),
    }


def total(repetitions: Sequence[Repetition]) -> Integers:
    """Valid rollouts of each case, summed over repetitions."""
    return np.sum([repetition.valid.to_numpy() for repetition in repetitions], axis=0).astype(np.int64)


def pooled(a: Sequence[Repetition], b: Sequence[Repetition], clusters: Clusters) -> dict[str, Any]:
    """Arm b against a in pass@1, all repetitions pooled. Their way knows only arms with equally many."""
    k = a[0].file.k
    left, right = (total(part) for part in (a, b))
    sizes = [np.full(len(left), k * len(part)) for part in (a, b)]
    signed = rate_differences(left, sizes[0], right, sizes[1])
    return {
        "a": a[0].arm,
        "b": b[0].arm,
        "repetitions": [len(a), len(b)],
        "delta": float((right / sizes[1] - left / sizes[0]).mean()),
        **both_ways(signed, clusters, theirs=len(a) == len(b)),
    }


def by_band(a: Sequence[Repetition], b: Sequence[Repetition]) -> dict[str, Any]:
    """Arm b, all repetitions, against a, all but its first, in bands of a's first repetition: as it was published.

    Arms share whatever luck equal seeds give; ours (`bands`) leaves the banding repetition out of both.
    """
    k = a[0].file.k
    bands = np.asarray(banded(a[0].valid, np.full(len(a[0].valid), k)))
    change = total(b) / (k * len(b)) - total(a[1:]) / (k * (len(a) - 1))
    rows = [{"band": name, "cases": int((bands == name).sum())} for name in BANDS if (bands == name).any()]
    return {
        "a": a[0].arm,
        "b": b[0].arm,
        "bands": [row | {"delta": float(change[bands == row["band"]].mean())} for row in rows],
    }


def notes(arms: Arms) -> list[str]:
    """What a reader has to know beside the numbers."""
    counted = [
        f"{arm} {repetition.name}"
        for arm, repetitions in arms.items()
        for repetition in repetitions
        if not repetition.file.retained
    ]
    lines = [
        "the published repetitions shared one sampling seed: they differ by what the machine did, and are no "
        "independent samples",
        "each arm was trained once: whatever p, nothing can be said about a reward shape (one run an arm cannot give p "
        "under 1)",
    ]
    if counted:
        lines.append(f"counts only, no rollouts to look at again: {', '.join(counted)}")
    files = [repetition.file for repetitions in arms.values() for repetition in repetitions]
    return [*lines, *(file.doubt for file in files if file.doubt)]
