"""Raw text for a base model made from scratch: sentences in disorder, and turns that copy some of them.

Nothing in the exercises asks or answers a question; they teach to look back and copy.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from tiebreak.domains.base import Stage, TraceTurn
from tiebreak.domains.fathom.prompts import SYSTEM_MESSAGE
from tiebreak.domains.fathom.tasks import Task

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
LINES, COPIES = (4, 12), (3, 6)
SCRAMBLED = 0.4
_WORD = re.compile(r"[A-Za-z]+|[0-9]+")


def stages(tasks: Sequence[Task], rng: Random) -> list[Stage]:
    """The exercises of a warm-up, easy ones first: later ones have words exchanged, so that only copying helps."""
    return [Stage(0.35, exercises(tasks, rng, 0.0)), Stage(0.65, exercises(tasks, rng, 0.5))]


def exercises(tasks: Sequence[Task], rng: Random, scrambled: float) -> Iterator[list[TraceTurn]]:
    """Endless exercises: sentences drawn from all documents, then a turn that repeats some of them."""
    pool = [line for task in tasks for line in re.split(r"(?<=\.)\s+", task.document) if line]
    words = sorted({word for line in pool for word in _WORD.findall(line)})
    while True:
        lines = [rng.choice(pool) for _ in range(rng.randint(*LINES))]
        if rng.random() < scrambled:
            lines = [scramble(line, words, rng) for line in lines]
        copied = [rng.choice(lines) for _ in range(rng.randint(*COPIES))]
        yield [
            {"role": "tool", "content": "\n".join(lines), "loss": False},
            {"role": "assistant", "content": "\n".join(copied), "loss": True},
        ]


def scramble(line: str, words: Sequence[str], rng: Random) -> str:
    """The line with some of its words and numbers replaced by others."""
    return _WORD.sub(lambda match: rng.choice(words) if rng.random() < SCRAMBLED else match.group(), line)
