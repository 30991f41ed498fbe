"""How near the cases of one split come to those of another: nearest pairs with their differences, and a histogram."""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict

import numpy as np

from tiebreak.audits.near import ALL_PAIRS, BANDS, ROWS, Index, Near, recall

EDGES = tuple(round(0.02 * step, 2) for step in range(51))
SHOWN = 10
CONTEXT = 2
DIFF_LINES = 200  # long documents that have little in common differ in nearly every line

Text = Callable[[str, str], str]
"""The source of a case id and a form."""


class Pair(TypedDict):
    """Two cases, the forms in which they are most alike, their similarity, and the beginning of these forms' diff."""

    case: str
    form: str
    other: str
    other_form: str
    similarity: float
    diff: list[str]


class Histogram(TypedDict):
    """Nearest-neighbour similarities: `counts[i]` lie in [edges[i], edges[i + 1]), the last one with its upper edge.

    further: the cases for which the search found no candidate at all, so that nothing is near them.
    """

    edges: list[float]
    counts: list[int]
    further: int


@dataclass(frozen=True)
class Crossing:
    """The nearest case of split `against` for each case of `split`: how many lie over the threshold, and which."""

    split: str
    against: str
    cases: int
    over: int
    nearest: list[Pair]
    histogram: Histogram


def crossings(index: Index, splits: Mapping[str, Collection[str]], threshold: float, text: Text) -> list[Crossing]:
    """Every two splits, the one with fewer cases measured against the other; splits: {name: case ids}."""
    return [crossing(index, splits, one, other, threshold, text) for one, other in sides(splits)]


def sides(splits: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
    """Every two splits, the one with fewer cases first."""
    pairs = (sorted(pair, key=lambda name: (len(splits[name]), name)) for pair in combinations(splits, 2))
    return [(one, other) for one, other in pairs]


def crossing(
    index: Index, splits: Mapping[str, Collection[str]], split: str, against: str, threshold: float, text: Text
) -> Crossing:
    """The cases of `split` against those of `against`; the nearest pairs first."""
    found = index.nearest(splits[split], splits[against])
    ordered = sorted(found.values(), key=lambda near: (-near.similarity, near.case))
    return Crossing(
        split=split,
        against=against,
        cases=len(splits[split]),
        over=sum(near.similarity > threshold for near in ordered),
        nearest=[pair(near, text) for near in ordered[:SHOWN]],
        histogram=histogram([near.similarity for near in ordered], len(splits[split])),
    )


def pair(near: Near, text: Text) -> Pair:
    """A nearest pair with its diff."""
    one, other = text(near.case, near.form).splitlines(), text(near.other, near.other_form).splitlines()
    names = f"{near.case} {near.form}", f"{near.other} {near.other_form}"
    return Pair(
        case=near.case,
        form=near.form,
        other=near.other,
        other_form=near.other_form,
        similarity=round(near.similarity, 4),
        diff=beginning(list(difflib.unified_diff(one, other, *names, n=CONTEXT, lineterm=""))),
    )


def beginning(diff: list[str]) -> list[str]:
    """A diff's first lines, and how many more there are."""
    left = len(diff) - DIFF_LINES
    return diff if left <= 0 else [*diff[:DIFF_LINES], f"({left} more lines)"]


def histogram(similarities: Sequence[float], cases: int) -> Histogram:
    """The histogram of `cases` nearest-neighbour similarities, of which those that were found are given."""
    counts = np.histogram(similarities, EDGES)[0]
    return Histogram(edges=list(EDGES), counts=[int(count) for count in counts], further=cases - int(counts.sum()))


def search(threshold: float) -> dict[str, float | int]:
    """How pairs were found, for the record: with more than `all_pairs_up_to`, the probability to look at a pair."""
    return {
        "all_pairs_up_to": ALL_PAIRS,
        "bands": BANDS,
        "rows": ROWS,
        "recall_at_threshold": recall(threshold),
        "recall_at_0.8": recall(0.8),
        "recall_at_0.6": recall(0.6),
    }
