"""The synthetic group of eight that shows what a reward table can tell apart, and stored rollouts under any table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak import tables as files
from tiebreak.domains.fathom.rewards import RewardTable, components, terms

GOLD = "blue"
GROUP: tuple[tuple[str | None, int, int], ...] = (
    ("blue", 0, 50),
    ("blue", 1, 50),
    ("blue", 3, 50),
    ("blue", 0, 400),
    ("red", 0, 50),
    ("red", 3, 50),
    ("", 0, 50),
    (None, 0, 50),
)
"""(answer, calls, tokens after a prompt of 100): right and wrong, dear and cheap, long, format only, and no tags."""


def synthetic_group(table: RewardTable) -> list[dict[str, float]]:
    """The terms of made-up rollouts that differ in all that a table may pay for."""
    return [
        terms(components(answer, GOLD, table, calls=calls, prompt_tokens=100, completion_tokens=tokens), table)
        for answer, calls, tokens in GROUP
    ]


def declared_terms(table: RewardTable) -> list[str]:
    """The components that a table gives a weight; the ties gate names those that never move."""
    return [name for name in ("correctness", "token_budget", "recursion", "present") if getattr(table, name) != 0]


def stored_terms(facts: Mapping[str, Any], tables: Mapping[str, RewardTable]) -> dict[str, dict[str, float]]:
    """The terms of a rollout under each table, from its stored facts."""
    counts = {name: facts[name] for name in ("calls", "prompt_tokens", "completion_tokens")}
    return {
        name: terms(components(facts["answer"], facts["gold_answer"], table, **counts), table)
        for name, table in tables.items()
    }


def rescored_groups(path: Path, table: RewardTable) -> list[list[dict[str, float]]]:
    """The terms of every stored rollout under `table`, grouped by case, in the table's order; errors are left out."""
    groups: dict[str, list[dict[str, float]]] = {}
    for row in files.read_table(path, ["case_id", "stop", "facts"]).to_pylist():
        if row["stop"] != "error":
            groups.setdefault(row["case_id"], []).append(stored_terms(row["facts"], {"": table})[""])
    return list(groups.values())
