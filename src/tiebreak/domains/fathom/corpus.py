"""Raw text for a base model made from scratch: words to repeat, and episodes about made-up frames.

Copying is what a small model learns last: of a question into a pattern, of what was printed into an answer. The
exercises teach it, words at random first. They ask what no task asks (`frames`), and which pattern answers a task's
question they leave to SFT.
"""

from collections.abc import Iterator
from random import Random

from tiebreak.domains.base import Stage, TraceTurn
from tiebreak.domains.fathom.documents import filler
from tiebreak.domains.fathom.frames import frame
from tiebreak.domains.fathom.generator import combined, distinct, how_many, listed, parts_of, sentences
from tiebreak.domains.fathom.prompts import SYSTEM_MESSAGE, opening
from tiebreak.domains.fathom.templates import shown
from tiebreak.domains.fathom.traces import answered, asking, code, fenced
from tiebreak.domains.words import pick, words

PROTOCOL_STRINGS = (
    SYSTEM_MESSAGE,
    "\n\n[Document excerpt]:\n",
    "```python\n",
    "\n```",
    "import re\n",
    "print(",
    're.findall(r"',
    '", ctx)',
    "sum(int(n) for n in ",
    "found = dict(",
    '"-".join(found[n] for n in sorted(found))',
    "len(",
    'llm("',
    '?", ctx))',
    "([^.]+)",
    r"(\w+)",
    r"(\d)",
    r"\.",
    "<answer>",
    "</answer>",
)
LISTS = ("adjectives", "nouns", "places", "things", "people", "keys")
LENGTH = (6, 20)
EXCERPT = (0, 48)
ASKING = 0.25
REPEATED = 0.2
SPELLED = 20


def spelled() -> list[str]:
    """Every word between marks, often enough that a tokenizer keeps it whole there."""
    return ["|".join(shown(name, word) for word in words(name)) for name in LISTS] * SPELLED


def stages(rng: Random) -> list[Stage]:
    """The exercises of a warm-up: words to repeat, then episodes with some of these among them."""
    return [Stage(0.3, repeats(rng)), Stage(0.7, mixed(rng))]


def mixed(rng: Random) -> Iterator[list[TraceTurn]]:
    """Endless exercises of both kinds."""
    words_again, about_frames = repeats(rng), episodes(rng)
    while True:
        yield next(words_again if rng.random() < REPEATED else about_frames)


def repeats(rng: Random) -> Iterator[list[TraceTurn]]:
    """Endless exercises: words and numbers at random, then a turn that repeats them."""
    while True:
        line = " ".join(piece(rng) for _ in range(rng.randint(*LENGTH)))
        yield [TraceTurn(role="user", content=line, loss=False), TraceTurn(role="assistant", content=line, loss=True)]


def piece(rng: Random) -> str:
    """A word or a number."""
    name = rng.choice([*LISTS, "numbers"])
    return str(rng.randint(1, 99999)) if name == "numbers" else shown(name, pick(rng, name))


def episodes(rng: Random) -> Iterator[list[TraceTurn]]:
    """Endless exercises in the shape of an episode: a frame's question, its code, what that prints, and the answer.

    Nothing is run: the numbers and words that are printed are made up.
    """
    while True:
        form = frame(rng)
        key, count = shown(form.keys, pick(rng, form.keys)), how_many(form, rng)
        parts, _ = parts_of(form, rng, count)
        values = distinct(form, rng, count)
        question = form.question.format(key=key, parts=listed(parts), count=count)
        asks = form.combine == "one" and rng.random() < ASKING
        printed = answer = combined(form, values)
        if asks:
            printed = sentences(form, key, parts, values)[0]
        excerpt = " ".join(filler(rng) for _ in range(4))
        messages = opening(question, excerpt, excerpt_tokens=rng.randint(*EXCERPT))
        yield [
            *(TraceTurn(role=message["role"], content=message["content"], loss=False) for message in messages),
            TraceTurn(
                role="assistant", content=fenced(asking(question) if asks else code(form, key, parts)), loss=True
            ),
            TraceTurn(role="tool", content=printed, loss=False),
            TraceTurn(role="assistant", content=answered(answer), loss=True),
        ]
