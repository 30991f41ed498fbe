"""What tasks took and where they were solved: by kind and size of the task, and over budgets of calls.

Only for domains that count something (`Domain.counted`). Rollouts that ended in an infrastructure error are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from tiebreak.stats.arms import Settings, interval
from tiebreak.stats.counts import run_of
from tiebreak.tables import read_table

CORE = ["case_id", "family", "template", "arm", "training_seed", "repetition", "stop", "graded"]
BUDGET, CALLS = "most_calls", "calls"
"""The facts that a domain with budgets of calls has: the budget of a rollout, and the calls that were executed."""


def rollouts(paths: Iterable[Path], counted: Sequence[str], size: str | None) -> pd.DataFrame:
    """One row a rollout of these tables: CORE, its run, what is counted of it, and the band of its task's size."""
    names = [*counted, *([size] if size else [])]
    frames = [one_table(path, names) for path in paths]
    filled = [frame for frame in frames if len(frame)]
    frame = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=[*CORE, *names])
    frame = frame[frame["stop"] != "error"].astype({"graded": bool})
    return frame.assign(
        run=[
            run_of(arm, None if pd.isna(seed) else int(seed))
            for arm, seed in zip(frame["arm"], frame["training_seed"], strict=True)
        ],
        **({"size": frame[size].map(band)} if size else {}),
    )


def tables(
    evaluated: Iterable[Path],
    limited: Sequence[Path],
    analysis: Mapping[str, Any],
    counted: Sequence[str],
    size: str | None,
) -> dict[str, pd.DataFrame]:
    """The tables of the report: `tasks`, `figure_sizes` and `figure_budgets` where there are such.

    evaluated: rollouts of all evaluations; limited: those under other budgets of calls, which share their seeds with
    repetition 0; counted, size: of the domain. None of them for a domain that counts nothing.
    """
    if not counted:
        return {}
    settings, arms = Settings(**analysis["settings"]), list(analysis["arms"])
    frame = rollouts(evaluated, counted, size)
    found = {"tasks": tasks(frame, arms, counted)}
    found |= {"figure_sizes": sizes(frame, arms, settings)} if size else {}
    if limited:
        within = pd.concat([rollouts(limited, [CALLS, BUDGET], None), rollouts(evaluated, [CALLS, BUDGET], None)])
        found["figure_budgets"] = budgets(within[within["repetition"] == 0], arms, settings)
    return found


def one_table(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """The columns of one table of rollouts, facts of these names beside CORE."""
    table = read_table(path, [*CORE, "facts"])
    frame: pd.DataFrame = table.select(CORE).to_pandas()
    return frame.assign(**{name: pc.struct_field(table["facts"], name).to_pandas() for name in names})


def band(size: int) -> str:
    """The power of two and the next that a size lies between, as a label that sorts where sizes have one length."""
    low = 1 << (max(1, int(size)).bit_length() - 1)
    return f"{low} to {2 * low - 1}"


def in_order(labels: Iterable[str]) -> list[str]:
    """Bands from the smallest."""
    return sorted(set(labels), key=lambda label: int(label.split(" ")[0]))


def level(part: pd.DataFrame, settings: Settings, *names: str) -> dict[str, Any]:
    """Graded rollouts of `part` and their rate with its cluster bootstrap interval, each case counting the same."""
    cases = (
        part.groupby("case_id", sort=True)
        .agg(template=("template", "first"), family=("family", "first"), rate=("graded", "mean"))
        .reset_index()
    )
    found = interval(cases, cases["rate"].to_numpy(dtype=float), settings, "effort", *names)
    bounds = {name: found[name] for name in ("value", "low", "high")}
    return {"cases": len(cases), "samples": len(part), "graded": int(part["graded"].sum()), **bounds}


def sizes(frame: pd.DataFrame, arms: Sequence[str], settings: Settings) -> pd.DataFrame:
    """Graded pass@1 by size of the task, a row an arm and a band."""
    rows = [
        {"size": size, "arm": arm, **level(part, settings, arm, size)}
        for size in in_order(frame["size"])
        for arm in arms
        if len(part := frame[(frame["size"] == size) & (frame["arm"] == arm)])
    ]
    return pd.DataFrame(rows)


def tasks(frame: pd.DataFrame, arms: Sequence[str], counted: Sequence[str]) -> pd.DataFrame:
    """A row an arm, kind and size (where tasks have one): rollouts, graded ones, means a rollout of what is counted."""
    keys = ["arm", "family", *(["size"] if "size" in frame else [])]
    rows: list[dict[str, Any]] = []
    for key, part in frame.groupby(keys, sort=True):
        means = {name: float(part[name].mean()) for name in counted}
        rows.append(
            dict(zip(keys, map(str, key), strict=True))
            | {"cases": part["case_id"].nunique(), "rollouts": len(part), "graded": int(part["graded"].sum())}
            | {"graded_rate": float(part["graded"].mean())}
            | means
        )
    places = [*arms, *(in_order(frame["size"]) if "size" in frame else [])]
    order = {name: place for place, name in enumerate(places)}
    rows.sort(key=lambda row: (order[row["arm"]], row["family"], order.get(row.get("size", ""), 0)))
    return pd.DataFrame(rows)


def budgets(frame: pd.DataFrame, arms: Sequence[str], settings: Settings) -> pd.DataFrame:
    """A row an arm and budget of calls: mean executed calls a rollout, graded pass@1 with its interval.

    `front` says whether no other row has at most its calls and at least its accuracy, one of them better.
    """
    rows = [
        {
            "arm": arm,
            "budget": int(str(budget)),
            "calls": float(part[CALLS].mean()),
            **level(part, settings, arm, f"calls{budget}"),
        }
        for arm in arms
        for budget, part in frame[frame["arm"] == arm].groupby(BUDGET, sort=True)
    ]
    return pd.DataFrame([{**row, "front": on_front(row, rows)} for row in rows])


def on_front(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no row is better in calls or accuracy and worse in neither."""
    return not any(
        other["calls"] <= row["calls"]
        and other["value"] >= row["value"]
        and (other["calls"] < row["calls"] or other["value"] > row["value"])
        for other in rows
    )
