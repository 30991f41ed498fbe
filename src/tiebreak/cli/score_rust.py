"""What `tiebreak score` knows of the Rust domain."""

from collections.abc import Mapping
from typing import Any

from tiebreak.cli.lines import expect, kind
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES as PUBLISHED_TABLES
from tiebreak.domains.rust.rewards import RewardTable as RewardTable
from tiebreak.domains.rust.rewards import terms
from tiebreak.domains.rust.transcript import read_transcript
from tiebreak.errors import DataError

WHAT, KEYS = "transcripts", "id and turns"


def check(item: Mapping[str, Any], place: str) -> None:
    """Raise DataError for the first thing that is wrong with a line."""
    wanted: dict[str, tuple[type, str]] = {
        "id": (str, "a string"),
        "turns": (list, "a list of {role, content}"),
        "tool_budget_exhausted": (bool, "true or false (false where the episode ended by itself)"),
    }
    expect(item, place, wanted)
    for number, turn in enumerate(item["turns"]):
        _check_turn(turn, f"{place}: turns[{number}]")


def _check_turn(turn: Any, place: str) -> None:
    if not isinstance(turn, dict):
        raise DataError(f"{place}: found {kind(turn)}, expected an object with role and content")
    for key in ("role", "content"):
        if not isinstance(turn.get(key), str):
            found = kind(turn[key]) if key in turn else "nothing"
            raise DataError(f"{place}.{key}: found {found}, expected a string")
    if turn["role"] not in ("system", "user", "assistant", "tool"):
        raise DataError(f"{place}.role: found {turn['role']!r}, expected assistant or tool")


def score(item: Mapping[str, Any], tables: Mapping[str, RewardTable]) -> dict[str, Any]:
    """One transcript under every table; the reward is the sum of the terms."""
    transcript = read_transcript(item["turns"])
    paid = {name: terms(transcript, item["tool_budget_exhausted"], table) for name, table in tables.items()}
    rewards = {name: sum(parts.values()) for name, parts in paid.items()}
    return {"id": item["id"], "reward": rewards, "terms": paid, "valid": transcript.valid}
