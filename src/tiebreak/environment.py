"""Conversations of the Rust domain that another agent loop drives: what the environments of RL libraries are made of.

Prompts, turns, replies, outcomes and grades are made where `rollout.play` makes them; only who asks the model is
another.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import current_process
from typing import Any

from tiebreak.batches import Batches
from tiebreak.chat import WHITESPACE, Message, render
from tiebreak.domains.base import Stop
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.llm.orders import SEED_BITS
from tiebreak.domains.rust.rewards import TERMS
from tiebreak.engines.base import Reply
from tiebreak.errors import DataError, EngineError
from tiebreak.rollout import Attempt, Played, take
from tiebreak.seeds import derive

TERM = "term_"


@dataclass(frozen=True)
class Verdict:
    """What a finished conversation came to.

    metrics: valid, success, graded (0 or 1), then the terms of the reward as `term_NAME`; reward: their sum.
    """

    stop: Stop
    reward: float
    metrics: dict[str, float]


@dataclass(frozen=True)
class _Turn:
    """A turn of the model that waits for its replies; without a reply the conversation waits for its verdict."""

    played: Played
    reply: Reply | None = None


class Environment:
    """Cases with their opening messages, and the conversations about them.

    arm: the shape of `domain` that pays. root_seed: of the seeds that requests get. The verdicts of all conversations
    that wait are computed as one batch, in a thread.
    """

    def __init__(
        self,
        domain: RustDomain,
        prompts: Sequence[tuple[Blueprint, list[Message]]],
        *,
        arm: str,
        root_seed: int,
        tool_rounds: int,
    ) -> None:
        self.domain, self.arm, self.root_seed, self.tool_rounds = domain, arm, root_seed, tool_rounds
        self.tasks = {case.case_id: (case, messages) for case, messages in prompts}
        self._opened: Counter[str] = Counter()
        self._work = Batches(self._do)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each case: `prompt`, the opening messages, and `info`, which names the case."""
        return [
            {
                "prompt": messages,
                "info": {"case_id": case.case_id, "family": case.family, "template": case.template},
            }
            for case, messages in self.tasks.values()
        ]

    def open(self, case_id: str) -> Played:
        """A conversation about a case; the n-th of this process has the seeds of sample n.

        Processes have streams of their own, or those that share a group would sample the same. Raises DataError for a
        case that is not there.
        """
        if case_id not in self.tasks:
            raise DataError(f"case {case_id} is not among the {len(self.tasks)} cases of this environment")
        case, messages = self.tasks[case_id]
        sample = self._opened[case_id]
        self._opened[case_id] += 1
        seed = partial(request_seed, self.root_seed, current_process().name, case_id, sample)
        return Played(
            Attempt(case, messages, sample, seed), self.domain.episode(case, messages, tool_rounds=self.tool_rounds)
        )

    async def turn(self, played: Played, text: str, *, complete: bool) -> list[Message]:
        """Take the model's turn and give the tools' replies: none where it ended the conversation.

        complete: the model ended it; otherwise a token limit cut it. Raises SandboxError where nothing can be run.
        """
        mark = len(played.episode.messages) + 1
        await self._work(_Turn(played, Reply(text.rstrip(WHITESPACE), [], complete)))
        return played.episode.messages[mark:]

    async def verdict(self, played: Played) -> Verdict:
        """What a conversation came to; one that goes on has no tokens left. Raises as `turn` does."""
        found = await self._work(_Turn(played))
        assert found is not None
        return found

    def metrics(self) -> list[str]:
        """The names of a verdict's metrics, in their order; the terms come last."""
        return ["valid", "success", "graded", *(TERM + name for name in TERMS)]

    def _do(self, turns: list[_Turn]) -> list[Verdict | None]:
        """Take all turns, reply to them with one call of the judge, and grade what ended."""
        for item in turns:
            if item.reply is not None:
                take(item.played, item.played.attempt.seed(len(item.played.replies)), item.reply)
        taken = [item.played.episode for item in turns if item.reply is not None]
        self.domain.answer([episode for episode in taken if episode.stop is None])
        verdicts = iter(self._judge([item.played for item in turns if item.reply is None]))
        return [next(verdicts) if item.reply is None else None for item in turns]

    def _judge(self, ended: list[Played]) -> list[Verdict]:
        for played in ended:
            if played.episode.stop is None:
                played.episode.halt("tokens")
        episodes = [played.episode for played in ended]
        outcomes, grades = self.domain.outcomes(episodes), self.domain.grades(episodes)
        return [
            Verdict(
                outcome["stop"],
                outcome["rewards"][self.arm],
                {
                    "valid": float(outcome["valid"]),
                    "success": float(outcome["success"]),
                    "graded": float(graded),
                    **{TERM + name: value for name, value in self.domain.terms(episode, self.arm).items()},
                },
            )
            for episode, outcome, graded in zip(episodes, outcomes, grades, strict=True)
        ]


def request_seed(root_seed: int, process: str, case_id: str, sample: int, turn: int) -> int:
    """The seed of one request, of as many bits as every endpoint takes."""
    return derive(root_seed, "environment", process, case_id, sample, turn) % (1 << SEED_BITS)


def same_words(asked: Sequence[Message], played: Played) -> None:
    """Raise EngineError where a client's messages do not render to the bytes of the conversation so far."""
    shown, expected = render(asked), render(played.episode.messages)
    if shown != expected:
        at = next((i for i, (a, b) in enumerate(zip(shown, expected, strict=False)) if a != b), len(shown))
        raise EngineError(
            f"case {played.attempt.case.case_id}: the model would be asked with {shown[at : at + 40]!r} at character "
            f"{at}, expected {expected[at : at + 40]!r}: the client changes messages; use one that does not"
        )
