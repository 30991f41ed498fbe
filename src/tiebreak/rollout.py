"""The agent loop: an engine talks, episodes answer, all conversations of a batch in step (`rollout_free`: apart).

A round is one assistant turn of every live conversation and then one batch of the domain's work, so that verdicts are
computed together. What a model sees is built here and nowhere else, for training rollouts, probes and evaluations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from tiebreak.chat import BREAK, OPENING, Message, prompt, render
from tiebreak.domains.base import Domain, Episode
from tiebreak.engines.base import Engine, Reply


@dataclass(frozen=True)
class Attempt:
    """One rollout to play: a case, the messages that open it, its sample number, and the seed of each turn."""

    case: Any
    messages: list[Message]
    sample: int
    seed: Callable[..., int]


@dataclass
class Played:
    """A finished rollout: its episode, the model's turns in order, and each turn's seed."""

    attempt: Attempt
    episode: Episode
    replies: list[Reply] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    """The whole conversation's tokens, as the model saw and wrote them."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where in `ids` the model's own turns begin and end."""

    @property
    def new_tokens(self) -> int:
        """Tokens that the model wrote."""
        return sum(len(reply.ids) for reply in self.replies)

    @property
    def truncated(self) -> bool:
        """Whether a token limit cut a turn."""
        return any(not reply.complete for reply in self.replies)


class EngineAside:
    """A side conversation with an engine's model (`domains.base.Aside`), in a session of its own.

    seed: of the rollout that it belongs to; a turn's own is of the stream [.., "llm", number, turn]. lock: held while
    the engine works, since episodes ask from threads of their own.
    """

    def __init__(self, engine: Engine, seed: Callable[..., int], lock: Lock, number: int) -> None:
        self.tokens, self.turns = 0, 0
        self._seed, self._number, self._lock = partial(seed, "llm", number), number, lock
        self._session = engine.session(1)

    def say(self, messages: Sequence[Message]) -> str | None:
        """See `Aside.say`."""
        text = follow_up(messages) if self.turns else prompt(messages)
        with self._lock:
            reply = self._session.reply([0], [text], [self._seed(self.turns)])[0]
        self.turns += 1
        self.tokens += len(reply.ids)
        return reply.text if reply.complete else None


def play(engine: Engine, domain: Domain, attempts: Sequence[Attempt], *, tool_rounds: int) -> list[Played]:
    """Play all attempts to their ends, in step; the result has their order.

    A conversation ends when its episode says so, or with stop `tokens` when a turn hits a token limit.
    """
    played = [
        Played(attempt, domain.episode(attempt.case, attempt.messages, tool_rounds=tool_rounds)) for attempt in attempts
    ]
    one_at_a_time = Lock()
    for item in played:
        item.episode.meet(partial(EngineAside, engine, item.attempt.seed, one_at_a_time))
    session = engine.session(len(attempts))
    live = list(range(len(attempts)))
    texts = [prompt(attempt.messages) for attempt in attempts]
    while live:
        seeds = [played[row].attempt.seed(len(played[row].replies)) for row in live]
        for row, seed, reply in zip(live, seeds, session.reply(live, texts, seeds), strict=True):
            played[row].ids = session.context[row]
            take(played[row], seed, reply)
        live = [row for row in live if played[row].episode.stop is None]
        marks = [len(played[row].episode.messages) for row in live]
        domain.answer([played[row].episode for row in live])
        texts = [follow_up(played[row].episode.messages[mark:]) for row, mark in zip(live, marks, strict=True)]
        pairs = [(row, text) for row, text in zip(live, texts, strict=True) if played[row].episode.stop is None]
        live, texts = [row for row, _ in pairs], [text for _, text in pairs]
    return played


def take(played: Played, seed: int, reply: Reply) -> None:
    """Hand the model's turn, which `ids` end with, to the episode.

    A turn that a limit cut ends the episode and is kept, but never run.
    """
    played.replies.append(reply)
    played.seeds.append(seed)
    played.spans.append((len(played.ids) - len(reply.ids), len(played.ids)))
    if reply.complete:
        played.episode.act(reply.text)
    else:
        played.episode.messages.append({"role": "assistant", "content": reply.text})
        played.episode.halt("tokens")
    played.episode.count(played.spans[0][0], played.new_tokens)


def follow_up(replies: Sequence[Message]) -> str:
    """What is appended to a conversation after the model's turn: the tools' replies and the next turn's opening."""
    return BREAK + render(replies) + BREAK + OPENING
