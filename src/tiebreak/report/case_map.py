"""Who flipped: every case under every arm, beside the arm that trains no further."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from tiebreak.report.drawing import beside, canvas, named_rows

FALL, LEVEL, RISE = "#D55E00", "#f4f4f0", "#0072B2"
FULL = 0.5
CHANGES = LinearSegmentedColormap.from_list("changes", [FALL, LEVEL, RISE])
RATES = LinearSegmentedColormap.from_list("rates", ["#f4f4f0", "#4a4f55"])


def cases(counts: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """One row a (case, arm): graded samples of n, all runs and repetitions pooled, and the change against `base`.

    counts: the table of `stats.counts`; order: the arms, the first of which the others are held against (it has no
    change). Cases by the first arm's rate, highest first, then by name.
    """
    pooled = counts.groupby(["case_id", "arm"])[["graded", "n", "errors"]].sum()
    labels = counts.groupby("case_id")[["family", "template"]].first()
    rates = (pooled["graded"] / pooled["n"].where(pooled["n"] > 0)).unstack("arm")
    sequence = rates[order[0]].fillna(-1).sort_index().sort_values(ascending=False, kind="stable").index
    rows = [
        {
            "case_id": case,
            **labels.loc[case].to_dict(),
            "arm": arm,
            **{name: int(pooled.loc[(case, arm), name]) for name in ("graded", "n", "errors")},
            "rate": float(rates.loc[case, arm]),
            "change": None if arm == order[0] else float(rates.loc[case, arm] - rates.loc[case, order[0]]),
        }
        for case in sequence
        for arm in order
    ]
    columns = ["case_id", "family", "template", "arm", "graded", "n", "errors", "rate", "change"]
    return pd.DataFrame(rows, columns=columns)


def moves(counts: pd.DataFrame, frame: pd.DataFrame, order: Sequence[str], noise: Mapping[str, Any]) -> pd.DataFrame:
    """One row an arm against the first: cases whose rate rose or fell, and flips of one evaluation against another.

    gained, lost: cases solved (at least one graded sample) by one repetition of a run of the arm and not by the same
    repetition of the first arm, and the other way round; means over runs and repetitions. noise_flips: `stats.noise`,
    the same number between two repetitions of one checkpoint; None with one repetition.
    """
    rows = []
    for arm in order[1:]:
        change = frame.loc[frame["arm"] == arm, "change"].astype(float)
        gained, lost = flips(counts, order[0], arm)
        rows.append(
            {
                "base": order[0],
                "arm": arm,
                "cases": len(change),
                "up": int((change > 0).sum()),
                "down": int((change < 0).sum()),
                "gained": gained,
                "lost": lost,
                "flips": None if gained is None or lost is None else gained + lost,
                "noise_flips": noise["mean_flips"],
            }
        )
    return pd.DataFrame(rows, columns=["base", "arm", "cases", "up", "down", "gained", "lost", "flips", "noise_flips"])


def flips(counts: pd.DataFrame, base: str, arm: str) -> tuple[float | None, float | None]:
    """Mean numbers of cases gained and lost between a run of `base` and one of `arm`, in the same repetition."""
    solved = {
        name: counts[counts["arm"] == name].pivot(index="case_id", columns=["run", "repetition"], values="graded") > 0
        for name in (base, arm)
    }
    pairs = [
        (solved[base][first], solved[arm][second])
        for first in solved[base].columns
        for second in solved[arm].columns
        if first[1] == second[1]
    ]
    if not pairs:
        return None, None
    gained = np.mean([(after & ~before).sum() for before, after in pairs])
    return float(gained), float(np.mean([(before & ~after).sum() for before, after in pairs]))


def draw(frame: pd.DataFrame, moved: pd.DataFrame) -> Figure:
    """The map: a column a case; above the first arm's rate, below each arm's change against it."""
    arms = list(dict.fromkeys(frame["arm"]))
    count = frame["case_id"].nunique()
    figure, (top, axis) = canvas(2, 1.2 + 0.3 * len(arms), [1, max(1, len(arms) - 1)])
    wide = {name: frame.pivot(index="arm", columns="case_id", values=name) for name in ("rate", "change")}
    columns = list(dict.fromkeys(frame["case_id"]))
    edges = np.arange(count + 1)
    first = wide["rate"].loc[[arms[0]], columns].astype(float)
    top.pcolormesh(edges, [-0.45, 0.45], first, cmap=RATES, vmin=0, vmax=1)
    named_rows(top, [arms[0]])
    top.set_title(f"graded rate of each case under {arms[0]}")
    for y, arm in enumerate(arms[1:]):
        values = wide["change"].loc[[arm], columns].astype(float)
        axis.pcolormesh(edges, [y - 0.42, y + 0.42], values, cmap=CHANGES, vmin=-FULL, vmax=FULL)
        row = moved[moved["arm"] == arm].iloc[0]
        beside(axis, y, f"{row['up']} up", f"{row['down']} down")
    named_rows(axis, arms[1:])
    axis.set_title(f"change against {arms[0]}: blue up, orange down, full colour from {FULL}")
    for one in (top, axis):
        one.grid(False)
        one.set_xlim(0, count)
    top.set_xticks([])
    axis.set_xlabel(f"cases, by their rate under {arms[0]}")
    return figure


def table(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry a case for the page: its labels, and each arm's counts and change in the order of the arms."""
    return [
        {"case_id": case, "family": part["family"].iloc[0], "template": part["template"].iloc[0],
         "arms": part[["arm", "graded", "n", "change"]].to_dict("records")}
        for case, part in frame.groupby("case_id", sort=False)
    ]  # fmt: skip
