"""How much of one split's prompts and answers stands in another split: information for people, and no gate.

The measure is n-gram containment, as in audits of training corpora: the share of a text's distinct 8-grams of tokens
that occur anywhere in the other split. Tokens are words and single marks, in lower case; layout does not count. A text
of fewer than 8 tokens is one gram, so that it is contained where the other split has the very same text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from tiebreak.audits.crossings import sides
from tiebreak.audits.shingles import Words, shingles

GRAM = 8
SHOWN = 10
CUT = 300
_TOKEN = re.compile(r"\w+|[^\w\s]")

Texts = Mapping[str, str]


class Shared(TypedDict):
    """A case whose text stands in the other split to the share `contained`, and the case there that holds most of it.

    contained_in_other: the share of its grams in that one case. Texts are cut at 300 characters.
    """

    case: str
    contained: float
    other: str
    contained_in_other: float
    text: str
    other_text: str


@dataclass(frozen=True)
class Overlap:
    """The texts of `split` against those of `against`.

    what: prompt or answer. cases: those of `split` that have such a text; all counts and the mean are over them. exact:
    cases whose tokens are those of a case of `against`; whole: all grams occur there; half: at least half of them. top:
    the cases with the largest share, the longest texts among equals first.
    """

    what: str
    split: str
    against: str
    cases: int
    exact: int
    whole: int
    half: int
    mean: float
    top: list[Shared]


@dataclass(frozen=True)
class _Side:
    """A split's texts: the grams of each, and all of them beside the number of the text that each belongs to."""

    names: list[str]
    texts: list[str]
    plain: list[str]
    grams: list[Words]
    all_grams: Words
    owners: npt.NDArray[np.int64]


def overlaps(what: str, splits: Mapping[str, Texts]) -> list[Overlap]:
    """Every two splits, the one with fewer cases against the other; splits: {split: {case id: text}}."""
    made = {name: _side(texts) for name, texts in splits.items()}
    return [_overlap(what, one, made[one], other, made[other]) for one, other in sides(splits)]


def _side(texts: Texts) -> _Side:
    names = sorted(name for name, text in texts.items() if _TOKEN.search(text))
    tokens = [_TOKEN.findall(texts[name].lower()) for name in names]
    grams = [shingles(words, GRAM) for words in tokens]
    owners = np.repeat(np.arange(len(grams)), [len(one) for one in grams])
    together = np.concatenate(grams) if grams else np.empty(0, dtype=np.uint64)
    return _Side(names, [texts[name] for name in names], [" ".join(words) for words in tokens], grams, together, owners)


def _overlap(what: str, split: str, one: _Side, against: str, other: _Side) -> Overlap:
    held, plain = np.unique(other.all_grams), set(other.plain)
    found = [_share(grams, held) for grams in one.grams]
    order = sorted(range(len(found)), key=lambda place: (-found[place], -len(one.grams[place]), one.names[place]))
    return Overlap(
        what=what,
        split=split,
        against=against,
        cases=len(found),
        exact=sum(text in plain for text in one.plain),
        whole=sum(value == 1 for value in found),
        half=sum(value >= 0.5 for value in found),
        mean=round(float(np.mean(found)), 6) if found else 0.0,
        top=[_shared(place, found[place], one, other) for place in order[:SHOWN] if found[place] > 0],
    )


def _share(grams: Words, held: Words) -> float:
    """The share of the grams that are held; `held` is sorted."""
    if not len(held):
        return 0.0
    places = np.minimum(np.searchsorted(held, grams), len(held) - 1)
    return float((held[places] == grams).mean())


def _shared(place: int, contained: float, one: _Side, other: _Side) -> Shared:
    grams = one.grams[place]
    counts = np.bincount(other.owners[np.isin(other.all_grams, grams)], minlength=len(other.names))
    best = int(np.argmax(counts))
    return Shared(
        case=one.names[place],
        contained=round(contained, 4),
        other=other.names[best],
        contained_in_other=round(int(counts[best]) / len(grams), 4),
        text=one.texts[place][:CUT],
        other_text=other.texts[best][:CUT],
    )
