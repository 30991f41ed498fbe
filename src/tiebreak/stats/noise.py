"""The noise floor: how many cases change between two repetitions of one and the same checkpoint?"""

from itertools import combinations
from typing import Any

import pandas as pd


def flips(table: pd.DataFrame, outcome: str = "graded") -> list[dict[str, Any]]:
    """For each run and each pair of its repetitions: cases solved (at least one sample) in one and not in the other.

    table: counts. `up` are solved in the second only, `down` in the first only; `difference` is that of pass@1.
    """
    rows = []
    for run, part in table.groupby("run", sort=True):
        solved = part.pivot(index="case_id", columns="repetition", values=outcome)
        rates = solved / part.pivot(index="case_id", columns="repetition", values="n")
        for first, second in combinations(sorted(solved.columns), 2):
            before, after = solved[first] > 0, solved[second] > 0
            rows.append(
                {
                    "run": str(run),
                    "first": int(first),
                    "second": int(second),
                    "cases": len(solved),
                    "up": int((after & ~before).sum()),
                    "down": int((before & ~after).sum()),
                    "flips": int((before != after).sum()),
                    "difference": float((rates[second] - rates[first]).mean()),
                }
            )
    return rows


def floor(table: pd.DataFrame, outcome: str = "graded") -> dict[str, Any]:
    """All pairs of repetitions, and over them the mean and the largest number of flips and of net change.

    The means are None where no run has two repetitions.
    """
    pairs = flips(table, outcome)
    net = [abs(pair["up"] - pair["down"]) for pair in pairs]
    shifts = [abs(pair["difference"]) for pair in pairs]
    return {
        "outcome": outcome,
        "pairs": pairs,
        "cases": pairs[0]["cases"] if pairs else None,
        "mean_flips": sum(pair["flips"] for pair in pairs) / len(pairs) if pairs else None,
        "most_flips": max((pair["flips"] for pair in pairs), default=None),
        "most_net": max(net, default=None),
        "largest_difference": max(shifts, default=None),
    }
