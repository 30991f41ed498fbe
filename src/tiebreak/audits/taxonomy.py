"""Never solved, by evidence: how far the best rollout of a case came, where an arm's were never graded."""

from collections.abc import Sequence

import pandas as pd

COLUMNS = ["arm", "case_id", "family", "template", "samples", "reached", "at_it"]


def never_solved(rollouts: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """One row a case and arm without a graded rollout over all its evaluation samples (all runs and repetitions).

    samples: rollouts that did not end in an infrastructure error. reached: the furthest of `phases` (nearest first)
    that any of them reached; at_it: how many did. The last phase is a success, and called `<last>_not_graded` here.
    """
    ended = evaluated(rollouts)
    ended = ended.assign(
        rank=ended["reached"].astype(str).map({name: at for at, name in enumerate(phases)}),
        graded=ended["graded"].eq(True),
    )
    keys = ["arm", "case_id"]
    best = ended.groupby(keys, observed=True)["rank"].transform("max")
    ended = ended.assign(best=best, at_it=ended["rank"] == best)
    whole = ended.groupby(keys, observed=True).agg(
        family=("family", "first"),
        template=("template", "first"),
        samples=("rank", "size"),
        graded=("graded", "sum"),
        best=("best", "first"),
        at_it=("at_it", "sum"),
    )
    lost = whole[whole["graded"] == 0].reset_index()
    return lost.assign(reached=[labels(phases)[at] for at in lost["best"]])[COLUMNS]


def labels(phases: Sequence[str]) -> list[str]:
    """What the phases are called of cases that were never graded."""
    return [*phases[:-1], f"{phases[-1]}_not_graded"]


def counted(lost: pd.DataFrame, rollouts: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """Cases by arm and furthest phase: `cases` of the `never_solved`, of `of_cases` that were evaluated."""
    of_cases = evaluated(rollouts).groupby("arm", observed=True)["case_id"].nunique()
    rows = []
    for arm, total in of_cases.items():
        part = lost[lost["arm"] == arm]
        for phase in labels(phases):
            cases = int((part["reached"] == phase).sum())
            rows.append(
                {"arm": arm, "reached": phase, "cases": cases, "never_solved": len(part), "of_cases": int(total)}
            )
    return pd.DataFrame(rows, columns=["arm", "reached", "cases", "never_solved", "of_cases"])


def evaluated(rollouts: pd.DataFrame) -> pd.DataFrame:
    """The rollouts of evaluations that did not end in an infrastructure error."""
    return rollouts[(rollouts["source"] == "evaluation") & (rollouts["stop"] != "error")]
