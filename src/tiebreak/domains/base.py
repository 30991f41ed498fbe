"""What a domain is. The workflow, the statistics and the report know only this file; a domain brings the rest.

An *episode* answers: it takes assistant turns and holds what the domain must do next. A *domain* does that work for
many episodes at once (`answer`), so that one compilation can serve a whole batch, and grades finished ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, Protocol, TypedDict

import pyarrow as pa

from tiebreak.chat import Message

Stop = Literal["final", "malformed", "budget", "tokens", "error"]


class Case(Protocol):
    """A task that materialized."""

    @property
    def case_id(self) -> str:
        """The name, unique in a study."""
        ...

    @property
    def family(self) -> str:
        """The kind of task, for strata."""
        ...

    @property
    def template(self) -> str:
        """The semantic pattern it came from, for clusters."""
        ...

    @property
    def difficulty(self) -> str:
        """easy, medium or hard."""
        ...


class TraceTurn(TypedDict):
    """A turn of a training trace; `loss` says whether the model is to learn to write it."""

    role: str
    content: str
    loss: bool


class Outcome(TypedDict):
    """What a finished episode came to; the core of a rollout beside its turns."""

    stop: Stop
    valid: bool
    success: bool
    facts: dict[str, Any]
    rewards: dict[str, float]


class Episode(Protocol):
    """One conversation in progress. `stop` is None while it goes on."""

    messages: list[Message]
    stop: Stop | None

    def act(self, content: str) -> None:
        """Take the assistant's next turn; either sets `stop` or leaves work for `Domain.answer`."""
        ...

    def halt(self, stop: Stop) -> None:
        """End the episode from outside (out of tokens, an infrastructure error)."""
        ...

    def count(self, prompt_tokens: int, new_tokens: int) -> None:
        """Told after each turn: the tokens of the opening, and those that the model wrote so far."""
        ...


@dataclass(frozen=True)
class Stage:
    """A part of a warm-up: its share of the tokens, and endless traces to fill it."""

    share: float
    exercises: Iterator[list[TraceTurn]]


@dataclass(frozen=True)
class Corpus:
    """Raw material for a base model made from scratch.

    texts: what a tokenizer is trained on. strings: pieces of the protocol that become one token each. stages: what
    teaches to read and copy, easy first, and nothing of the tasks.
    """

    texts: Sequence[str]
    strings: Sequence[str]
    stages: Sequence[Stage]


class Domain(Protocol):
    """Tasks, episodes, rewards and grades of one kind of study."""

    name: str
    facts: pa.StructType

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rollouts are scored under."""
        ...

    def load_cases(self, path: Path) -> list[Any]:
        """The cases of a `cases.jsonl`, in file order."""
        ...

    def prompt(self, case: Any, system_message: str | None = None) -> list[Message]:
        """The opening messages of a case: the one function behind SFT, RL and evaluation prompts."""
        ...

    def trace(self, case: Any, rng: Random) -> list[TraceTurn]:
        """A demonstration of the case, every tool reply real; starts with the messages of `prompt`."""
        ...

    def episode(self, case: Any, messages: Sequence[Message], *, tool_rounds: int) -> Episode:
        """A fresh episode of `case` after the opening `messages`."""
        ...

    def answer(self, episodes: Sequence[Episode]) -> None:
        """Do the pending work of these episodes as one batch and append the replies to their messages."""
        ...

    def outcomes(self, episodes: Sequence[Episode]) -> list[Outcome]:
        """What each finished episode came to, under every shape of the study."""
        ...

    def grades(self, episodes: Sequence[Episode]) -> list[bool]:
        """The independent verdict on each episode's final files."""
        ...

    def terms(self, episode: Episode, shape: str) -> Mapping[str, float]:
        """The reward of a finished episode under `shape`, term by term."""
        ...

    def corpus(self, root_seed: int, size: int) -> Corpus:
        """Text of `size` cases that are drawn apart from every study's own."""
        ...

    def counters(self) -> Mapping[str, int]:
        """Running totals of verdicts: `asked`, and `hits` of the cache among them."""
        ...
