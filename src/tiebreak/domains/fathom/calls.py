"""What answers `llm(prompt, chunk)`, and the budget that all calls of an episode share, at whatever depth."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tiebreak.errors import EngineError

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")

MOST_CALLS = 16
MOST_DEPTH = 2
MOST_CHARACTERS = 1_000_000  # of a prompt and its chunk: reading them is our own time, not the program's
SHOWN = 400  # characters of a prompt and of an answer that a trace keeps
MOST_REFUSED = 16  # refused calls that a trace keeps
HALVED = 4_500  # characters of a chunk above which `halving` asks about its halves


@dataclass
class Call:
    """One call of `llm()`, for people to look at. parent: the call that it was made for, as its place in the trace.

    depth: 1 for a call by the episode itself; characters: of the chunk; answer and refused: None where there is none.
    """

    depth: int
    parent: int | None
    prompt: str
    characters: int
    answer: str | None = None
    refused: str | None = None


@dataclass(frozen=True)
class Asked:
    """What a policy replied to a call by the episode itself, and the budget's counts after it: enough to repeat it."""

    reply: str
    calls: int
    refused: int
    deepest: int
    tokens: int


@dataclass
class Budget:
    """Calls of an episode, counted where the model's code cannot reach. deepest: of the calls that were made.

    trace: the calls in the order they were made; of refused ones the first few. tokens: what a policy wrote to answer.
    asked: its replies.
    """

    most_calls: int = MOST_CALLS
    most_depth: int = MOST_DEPTH
    calls: int = 0
    refused: int = 0
    deepest: int = 0
    tokens: int = 0
    trace: list[Call] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    _open: list[int] = field(default_factory=list, repr=False)

    def take(self, depth: int, characters: int = 0) -> str | None:
        """Pay for a call at `depth` (1: by the episode itself), or say why it is refused."""
        why = None
        if characters > MOST_CHARACTERS:
            why = f"llm: a call takes {MOST_CHARACTERS} characters at most"
        elif depth > self.most_depth:
            why = f"llm: calls go {self.most_depth} deep at most"
        elif self.calls >= self.most_calls:
            why = f"llm: the budget of {self.most_calls} calls is spent"
        if why is not None:
            self.refused += 1
            return why
        self.calls += 1
        self.deepest = max(self.deepest, depth)
        return None

    def replied(self, reply: str) -> None:
        """Keep a policy's reply to the episode itself."""
        self.asked.append(Asked(reply, self.calls, self.refused, self.deepest, self.tokens))

    @contextmanager
    def tracing(self, depth: int, prompt: str, chunk: str, refused: str | None) -> Iterator[Call]:
        """Put a call into the trace; calls that are made until it ends are made for it."""
        call = Call(depth, self._open[-1] if self._open else None, prompt[:SHOWN], len(chunk), refused=refused)
        if refused is None or self.refused <= MOST_REFUSED:
            self.trace.append(call)
        self._open.append(len(self.trace) - 1)
        try:
            yield call
        finally:
            self._open.pop()


Responder = Callable[[str, str, int, Budget], str]
"""(prompt, chunk, depth, budget) -> text. It is called once the call is paid for."""


def stub(prompt: str, chunk: str, depth: int, budget: Budget) -> str:
    """The sentence of the chunk that shares the most words with the prompt (the first of equals), "" if none does.

    It stands in for a language model: deterministic, quick, and right where the words of the question are the text's.
    """
    wanted = set(_WORD.findall(prompt.lower()))
    sentences = [part for part in _SENTENCE.split(chunk) if part.strip()]
    shared = [len(wanted & set(_WORD.findall(part.lower()))) for part in sentences]
    best = max(shared, default=0)
    return sentences[shared.index(best)].strip() if best else ""


def halving(prompt: str, chunk: str, depth: int, budget: Budget) -> str:
    """The stub for long chunks: it calls itself on both halves, a level deeper and on the same budget, and asks the
    stub about what they said. A half whose call is refused is read by the stub as it is.
    """
    if len(chunk) <= HALVED:
        return stub(prompt, chunk, depth, budget)
    middle = chunk.rfind(". ", 0, len(chunk) // 2) + 1 or len(chunk) // 2
    found = []
    for half in (chunk[:middle], chunk[middle:]):
        replied = answer(halving, budget, depth + 1, prompt, half)
        found.append(replied["text"] if "text" in replied else stub(prompt, half, depth, budget))
    return stub(prompt, "\n".join(found), depth, budget)


def answer(respond: Responder, budget: Budget, depth: int, prompt: str, chunk: str) -> dict[str, str]:
    """The reply to one call, as the REPL takes it."""
    refused = budget.take(depth, len(prompt) + len(chunk))
    with budget.tracing(depth, prompt, chunk, refused) as call:
        if refused is not None:
            return {"refused": refused}
        text = respond(prompt, chunk, depth, budget)
        call.answer = text[:SHOWN]
        return {"text": text}


def recalling(asked: Iterable[Mapping[str, Any]]) -> Responder:
    """A responder that replies as a policy did once; asked: its `Asked` as plain values, in order."""
    left = iter(asked)

    def respond(prompt: str, chunk: str, depth: int, budget: Budget) -> str:
        told = next(left, None)
        if told is None:
            raise EngineError("the code asks llm() more often than it did when the policy's replies were stored")
        budget.calls, budget.refused, budget.deepest = told["calls"], told["refused"], told["deepest"]
        budget.tokens = told["tokens"]
        budget.replied(told["reply"])
        return str(told["reply"])

    return respond
