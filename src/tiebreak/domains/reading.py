"""How a domain reads a rollout that is stored: what audits know of it beside the core that all domains share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from tiebreak.chat import Message

CallOutcome = Literal["succeeded", "failed", "not run"]


class StoredRollout(NamedTuple):
    """What is read: the case, the whole conversation, how it stopped, and the domain's facts where they are stored."""

    case_id: str
    turns: Sequence[Message]
    stop: str
    facts: Mapping[str, Any] | None = None


class ReadCall(NamedTuple):
    """One call of a rollout: what it was after (the domain's word), what became of it, and a detail for people."""

    kind: str
    outcome: CallOutcome
    detail: str = ""


@dataclass(frozen=True)
class Reading:
    """reached: one of the reader's `phases`; slips: how often each of its `slips` occurs; rewards: by shape, and only
    where the stored rollout says enough to compute them; valid, success: as the turns alone say."""

    reached: str
    slips: Mapping[str, int]
    calls: tuple[ReadCall, ...]
    rewards: Mapping[str, float]
    valid: bool = False
    success: bool = False


class Reader(Protocol):
    """A domain's reading of stored rollouts.

    phases: how far an attempt can come, nearest first, the last being a success. slips: names of breaches of the
    protocol. tampering: the kinds of calls that are after something a model may not touch. shaping: the names of the
    reward terms that the shapes differ by. shapes: the shapes that rewards are computed for.
    """

    phases: Sequence[str]
    slips: Sequence[str]
    tampering: Sequence[str]
    shaping: Sequence[str]

    @property
    def shapes(self) -> Sequence[str]:
        """The shapes that rewards are computed for."""
        ...

    def read(self, rollout: StoredRollout) -> Reading:
        """Read one rollout. Raises DataError for a case that the reader does not know."""
        ...
