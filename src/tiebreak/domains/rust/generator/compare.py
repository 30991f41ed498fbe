"""Comparisons: the four operators, the words that ask for them, and the ways to get them wrong."""

import operator
from collections.abc import Callable
from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Site, Twin, Wrong, swap

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
EQUALS = {">=": ">", ">": ">=", "<=": "<", "<": "<="}
"""The operator that sees equals the other way."""
TURNED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
PHRASES = {
    ">=": ("at least", "no less than"),
    ">": ("more than", "above"),
    "<=": ("at most", "no more than"),
    "<": ("less than", "below"),
}


def draw(rng: Random) -> tuple[str, str]:
    """An operator and a phrase that asks for it."""
    sign = rng.choice(list(OPERATORS))
    return sign, rng.choice(PHRASES[sign])


def wrong_signs(line: str, sign: str, twin_of: Callable[[str], Twin]) -> Site:
    """The line with each of the other three operators."""
    wrongs = []
    for other in OPERATORS:
        if other != sign:
            kind = "strictness" if other[0] == sign[0] else "direction"
            wrongs.append(Wrong(kind, swap(line, f" {sign} ", f" {other} "), twin_of(other)))
    return Site(line, tuple(wrongs))


def join(*sites: Site) -> Site:
    """Several lists of wrong versions of the same line as one site."""
    assert len({part.right for part in sites}) == 1
    return Site(sites[0].right, tuple(wrong for part in sites for wrong in part.wrongs))
