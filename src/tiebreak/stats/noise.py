"""The noise floor: how many cases change between two repetitions of one and the same checkpoint?"""

from itertools import combinations
from typing import Any

import pandas as pd
from scipy.stats import binom

CHANCE = 0.95


def flips(table: pd.DataFrame, outcome: str = "graded") -> list[dict[str, Any]]:
    """For each run and each pair of its repetitions: cases solved (at least one sample) in one and not in the other.

    table: counts. `up` are solved in the second only, `down` in the first only; `flips` are both, `flip_rate` their
    share of the cases; `difference` is that of pass@1.
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
                    "flip_rate": float((before != after).mean()),
                    "difference": float((rates[second] - rates[first]).mean()),
                }
            )
    return rows


def floor(table: pd.DataFrame, outcome: str = "graded") -> dict[str, Any]:
    """All pairs of repetitions, and over them the mean and the largest number of flips and of net change.

    The means are None where no run has two repetitions. `net_by_chance`: see there, at the mean number of flips.
    """
    pairs = flips(table, outcome)
    mean = sum(pair["flips"] for pair in pairs) / len(pairs) if pairs else None
    net = [abs(pair["up"] - pair["down"]) for pair in pairs]
    shifts = [abs(pair["difference"]) for pair in pairs]
    return {
        "outcome": outcome,
        "pairs": pairs,
        "cases": pairs[0]["cases"] if pairs else None,
        "mean_flips": mean,
        "flip_rate": sum(pair["flip_rate"] for pair in pairs) / len(pairs) if pairs else None,
        "net_by_chance": None if mean is None else net_by_chance(round(mean)),
        "most_flips": max((pair["flips"] for pair in pairs), default=None),
        "most_net": max(net, default=None),
        "largest_difference": max(shifts, default=None),
    }


def net_by_chance(flips: int) -> int:
    """The net change of solved cases that `flips` cases, each up or down by a fair coin, stay within in 95 % of draws.

    A difference between two single evaluations has to be larger to be more than what repetitions differ by anyway.
    """
    return int(2 * binom.ppf((1 + CHANCE) / 2, flips, 0.5) - flips) if flips else 0
