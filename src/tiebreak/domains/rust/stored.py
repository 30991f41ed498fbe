"""Rewards of stored rollouts, from their turns and facts alone: no sandbox, no verdict is asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.chat import Message
from tiebreak.domains.rust.facts import Facts
from tiebreak.domains.rust.rewards import RewardTable, terms
from tiebreak.domains.rust.transcript import read_transcript


def stored_terms(
    turns: Sequence[Message], stop: str, facts: Mapping[str, Any] | None, tables: Mapping[str, RewardTable]
) -> dict[str, dict[str, float]]:
    """The reward of a stored rollout under each table, term by term, as the episode was paid while it ran.

    turns, stop, facts: columns of a rollout. Nothing for `stop = error`: an infrastructure failure is never a score.
    """
    if stop == "error":
        return {}
    known = None if facts is None else Facts(**{name: facts[name] for name in Facts.__dataclass_fields__})
    transcript = read_transcript(turns)
    return {name: terms(transcript, stop == "budget", table, known) for name, table in tables.items()}
