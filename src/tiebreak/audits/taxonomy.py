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
    """Cases by arm and furthest phase: `cases` of the `never_solved`, of `of_cases` that were evaluated.

    samples: the most that a case of the arm has; an arm with more runs has more, and thereby leaves fewer unsolved.
    """
    samples = evaluated(rollouts).groupby(["arm", "case_id"], observed=True).size()
    rows = []
    for arm, of_case in samples.groupby(level="arm", observed=True):
        part = lost[lost["arm"] == arm]
        whole = {"never_solved": len(part), "of_cases": len(of_case), "samples": int(of_case.max())}
        for phase in labels(phases):
            rows.append({"arm": arm, "reached": phase, "cases": int((part["reached"] == phase).sum()), **whole})
    return pd.DataFrame(rows, columns=["arm", "reached", "cases", "never_solved", "of_cases", "samples"])


def evaluated(rollouts: pd.DataFrame) -> pd.DataFrame:
    """The rollouts of evaluations that did not end in an infrastructure error."""
    return rollouts[(rollouts["source"] == "evaluation") & (rollouts["stop"] != "error")]
