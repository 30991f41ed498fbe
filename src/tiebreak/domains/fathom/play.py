"""An episode that somebody else plays, over a server: what they see before its end, and after it.

The task's answer and seed stay in here until the episode is over.
"""

from dataclasses import asdict
from typing import Any

from tiebreak.chat import Message
from tiebreak.domains.fathom.domain import FathomDomain
from tiebreak.domains.fathom.orders import Allowance, Order
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES, reward
from tiebreak.domains.fathom.tasks import Task
from tiebreak.errors import ConfigError


class Play:
    """One episode in progress; `close` it. Nothing is started before the first turn with code."""

    def __init__(self, task: Task, order: Order, allowance: Allowance) -> None:
        self.order, self.allowance, self.turns = order, allowance, 0
        self._task = task
        self._domain = FathomDomain(tables=PUBLISHED_TABLES, settings=allowance.settings(order.responder))
        self._episode = self._domain.episode(task, self._domain.prompt(task), tool_rounds=allowance.tool_rounds)
        self._seen = 0

    def turn(self, content: str) -> None:
        """Take a turn as a model writes it and run its code. Raises ConfigError where the episode is over."""
        if self._episode.stop is not None:
            raise ConfigError(f"this episode is over ({self._episode.stop}); reset for another")
        self.turns += 1
        self._episode.act(content)
        if self._episode.waiting:
            self._episode.run()
        self._seen += 1  # who wrote the turn needs no copy of it

    def news(self) -> list[Message]:
        """What a model sees that was not told before: the opening, then each reply."""
        told = self._episode.messages[self._seen :]
        self._seen = len(self._episode.messages)
        return told

    def abandon(self) -> None:
        """Have running code ended soon; for another thread than that of `turn`."""
        self._episode.abandon()

    def close(self) -> None:
        """End it, wherever it stands; its process is gone when this returns."""
        self._episode.halt(self._episode.stop or "error")

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._episode.stop is not None

    def view(self) -> dict[str, Any]:
        """Where it stands: what is left of the budgets, and the tree of calls."""
        budget = self._episode.budget
        return {
            "kind": self._task.family,
            "characters": len(self._task.document),
            "shape": self.order.shape,
            "responder": self.order.responder,
            "turns": self.turns,
            "rounds_left": self.allowance.tool_rounds - len(self._episode.ran),
            "calls": budget.calls,
            "calls_left": budget.most_calls - budget.calls,
            "refused": budget.refused,
            "deepest": budget.deepest,
            "tree": [{name: sendable(value) for name, value in asdict(call).items()} for call in budget.trace],
        }

    def result(self) -> dict[str, Any] | None:
        """What it came to; None before the end. rewards: by shape; terms: by shape and component, adding up to it."""
        if self._episode.stop is None:
            return None
        terms = {shape: dict(self._domain.terms(self._episode, shape)) for shape in self._domain.shapes}
        failed = self._episode.stop == "error"
        return {
            "stop": self._episode.stop,
            "answer": sendable(self._episode.answer),
            "gold_answer": self._task.answer,
            "correct": self._episode.correct,
            "terms": {} if failed else terms,
            "rewards": {} if failed else {shape: reward(paid) for shape, paid in terms.items()},
        }


def sendable(value: Any) -> Any:
    """Text without lone surrogates, which no UTF-8 can hold and which code may well write; anything else as it is."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
