"""The word lists under `resources/words`: what names, prose and case ids are drawn from."""

from collections.abc import Container
from functools import cache
from pathlib import Path
from random import Random

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "words"


@cache
def words(name: str) -> tuple[str, ...]:
    """The list `name`, in file order; words are lower-case ASCII letters."""
    return tuple((FOLDER / f"{name}.txt").read_text(encoding="utf-8").split())


def pick(rng: Random, name: str) -> str:
    """One word of the list."""
    return rng.choice(words(name))


def some(rng: Random, name: str, count: int) -> list[str]:
    """`count` different words of the list."""
    return rng.sample(words(name), count)


def new_id(rng: Random, used: Container[str]) -> str:
    """A case id of three words that is not among `used`; a tokenizer that saw other ids knows all of its parts."""
    while True:
        name = "_".join(pick(rng, part) for part in ("adjectives", "nouns", "places"))
        if name not in used:
            return name
