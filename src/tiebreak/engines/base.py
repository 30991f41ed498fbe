"""What an inference engine is: it continues conversations, turn by turn, each turn with its own seed."""

from collections.abc import Sequence
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
