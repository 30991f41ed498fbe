"""What an inference engine is: it continues conversations, turn by turn, each turn with its own seed.

An `Engine` holds a batch of conversations in step, a `FreeEngine` each by itself.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Sampling:
    """How turns are drawn. temperature 0 is greedy; `turn_tokens` bounds one turn, `max_length` the whole context."""

    temperature: float
    turn_tokens: int
    max_length: int


@dataclass(frozen=True)
class Reply:
    """One sampled assistant turn.

    text: the turn without its closing tag and trailing whitespace. ids: its tokens as sampled, closing tag included.
    complete: it ended with the closing tag; otherwise a token limit cut it.
    """

    text: str
    ids: list[int]
    complete: bool


class Session(Protocol):
    """A batch of conversations in progress; row i is the i-th prompt given to `Engine.session`."""

    context: list[list[int]]
    """Every row's tokens so far, as the model sees them."""

    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        """Append texts[i] to row rows[i] and sample its next assistant turn with seeds[i]."""
        ...


class Engine(Protocol):
    """A loaded model that can hold conversations."""

    def session(self, size: int) -> Session:
        """Room for `size` fresh conversations."""
        ...

    def describe(self) -> dict[str, object]:
        """The engine's configuration as resolved, for the record."""
        ...


class FreeEngine(Protocol):
    """A loaded model that continues many conversations at once, none of which waits for another."""

    at_once: int
    """How many conversations are worth holding at the same time."""

    def connected(self) -> AbstractAsyncContextManager[None]:
        """Held, in the running event loop, around all replies."""
        ...

    def encode(self, text: str) -> list[int]:
        """The tokens of a piece of rendered text."""
        ...

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        """Sample the assistant turn that follows the tokens `context`.

        Raises RequestError where every try failed and the engine lives, EngineError where it does not.
        """
        ...

    def describe(self) -> dict[str, object]:
        """The engine's configuration as resolved, for the record."""
        ...
