"""What a domain is. The workflow, the statistics and the report know only this file; a domain brings the rest.

An *episode* answers: it takes assistant turns and holds what the domain must do next. A *domain* does that work for
many episodes at once (`answer`), so that one compilation can serve a whole batch, and grades finished ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal, Protocol, TypedDict

import pyarrow as pa

from tiebreak.chat import Message
from tiebreak.domains.reading import Reader

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

    @property
    def depth(self) -> int:
        """How many attempts its demonstration takes, detours apart."""
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


def number_of_calls(facts: Mapping[str, Any]) -> int:
    """How many calls a rollout made: domains keep their number, or the calls themselves."""
    calls = facts["calls"]
    return calls if isinstance(calls, int) else len(calls)


class Reject(TypedDict):
    """A blueprint that is no case. `step` counts from 1; 0 is the plan or the task as a whole."""

    case_id: str
    step: int
    errors: list[str]


@dataclass
class Drawn:
    """What sources gave: blueprints, and what was no blueprint, each in the sources' order. words: for the log."""

    blueprints: list[Any] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    words: str = ""


class Aside(Protocol):
    """A side conversation with the policy that plays. tokens: those that it wrote in it so far."""

    tokens: int

    def say(self, messages: Sequence[Message]) -> str | None:
        """The policy's next turn after these new messages; None where a token limit cut it."""
        ...


Policy = Callable[[int], Aside]
"""A fresh side conversation by its number, which names its seeds, with the policy that plays an episode."""


class Episode(Protocol):
    """One conversation in progress. `stop` is None while it goes on."""

    messages: list[Message]
    stop: Stop | None

    def meet(self, policy: Policy) -> None:
        """Told before the first turn who plays, for domains whose tools ask the policy itself."""
        ...

    def recall(self, facts: Mapping[str, Any]) -> None:
        """Told before the first turn that stored turns are said again: the facts hold what the policy was asked."""
        ...

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
    def size(self) -> str | None:
        """The whole number among a rollout's facts that says how large its task was, if there is one."""
        ...

    @property
    def counted(self) -> Sequence[str]:
        """The whole numbers among a rollout's facts that a report averages, such as `calls`; may be none."""
        ...

    @property
    def strata(self) -> Mapping[str, Sequence[str]]:
        """Names for groups of families that are reported beside the families."""
        ...

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rollouts are scored under."""
        ...

    def load_cases(self, path: Path) -> list[Any]:
        """The blueprints or cases of a JSONL file, in file order."""
        ...

    def dump_cases(self, path: Path, cases: Sequence[Any]) -> None:
        """Write blueprints or cases as JSONL, whole or not at all."""
        ...

    def materialize(
        self, blueprints: Sequence[Any], progress: Callable[[int], object]
    ) -> tuple[list[Any], list[Reject]]:
        """(cases, rejects), each in order; `progress` is told how many were just finished."""
        ...

    def forms(self, case: Any) -> Mapping[str, str]:
        """The texts of a case that must not stand in two splits, by the names that reports give them."""
        ...

    def question(self, case: Any) -> str:
        """What is asked, without what all prompts have in common: held against other splits' in the leakage record."""
        ...

    def answer_text(self, case: Any) -> str:
        """What a right answer consists of, as text; may be empty."""
        ...

    def prompt(self, case: Any, system_message: str | None = None, *, drifted: bool = False) -> list[Message]:
        """The opening messages of a case: the one function behind SFT, RL and evaluation prompts.

        drifted: the other layout of a domain that has one, for arms with the fault `drifted_prompt`.
        """
        ...

    def traces(
        self,
        cases: Sequence[Any],
        rng_of_case: Callable[[Any], Random],
        detours: float,
        *,
        system_message: str | None = None,
        most_calls: int = ...,
    ) -> list[list[TraceTurn]]:
        """A demonstration of each case, every tool reply real; each starts with the messages of `prompt`.

        detours: the chance of a wrong action and the way back from it, within `most_calls` calls in all.
        """
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

    def declared_terms(self, shape: str) -> Sequence[str]:
        """The terms that `shape` pays for and that ought to differ inside a group."""
        ...

    def synthetic_group(self, shape: str) -> list[dict[str, float]]:
        """The terms of made-up rollouts that should move every declared term."""
        ...

    def rescored_groups(self, rollouts: Path, shape: str) -> list[list[dict[str, float]]]:
        """The terms of stored rollouts under `shape`, grouped by case, in the table's order; errors are left out."""
        ...

    def stored_terms(
        self, turns: Sequence[Message], stop: str, facts: Mapping[str, Any] | None
    ) -> Mapping[str, Mapping[str, float]]:
        """The reward of a stored rollout under every shape, term by term; nothing for one that ended in an error."""
        ...

    def reader(self, cases: Sequence[Any]) -> Reader:
        """What reads stored rollouts of these cases for audits, under the domain's shapes."""
        ...

    def corpus(self, root_seed: int, size: int) -> Corpus:
        """Text of `size` cases that are drawn apart from every study's own."""
        ...

    def counters(self) -> Mapping[str, int]:
        """Running totals of verdicts: `asked`, and `hits` of the cache among them."""
        ...
