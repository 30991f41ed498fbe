"""Blueprints from a seed: `generate` draws templates, families and crates, offline and byte for byte repeatable."""

from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Literal, get_args

from tiebreak.domains.rust.blueprints import GENERATOR, Blueprint, Family
from tiebreak.domains.rust.crate import split_tests
from tiebreak.domains.rust.generator import catalogue, frame
from tiebreak.domains.rust.shared_code import bare, shared_code
from tiebreak.domains.words import new_id
from tiebreak.errors import ConfigError
from tiebreak.seeds import derive, stream

VERSION = f"{GENERATOR}2"
FAMILIES: Mapping[Family, float] = {
    "patch_test_pass": 0.32,
    "patch_run_pass": 0.20,
    "patch_test_recover": 0.20,
    "patch_run_recover": 0.13,
    "test_only": 0.08,
    "run_only": 0.07,
}
TRIES = 400
ATTEMPTS, MOST_ATTEMPTS = 2, 6


def generate(
    templates: Literal["all"] | Sequence[str],
    cases: int,
    root_seed: int,
    families: Mapping[Family, float] = FAMILIES,
    keys: Callable[[Blueprint], Collection[str]] = shared_code,
    attempts: int = ATTEMPTS,
) -> list[Blueprint]:
    """`cases` blueprints, no two with the same id or a key in common, in an order that the seed decides.

    families: weights, they need not add up to 1. keys: what two cases may not share, by default what would leak if they
    met in two splits. attempts: the most patches of a recover plan, from 2 to MOST_ATTEMPTS; each plan draws its own
    number. Raises ConfigError for an unknown template or family, and where the templates cannot give so many different
    crates.
    """
    chosen = catalogue.select(templates)
    if unknown := set(families) - set(get_args(Family)):
        raise ConfigError(f"families: {', '.join(sorted(unknown))} unknown; expected some of {get_args(Family)}")
    names, weights = list(families), list(families.values())
    ids: set[str] = set()
    taken: set[str] = set()
    items: list[Blueprint] = []
    for index in range(cases):
        rng = stream(root_seed, "blueprints", index)
        seed = derive(root_seed, "blueprints", index)
        family = rng.choices(names, weights)[0]
        patches = patches_of(family, attempts, rng)
        for _ in range(TRIES):
            item = frame.build(rng.choice(chosen), family, new_id(rng, ids), seed, rng, VERSION, patches)
            if item is not None and taken.isdisjoint(keys(item)):
                break
        else:
            raise ConfigError(
                f"no new crate for case {index} after {TRIES} draws; ask for fewer cases or more templates"
            )
        ids.add(item.case_id)
        taken.update(keys(item))
        items.append(item)
    return items


def patches_of(family: Family, attempts: int, rng: Random) -> int:
    """How many patches a case's plan makes, at most `attempts`; nothing is drawn where there is no choice."""
    if not family.endswith("recover"):
        return 0 if family.endswith("only") else 1
    return 2 if attempts == ATTEMPTS else rng.randint(2, attempts)


def whole_code(item: Blueprint) -> list[str]:
    """A weaker key: the given crate as a whole, `main` included, without tests and comments."""
    return [bare(split_tests(item.files[item.source_path])[0])]
