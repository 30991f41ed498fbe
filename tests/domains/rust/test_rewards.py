"""The reward ladder: against the published scorer on 260 transcripts, and rule by rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tiebreak.chat import Message
from tiebreak.domains.rust.facts import Facts
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES, TERMS, RewardTable, reward, terms

CASES = Path(__file__).parents[4] / "shared" / "data" / "glyph" / "reward_cases.jsonl"
SPARSE = PUBLISHED_TABLES["sparse"]
GLUED = "CALLNow {}"


def cases() -> list[dict[str, Any]]:
    if not CASES.is_file():
        pytest.skip(f"the published reward cases are not at {CASES}")
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def says(content: str) -> Message:
    return {"role": "assistant", "content": content}


def cargo(number: int, ok: bool, text: str = "") -> list[Message]:
    """A cargo call with its reply."""
    line = format_call("cargo_test", f"c{number}", {"project_path": "crates/a"})
    return [says(line), {"role": "tool", "content": format_result(f"c{number}", ok, stderr=text)}]


FINAL = [says("FINAL: done")]
READ = [says(format_call("read_file", "r", {"file_path": "x"})), {"role": "tool", "content": format_result("r", True)}]


@pytest.mark.parametrize("shape", ["sparse", "dense", "compiler"])
def test_all_published_values_are_repeated(shape: str) -> None:
    table = PUBLISHED_TABLES[shape].model_copy(update={"profile": "published"})
    rows = cases()
    ours = [reward(row["turns"], row["tool_budget_exhausted"], table) for row in rows]
    assert len(rows) == 260
    wrong = [
        (row["id"], row["mutation"], value, row["reward"][shape])
        for row, value in zip(rows, ours, strict=True)
        if abs(value - row["reward"][shape]) > 1e-9
    ]
    assert wrong == []


def test_the_published_tables_are_the_published_tables() -> None:
    assert dict(PUBLISHED_TABLES) == {
        "sparse": RewardTable(),
        "dense": RewardTable(compiled=0.5, tests_passed=2.0),
        "compiler": RewardTable(phase=2.5),
    }


@pytest.mark.parametrize(
    ("turns", "exhausted", "paid"),
    [
        ([], False, {"no_call": -5}),
        ([says("hello")], True, {"no_call": -5}),
        ([says(f"CALL x\nCALL y\n{GLUED}\nFINAL: a\nFINAL: b")], True, {"no_call": -5, "malformed_call": -4}),
        ([*cargo(1, True), *FINAL], False, {"valid": 10}),
        ([*cargo(1, True), *FINAL], True, {"valid": 10, "budget": -5}),
        ([*cargo(1, False), *cargo(2, True), *FINAL], False, {"failed_cargo": -1, "valid": 10}),
        ([m for n in range(6) for m in cargo(n, False)] + FINAL, False, {"failed_cargo": -4}),
        (
            [m for n in range(6) for m in cargo(n, False)] + cargo(9, True) + FINAL,
            False,
            {"failed_cargo": -4, "valid": 10},
        ),
        ([*cargo(1, True), *cargo(2, False), *FINAL], False, {"call_after_success": -6}),
        ([*READ, *FINAL], False, {"no_cargo": -3}),
        ([*cargo(1, False)[:1], *FINAL], False, {"no_cargo": -3}),
        (cargo(1, True), False, {"final_count": -3}),
        ([*cargo(1, True), says("FINAL: a\nFINAL: b")], False, {"final_count": -3}),
        ([*cargo(1, True), says("So.\nFINAL: a")], False, {}),
        ([says("\n".join([GLUED] * 6)), *cargo(1, True), *FINAL], False, {"glued_call": -16, "valid": 10}),
        ([says("CALL x\nCALL y"), *cargo(1, True), *FINAL], False, {"malformed_call": -4}),
    ],
)
def test_each_rule_pays_what_the_table_says(turns: list[Message], exhausted: bool, paid: dict[str, float]) -> None:
    assert terms(turns, exhausted, SPARSE) == dict.fromkeys(TERMS, 0.0) | paid


def test_a_source_path_costs_and_denies_valid() -> None:
    line = format_call("cargo_test", "c1", {"project_path": "crates/a/src/lib.rs"})
    turns = [says(line), {"role": "tool", "content": format_result("c1", True)}, *FINAL]
    assert {key: value for key, value in terms(turns, False, SPARSE).items() if value} == {"source_path": -4.0}


def test_the_cap_takes_what_shaping_would_pay_for_a_broken_transcript_but_not_the_budget() -> None:
    turns = [says("CALL broken"), *cargo(1, False), *FINAL]
    paid = terms(turns, True, RewardTable(compiled=100.0), Facts(True, 4))
    assert (paid["compiled"], paid["cap"], paid["budget"]) == (100.0, -95.0, -5.0)
    assert sum(paid.values()) == -5.0


def test_shaping_is_paid_only_without_a_success() -> None:
    table, facts = RewardTable(compiled=0.5, tests_passed=2.0, phase=2.5), Facts(True, 3, 1, 4)
    assert reward([*cargo(1, False), *FINAL], False, table, facts) == pytest.approx(-1 + 0.5 + 0.5 + 1.875)
    assert reward([*cargo(1, True), *FINAL], False, table, facts) == 10


def test_the_profile_chooses_the_facts() -> None:
    turns = [*cargo(1, False, "error[E0106]: x\nerror: could not compile `a`"), *FINAL]
    known = Facts(True, 4)
    assert reward(turns, False, RewardTable(phase=4.0, profile="published"), known) == -1 + 3
    assert reward(turns, False, RewardTable(phase=4.0), known) == -1 + 4
    assert reward(turns, False, RewardTable(phase=4.0)) == -1 + 2


@pytest.mark.parametrize(
    "values", [{"bonus": 1.0}, {"phase": "much"}, {"phase": float("nan")}, {"compiled": float("inf")}, {"profile": "x"}]
)
def test_a_bad_table_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RewardTable.model_validate(values)


TURNS = st.lists(
    st.sampled_from(
        [
            cargo(1, True),
            cargo(2, False),
            cargo(3, False, "error[E0382]: x"),
            READ,
            FINAL,
            [says(GLUED)],
            [says("CALL x")],
            [says("FINAL: a\nFINAL: b")],
        ]
    ),
    max_size=8,
).map(lambda parts: [message for part in parts for message in part])
AMOUNTS = st.floats(-50, 50)


@given(TURNS, st.booleans(), st.builds(RewardTable, compiled=AMOUNTS, tests_passed=AMOUNTS, phase=AMOUNTS))
def test_terms_are_complete_add_up_and_respect_the_cap(
    turns: list[Message], exhausted: bool, table: RewardTable
) -> None:
    paid = terms(turns, exhausted, table)
    assert tuple(paid) == TERMS
    assert reward(turns, exhausted, table) == sum(paid.values())
    if paid["malformed_call"] or paid["source_path"]:
        assert sum(paid.values()) <= 1e-9
    assert paid["cap"] <= 0
    assert all(str(value) != "-0.0" for value in paid.values())


@given(TURNS, st.booleans())
def test_a_shape_moves_only_its_own_terms(turns: list[Message], exhausted: bool) -> None:
    plain = terms(turns, exhausted, SPARSE)
    shaped = terms(turns, exhausted, PUBLISHED_TABLES["compiler"])
    assert {key for key in TERMS if plain[key] != shaped[key]} <= {"phase", "cap"}
