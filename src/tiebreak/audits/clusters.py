"""How many independent cases a split is worth, where cases of one template are alike."""

from collections import Counter
from collections.abc import Iterable
from typing import TypedDict


class Clusters(TypedDict):
    """cases and templates: counts. largest: the template with the most cases, and how many. effective: see below."""

    cases: int
    templates: int
    largest: str
    largest_cases: int
    effective: float


def clusters(templates: Iterable[str]) -> Clusters:
    """The clusters of a split, from the template of each of its cases.

    effective: the effective sample size where all cases of a template come out alike, (Σ n)² / Σ n² over the sizes n of
    the templates: Kish's design effect 1 + (m − 1) ρ with m = Σ n² / Σ n at an intra-cluster correlation ρ of 1
    (Kish 1965, Survey Sampling). At ρ = 0 it is the number of cases; the truth lies between.
    """
    sizes = Counter(templates)
    total = sum(sizes.values())
    name, most = min(sizes.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    squares = sum(size * size for size in sizes.values())
    return Clusters(
        cases=total,
        templates=len(sizes),
        largest=name,
        largest_cases=most,
        effective=total * total / squares if squares else 0.0,
    )
