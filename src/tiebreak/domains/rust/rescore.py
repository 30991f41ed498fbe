"""Rewards of stored rollouts under any table, term by term, and the synthetic group that shows a table's dead terms."""

from pathlib import Path
from typing import Any

from tiebreak import tables
from tiebreak.domains.rust.facts import Facts, stated
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.rewards import RewardTable, terms
from tiebreak.domains.rust.transcript import read_transcript

SHAPING = ("compiled", "tests_passed", "phase")
BUILD_FAILED = "\nerror: could not compile `crate` (lib) due to 1 previous error"
REPLIES = (
    ("", "error: expected `;`, found `}`" + BUILD_FAILED),
    ("", "error[E0308]: mismatched types" + BUILD_FAILED),
    ("", "error[E0382]: use of moved value" + BUILD_FAILED),
    ("test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out", "error: test failed"),
    ("test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out", "error: test failed"),
)
"""What a failing cargo call may answer: one reply for each compiler phase, and two that pass other fractions."""


def shaping_terms(table: RewardTable) -> list[str]:
    """The shaping terms that a table pays for."""
    return [name for name in SHAPING if getattr(table, name) != 0]


def rescored_groups(path: Path, table: RewardTable) -> list[list[dict[str, float]]]:
    """The terms of every stored rollout under `table`, grouped by case, in the table's order; errors are left out."""
    groups: dict[str, list[dict[str, float]]] = {}
    for row in tables.read_table(path, ["case_id", "turns", "stop", "facts"]).to_pylist():
        if row["stop"] != "error":
            found = terms(row["turns"], row["stop"] == "budget", table, stored_facts(row["facts"]))
            groups.setdefault(row["case_id"], []).append(found)
    return list(groups.values())


def stored_facts(facts: dict[str, Any]) -> Facts:
    """The facts of a stored rollout."""
    return Facts(*(facts[name] for name in ("compiled", "phase", "tests_passed", "tests_total")))


def synthetic_group(table: RewardTable) -> list[dict[str, float]]:
    """The terms of made-up rollouts that fail in every way that a shaping term can tell apart."""
    call = format_call("cargo_test", "c1", {"project_path": "crates/crate"})
    group = []
    for stdout, stderr in REPLIES:
        reply = format_result("c1", ok=False, stdout=stdout, stderr=stderr)
        turns = [{"role": "assistant", "content": call}, {"role": "tool", "content": reply}]
        transcript = read_transcript([*turns, {"role": "assistant", "content": "FINAL: no."}])  # type: ignore[list-item]
        group.append(terms(transcript, False, table, stated(transcript)))
    return group
