"""The seeded generator: which kinds at which lengths, and one task after the other from streams of their own."""

from collections.abc import Hashable, Mapping
from random import Random
from typing import TypeVar

from tiebreak.domains.fathom.documents import document
from tiebreak.domains.fathom.tasks import GENERATOR, Task, problems
from tiebreak.domains.fathom.templates import TEMPLATES, Kind, Template, shown
from tiebreak.domains.words import some
from tiebreak.errors import BlueprintError
from tiebreak.seeds import derive, stream

Name = TypeVar("Name", bound=Hashable)

KINDS: Mapping[Kind, float] = {"niah": 0.4, "multi_needle": 0.3, "extractive": 0.2, "counting": 0.1}
PUBLISHED_LENGTHS: Mapping[int, float] = {
    4_000: 0.20,
    8_000: 0.20,
    16_000: 0.20,
    32_000: 0.15,
    64_000: 0.10,
    200_000: 0.15,
}
"""Characters of context and their shares, chosen so that the median is 16 K and the 90th percentile 200 K."""
DECOYS = 3
TRIES = 100


def generate(root_seed: int, count: int, lengths: Mapping[int, float] = PUBLISHED_LENGTHS) -> list[Task]:
    """`count` tasks: kinds and lengths in exact shares (`quotas`), shuffled; the same seed gives the same bytes.

    lengths: characters of context and their shares, which add up to 1. Raises BlueprintError where no document of a
    length can hold a task without collisions, ConfigError where it is too short for the facts.
    """
    kinds, contexts = spread(KINDS, count), spread(lengths, count)
    stream(root_seed, "fathom", "kinds").shuffle(kinds)
    stream(root_seed, "fathom", "lengths").shuffle(contexts)
    pairs = zip(kinds, contexts, strict=True)
    return [
        make(kind, length, derive(root_seed, "fathom", "task", place), place)
        for place, (kind, length) in enumerate(pairs)
    ]


def spread(shares: Mapping[Name, float], count: int) -> list[Name]:
    """`count` names in the shares given: whole parts first, then the largest remainders (the first of equal ones)."""
    whole = {name: int(share * count + 1e-9) for name, share in shares.items()}
    left = sorted(shares, key=lambda name: whole[name] - shares[name] * count)[: count - sum(whole.values())]
    return [name for name in shares for _ in range(whole[name] + (name in left))]


def make(kind: Kind, length: int, seed: int, place: int) -> Task:
    """One task of a kind with a document of at most `length` characters."""
    rng = Random(seed)
    form = rng.choice([template for template in TEMPLATES if template.kind == kind])
    for _ in range(TRIES):
        task = draw(form, length, rng, seed, f"{kind}_{place:05}")
        if not (wrong := problems(task)):
            return task
    raise BlueprintError(
        f"template {form.name}: {TRIES} drafts at {length} characters collide ({wrong[0]}); use another"
    )


def draw(form: Template, length: int, rng: Random, seed: int, case_id: str) -> Task:
    """A draft, which may still collide."""
    key, *others = (shown(form.keys, name) for name in some(rng, form.keys, 1 + DECOYS))
    count = how_many(form, rng)
    parts, besides = parts_of(form, rng, count)
    values = distinct(form, rng, count)
    facts = sentences(form, key, parts, values)
    decoys = [fact for other in others for fact in sentences(form, other, parts[:1], distinct(form, rng, 1))]
    decoys += sentences(form, key, besides, distinct(form, rng, len(besides)))
    mixed = facts + decoys
    rng.shuffle(mixed)
    return Task(
        case_id=case_id,
        family=form.kind,
        template=form.name,
        question=form.question.format(key=key, parts=listed(parts), count=count),
        document=document(rng, mixed, length),
        answer=combined(form, values),
        key=key,
        parts=parts,
        generator=GENERATOR,
        seed=seed,
    )


def how_many(form: Template, rng: Random) -> int:
    """How many sentences answer a question."""
    return {"one": 1, "add": rng.randint(2, 4), "join": rng.randint(3, 4), "count": rng.randint(2, 9)}[form.combine]


def parts_of(form: Template, rng: Random, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts that the question is about, and those of the same key that it leaves out; none where there are none."""
    if form.combine == "add":
        asked = some(rng, form.parts, count + 1)
        return tuple(asked[1:]), (asked[0],)
    return (tuple(str(number + 1) for number in range(count)) if form.combine == "join" else ()), ()


def distinct(form: Template, rng: Random, count: int) -> list[str]:
    """`count` different values."""
    values: list[str] = []
    while len(values) < count:
        value = form.value(rng)
        values += [value] if value not in values else []
    return values


def sentences(form: Template, key: str, parts: tuple[str, ...], values: list[str]) -> list[str]:
    """The facts about one key, one a value."""
    named = parts or ("",) * len(values)
    return [form.sentence.format(key=key, part=part, value=value) for part, value in zip(named, values, strict=True)]


def listed(parts: tuple[str, ...]) -> str:
    """Names as prose lists them."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def combined(form: Template, values: list[str]) -> str:
    """The gold answer."""
    if form.combine == "add":
        return str(sum(map(int, values)))
    return {"one": values[0], "join": "-".join(values), "count": str(len(values))}[form.combine]
