"""What the data page shows: the tasks of a study by kind and split, how near the splits are, what was rejected."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tiebreak.domains.base import Case

KINDS = ("family", "difficulty", "depth", "template")


def counts(members: Mapping[str, Sequence[Case]]) -> pd.DataFrame:
    """One row a kind, value and split: how many cases, and which share of its split they are."""
    rows = []
    for kind in KINDS:
        found = {split: Counter(getattr(case, kind) for case in cases) for split, cases in members.items()}
        for value in sorted(set().union(*found.values())):
            for split, cases in members.items():
                share = found[split][value] / len(cases) if cases else None
                rows.append(
                    {"kind": kind, "value": str(value), "split": split, "cases": found[split][value], "share": share}
                )
    return pd.DataFrame(rows, columns=["kind", "value", "split", "cases", "share"])


def matrix(frame: pd.DataFrame, kind: str) -> list[dict[str, Any]]:
    """The counts of one kind as rows of a table: the value, its cases by split, and over all splits."""
    part = frame[frame["kind"] == kind]
    wide = part.pivot(index="value", columns="split", values="cases")
    order = list(dict.fromkeys(part["value"]))
    return [{"value": value, **{str(key): int(n) for key, n in wide.loc[value].items()}} for value in order]


def similarities(leakage: Mapping[str, Any]) -> pd.DataFrame:
    """One row a pair of splits and bin: cases of the one whose nearest of the other is so similar (Jaccard)."""
    rows = []
    for found in leakage["measure"]["near"]:
        edges, numbers = found["histogram"]["edges"], found["histogram"]["counts"]
        rows += [
            {"split": found["split"], "against": found["against"], "low": low, "high": high, "cases": number}
            for low, high, number in zip(edges[:-1], edges[1:], numbers, strict=True)
        ]
    return pd.DataFrame(rows, columns=["split", "against", "low", "high", "cases"])


def reject_reasons(rejects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rejects by step and reason, the most frequent first, each with one case id to look at.

    Names, numbers and quoted text in a reason are folded, so that one cause is one row.
    """
    groups: dict[tuple[int, str], list[str]] = {}
    for row in rejects:
        reason = folded(row["errors"][0], row["case_id"]) if row["errors"] else "no reason was recorded"
        groups.setdefault((row["step"], reason), []).append(row["case_id"])
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [{"step": step, "reason": reason, "cases": len(ids), "example": ids[0]} for (step, reason), ids in ordered]


def folded(reason: str, case_id: str) -> str:
    """A reason without what is the case's own, or stands in its row already."""
    plain = reason.splitlines()[0].replace(case_id, "…") if reason else ""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", plain)
    return re.sub(r"\d+", "n", re.sub(r"^(…: )?(step \d+:? )?", "", plain))


def examples(traces: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first trace of each family."""
    first: dict[str, Mapping[str, Any]] = {}
    for row in traces:
        first.setdefault(row["family"], row)
    return [first[family] for family in sorted(first)]
