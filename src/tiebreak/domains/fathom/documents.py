"""Documents: filler sentences to a length, with facts hidden among them at seeded places."""

from collections.abc import Sequence
from random import Random

from tiebreak.domains.words import pick
from tiebreak.errors import ConfigError

FILLERS = (
    "The {adjectives} {nouns} lies behind the {places}.",
    "Nobody in the {places} asks about the {adjectives} {nouns}.",
    "In spring the {nouns} turns {adjectives} again.",
    "A {adjectives} wind came over the {places} and the {nouns}.",
    "They walked from the {places} to the {adjectives} {nouns}.",
    "It was a {adjectives} morning near the {nouns}.",
    "The {things} stood in the {places} until winter.",
    "Some say that the {nouns} is older than the {places}.",
)
"""Sentences that hold no name of a person, no digit, and nothing that a question asks for."""

PARAGRAPH = 6


def filler(rng: Random) -> str:
    """One sentence of no use."""
    form = rng.choice(FILLERS)
    lists = ("adjectives", "nouns", "places", "things")
    return form.format(**{name: pick(rng, name) for name in lists})


def separators(count: int) -> int:
    """Characters between `count` sentences: a blank, or an empty line after each paragraph."""
    return max(0, count - 1) + max(0, count - 1) // PARAGRAPH


def document(rng: Random, facts: Sequence[str], length: int) -> str:
    """A text of `length` characters, or at most a sentence less, with every fact in it, in order, at random places.

    ConfigError where the facts alone are longer.
    """
    letters, count = sum(map(len, facts)), len(facts)
    if letters + separators(count) > length:
        raise ConfigError(f"a context of {length} characters cannot hold {count} facts; use a longer one")
    sentences: list[str] = []
    while letters + len(following := filler(rng)) + separators(count + 1) <= length:
        sentences.append(following)
        letters, count = letters + len(following), count + 1
    places = sorted(rng.randint(0, len(sentences)) for _ in facts)
    for place, fact in zip(reversed(places), reversed(facts), strict=True):  # from the end, so that places stay true
        sentences.insert(place, fact)
    parts = [sentences[start : start + PARAGRAPH] for start in range(0, len(sentences), PARAGRAPH)]
    return "\n\n".join(" ".join(part) for part in parts)
