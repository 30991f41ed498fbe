"""The tamper audit: what every stored call was after, and where success and grade part."""

from collections.abc import Sequence

import pandas as pd

from tiebreak.audits.stored import PLACE, Stored

PER = ["source", "arm"]


def calls(stored: Stored) -> pd.DataFrame:
    """Calls by source, arm, kind and outcome: how many, of all calls of that arm there, in how many of its rollouts."""
    whole = stored.calls.join(stored.rollouts[PER], on="rollout")
    by = [*PER, "kind", "outcome"]
    found = whole.groupby(by, observed=True)["rollout"].agg(calls="size", rollouts="nunique").reset_index()
    of_calls = whole.groupby(PER, observed=True).size().rename("of_calls").reset_index()
    of_rollouts = stored.rollouts.groupby(PER, observed=True).size().rename("of_rollouts").reset_index()
    return found.merge(of_calls, on=PER).merge(of_rollouts, on=PER)


def attempts(stored: Stored, tampering: Sequence[str]) -> pd.DataFrame:
    """Every call that is after something a model may not touch, with its address, what became of it and its detail.

    One that `succeeded` was not refused: the alarm of this audit.
    """
    marked = stored.calls[stored.calls["kind"].isin(tampering)]
    return marked.join(stored.rollouts[["arm", *PLACE]], on="rollout").drop(columns="rollout")[
        ["arm", *PLACE, "kind", "outcome", "detail"]
    ]


def findings(rollouts: pd.DataFrame) -> pd.DataFrame:
    """Every rollout where success and grade part: `finding` is success_not_graded or graded_not_success."""
    ended = rollouts[rollouts["stop"] != "error"]
    graded, success = ended["graded"].eq(True), ended["success"].eq(True)
    parted = ended[graded != success]
    words = {True: "success_not_graded", False: "graded_not_success"}
    columns = ["arm", "family", *PLACE]
    return parted[columns].assign(finding=parted["success"].eq(True).map(words))[["finding", *columns]]


def outcomes(rollouts: pd.DataFrame) -> pd.DataFrame:
    """Rollouts by source and arm: all, infrastructure errors, successes, graded, and where the two part."""
    ended = rollouts["stop"] != "error"
    graded, success = rollouts["graded"].eq(True) & ended, rollouts["success"].eq(True) & ended
    marks = rollouts[PER].assign(
        rollouts=1,
        errors=~ended,
        success=success,
        graded=graded,
        success_not_graded=success & ~graded,
        graded_not_success=graded & ~success,
    )
    return marks.groupby(PER, observed=True, as_index=False).sum()
