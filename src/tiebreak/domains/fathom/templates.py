"""The templates of the four kinds of tasks: the sentence that holds a fact, the question, and what a value may be."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

from tiebreak.domains.words import pick

Kind = Literal["niah", "multi_needle", "extractive", "counting"]
Combine = Literal["one", "add", "join", "count"]


@dataclass(frozen=True)
class Template:
    """sentence: with {key} (what is asked about), {part} (one of several) and {value}.

    question: with {key}, {parts} and {count}. value: what the sentences say. combine: how values make the answer.
    keys, parts: word lists; parts of a `join` are the numbers 1, 2, … of its order.
    """

    name: str
    kind: Kind
    sentence: str
    question: str
    value: Callable[[Random], str]
    combine: Combine = "one"
    keys: str = "people"
    parts: str = ""


def number(low: int, high: int) -> Callable[[Random], str]:
    """A number of the range, in digits."""
    return lambda rng: str(rng.randint(low, high))


def word(name: str) -> Callable[[Random], str]:
    """A word of a list; people have capitals."""
    return lambda rng: shown(name, pick(rng, name))


def shown(name: str, text: str) -> str:
    """A word of the list `name` as texts show it."""
    return text.capitalize() if name == "people" else text


def clock(rng: Random) -> str:
    """A time of the day."""
    return f"{rng.randint(6, 21):02}:{rng.randint(0, 59):02}"


def described(rng: Random) -> str:
    """A thing in four words."""
    return f"the {pick(rng, 'adjectives')} old {pick(rng, 'nouns')}"


def town(rng: Random) -> str:
    """A kind of town in three words."""
    return f"{pick(rng, 'adjectives')} {pick(rng, 'nouns')} town"


TEMPLATES: tuple[Template, ...] = (
    Template(
        "code", "niah", "The access code of {key} is {value}.", "What is the access code of {key}?",
        number(10000, 99999),
    ),
    Template("clock", "niah", "The watch of {key} stopped at {value}.", "When did the watch of {key} stop?", clock),
    Template(
        "door", "niah", "The {key} are behind door {value}.", "Behind which door are the {key}?", number(100, 999),
        keys="things",
    ),
    Template(
        "shelf", "niah", "The ledger of the {key} is on shelf {value}.", "On which shelf is the ledger of the {key}?",
        number(1000, 9999), keys="nouns",
    ),
    Template(
        "crates", "multi_needle", "The crate of {part} for the {key} weighs {value} kilograms.",
        "What do the crates of {parts} for the {key} weigh together, in kilograms?", number(11, 99), "add", "places",
        "things",
    ),
    Template(
        "votes", "multi_needle", "The {part} gave {value} votes to {key}.",
        "How many votes did the {parts} give to {key} together?", number(101, 999), "add", parts="places",
    ),
    Template(
        "phrase", "multi_needle", "Word {part} of the passphrase of {key} is {value}.",
        "What are the {count} words of the passphrase of {key}, in order, joined by hyphens?", word("keys"), "join",
    ),
    Template(
        "route", "multi_needle", "Stop {part} on the way of {key} is the {value}.",
        "What are the {count} stops on the way of {key}, in order, joined by hyphens?", word("places"), "join",
    ),
    Template("gift", "extractive", "{key} was given {value} as a gift.", "What was {key} given as a gift?", described),
    Template("home", "extractive", "{key} was born in a {value}.", "In what kind of town was {key} born?", town),
    Template(
        "fear", "extractive", "More than anything {key} fears {value}.", "What does {key} fear more than anything?",
        described,
    ),
    Template(
        "guests", "counting", "{value} signed the guest book of the {key}.",
        "How many people signed the guest book of the {key}?", word("people"), "count", "places",
    ),
    Template(
        "letters", "counting", "A letter from {key} reached {value}.", "How many people did letters from {key} reach?",
        word("people"), "count",
    ),
)  # fmt: skip

BY_NAME = {template.name: template for template in TEMPLATES}
