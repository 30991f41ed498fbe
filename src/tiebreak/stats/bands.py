"""Difficulty bands: where, between never solved and always solved, did an arm move?

The bands come from one repetition of the reference arm, and the changes from the other repetitions of both arms. A band
that is taken from the same samples as its change shows regression to the mean and nothing else: the unlucky cases of
the lowest band rise, the lucky ones of the highest fall. The banding repetition is left out of the other arm as well,
since arms share their sampling seeds and with them a part of the luck.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tiebreak.errors import DataError
from tiebreak.paths import BASE_ARM
from tiebreak.stats.arms import Settings, estimates, interval, pool

# Upper ends of the share of solved samples; with 8 samples these are the published bands 0, 1–3, 4–6 and 7–8.
BANDS = {"never": 0.0, "low": 3 / 8, "middle": 6 / 8, "high": 1.0}


def banded(solved: npt.ArrayLike, samples: npt.ArrayLike) -> list[str]:
    """The band of each case by its share of solved samples."""
    names, ends = list(BANDS), np.asarray(list(BANDS.values()))
    shares = np.asarray(solved, dtype=float) / np.asarray(samples, dtype=float)
    return [names[int(place)] for place in np.searchsorted(ends, shares - 1e-12)]


def reference_of(table: pd.DataFrame, order: list[str]) -> str:
    """The arm that bands come from: the baseline, or the first arm where there is none."""
    present = set(table["arm"])
    return BASE_ARM if BASE_ARM in present else next(arm for arm in order if arm in present)


def bands(table: pd.DataFrame, order: list[str], settings: Settings) -> dict[str, Any]:
    """The change of each arm against the reference, band by band.

    table: counts; order: its arms as they are shown. `pairs` is empty, and `note` says why, where the reference has one
    repetition (its samples would band the cases and be compared), or where there is no other arm.
    """
    reference = reference_of(table, order)
    own = table[table["arm"] == reference]
    repetitions = sorted(set(own["repetition"]))
    found: dict[str, Any] = {"reference": reference, "repetition": int(repetitions[0]), "pairs": [], "note": ""}
    if len(repetitions) < 2:
        return found | {"note": f"{reference} has one repetition; bands need one and their changes another"}
    first, rest = table["repetition"] == repetitions[0], table[table["repetition"] != repetitions[0]]
    banding = pool(own[first.loc[own.index]])
    if (banding["n"] == 0).any():
        case = banding[banding["n"] == 0].iloc[0]["case_id"]
        return found | {"note": f"case {case} has no sample in repetition {repetitions[0]} of {reference}"}
    labels = banded(banding["graded"], banding["n"])
    present = [arm for arm in order if arm != reference and arm in set(rest["arm"])]
    try:
        found["pairs"] = [pair_by_band(rest, reference, arm, labels, settings) for arm in present]
    except DataError as error:  # all samples of a case were lost in these repetitions: no bands, and yet a study
        return found | {"note": f"without repetition {repetitions[0]}, {error}"}
    return found if present else found | {"note": "no other arm has a second repetition"}


def pair_by_band(rest: pd.DataFrame, a: str, b: str, labels: list[str], settings: Settings) -> dict[str, Any]:
    """Arm b against a in each band that has cases; `labels` are the bands of the cases, sorted by case."""
    left, right = pool(rest[rest["arm"] == a]), pool(rest[rest["arm"] == b])
    rows = []
    for name in BANDS:
        inside = np.asarray(labels) == name
        if inside.any():
            rows.append({"band": name, **change(left[inside], right[inside], settings, a, b, name)})
    return {"a": a, "b": b, "bands": rows}


def change(left: pd.DataFrame, right: pd.DataFrame, settings: Settings, *names: str) -> dict[str, Any]:
    """Cases, both pass@1 and the paired change with its interval, of pooled counts of the same cases."""
    before, after = estimates(left, 1), estimates(right, 1)
    return {
        "cases": len(left),
        "before": float(before.mean()),
        "after": float(after.mean()),
        "delta": interval(left, after - before, settings, "bands", *names),
    }
