"""Reward against grade: does a shape rank the rollouts of a group as their grades do?

GRPO compares rollouts inside a group and nowhere else, so only pairs of one group count: a graded rollout and one that
is not. A pair is right if the graded one is paid more, tied within 1e-9, inverted if it is paid less.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tiebreak.audits.stored import PLACE
from tiebreak.audits.ties import TOLERANCE
from tiebreak.seeds import derive
from tiebreak.stats.bootstrap import DRAWS, cluster_interval

GROUP = [name for name in PLACE if name != "sample"]
PAIRS = ["pairs", "right", "tied", "inverted"]
EVERY = "(all)"
COLUMNS = "source arm shape own groups mixed pairs right tied inverted somers_d low high auc templates".split()


def pairs_by_group(groups: npt.ArrayLike, rewards: npt.ArrayLike, graded: npt.ArrayLike) -> pd.DataFrame:
    """One row a group: PAIRS as counts. The three run in parallel, one entry a rollout; groups are 0, 1, 2, ….

    Cost: one sort. Rewards that follow each other within 1e-9 are one level, as in a tied group.
    """
    code, reward = np.asarray(groups, dtype=np.int64), np.asarray(rewards, dtype=float)
    order = np.lexsort((reward, code))
    code, reward, good = code[order], reward[order], np.asarray(graded, dtype=bool)[order]
    starts = np.ones(len(code), dtype=bool)
    starts[1:] = (np.diff(code) != 0) | (np.diff(reward) >= TOLERANCE)
    level = np.cumsum(starts) - 1
    above, below = np.bincount(level, weights=good), np.bincount(level, weights=~good)
    owner = code[starts]
    total = int(code.max()) + 1 if len(code) else 0
    first = np.searchsorted(owner, owner)
    before = np.cumsum(below) - below
    right = np.bincount(owner, above * (before - before[first]), minlength=total)
    tied = np.bincount(owner, above * below, minlength=total)
    pairs = np.bincount(owner, above, minlength=total) * np.bincount(owner, below, minlength=total)
    found = {"pairs": pairs, "right": right, "tied": tied, "inverted": pairs - right - tied}
    return pd.DataFrame(found).astype("int64")


def somers_d(table: pd.DataFrame) -> pd.Series:
    """(right − inverted) / pairs of rows with pairs: 1 ranks as the grade does, 0 as chance, −1 the other way round.

    Somers (1962), American Sociological Review 27: D of the reward, given the grade; the AUC is (D + 1) / 2.
    """
    return (table["right"] - table["inverted"]) / table["pairs"]


def ranking(
    rollouts: pd.DataFrame, shapes: Sequence[str], *, seed: int, confidence: float = 0.95, draws: int = DRAWS
) -> pd.DataFrame:
    """COLUMNS for each source, arm and shape: `own` where the arm was trained for it, `(all)` for all arms together.

    mixed: groups with both a graded rollout and one that is not, of `groups`. D is over all pairs of mixed groups, its
    interval a cluster bootstrap over templates; nothing stands there where no group is mixed.
    """
    ended = rollouts[rollouts["stop"] != "error"]
    rows = []
    for source, arm, shape, part, column in selections(ended, shapes):
        scored = part[part[column].notna()]
        if scored.empty:
            continue
        names = derive(seed, "audits", "ranking", source, arm, shape)
        found = estimate(scored, column, names, confidence, draws)
        rows.append({"source": source, "arm": arm, "shape": shape, "own": arm == shape, **found})
    return pd.DataFrame(rows, columns=COLUMNS)


def selections(ended: pd.DataFrame, shapes: Sequence[str]) -> Iterator[tuple[str, str, str, pd.DataFrame, str]]:
    """(source, arm, shape, rollouts, column of the rewards): recomputed rewards where they are, else the stored one."""
    for source, of_source in ended.groupby("source", observed=True):
        whole = [(EVERY, of_source), *of_source.groupby("arm", observed=True)]
        for arm, part in whole:
            scored = {shape: f"reward.{shape}" for shape in shapes}
            columns = {shape: name for shape, name in scored.items() if name in part and part[name].notna().any()}
            if arm not in columns and arm != EVERY:
                columns[str(arm)] = "reward"
            for shape, column in columns.items():
                yield str(source), str(arm), shape, part, column


def estimate(scored: pd.DataFrame, column: str, seed: int, confidence: float, draws: int) -> dict[str, Any]:
    """The counts over groups and pairs, and Somers' D with its interval."""
    code = scored.groupby(GROUP, observed=True, dropna=False, sort=False).ngroup().to_numpy()
    table = pairs_by_group(code, scored[column].to_numpy(), scored["graded"].eq(True).to_numpy())
    table["template"] = scored["template"].astype(str).to_numpy()[np.unique(code, return_index=True)[1]]
    mixed = table[table["pairs"] > 0]
    counts = {"groups": len(table), "mixed": len(mixed), **{name: int(mixed[name].sum()) for name in PAIRS}}
    if mixed.empty:
        return counts | dict.fromkeys(("somers_d", "low", "high", "auc")) | {"templates": 0}
    held = cluster_interval(
        somers_d(mixed).to_numpy(),
        mixed["template"].tolist(),
        weights=mixed["pairs"].to_numpy(),
        seed=seed,
        confidence=confidence,
        draws=draws,
    )
    level = {"somers_d": held.value, "low": held.low, "high": held.high, "auc": (held.value + 1) / 2}
    return counts | level | {"templates": held.clusters}
