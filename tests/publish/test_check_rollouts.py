"""A failure that is stored as an infrastructure error, so that it counts nowhere, is told from a real one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.publish.check_rollouts import Key, Sampled, broken, counted
from tiebreak.seeds import stream

PLAN = Sampled(Path("rollouts.parquet"), "sft", ("probe",), 0, [], 1, tool_rounds=8, turn_tokens=64)


@pytest.fixture(scope="module")
def shown(cases: list[Any]) -> tuple[RustDomain, Key, list[dict[str, Any]]]:
    """A case, and the turns of its demonstration after the prompt."""
    domain = RustDomain(Judge(None, diagnostics="short"), PUBLISHED_TABLES)
    case = cases[0]
    opening = domain.prompt(case)
    (turns,) = domain.traces([case], lambda one: stream(1, one.case_id), 0.0)
    return domain, Key(case, opening, 0, None), [dict(turn) for turn in turns if turn["role"] != "system"]


def found(shown: tuple[RustDomain, Key, list[dict[str, Any]]], turns: list[dict[str, Any]], **changes: Any) -> str:
    domain, key, _ = shown
    ((_, _, stop),) = broken(domain, PLAN, {"stop": "error", "turns": turns} | changes, key)
    return str(stop)


def test_an_error_after_a_call_is_believed(shown: Any) -> None:
    _, _, turns = shown
    last = max(n for n, turn in enumerate(turns) if turn["role"] == "assistant")
    assert found(shown, turns[:last]) == "error"


def test_an_error_after_an_answer_is_none(shown: Any) -> None:
    _, _, turns = shown
    assert found(shown, turns) == "final"
    assert found(shown, [{"role": "assistant", "content": "no call at all"}]) == "final"


def test_an_error_beyond_the_rounds_is_none(shown: Any) -> None:
    _, _, turns = shown
    call = next(turn for turn in turns if turn["role"] == "assistant")
    assert found(shown, [call] * 8) == "error"
    assert found(shown, [call] * 9) == "budget"


def test_what_ended_otherwise_and_what_said_nothing_are_no_matter_of_this(shown: Any) -> None:
    domain, key, turns = shown
    assert list(broken(domain, PLAN, {"stop": "final", "turns": turns}, key)) == []
    assert list(broken(domain, PLAN, {"stop": "error", "turns": []}, key)) == []


def test_a_cut_rollout_is_no_error() -> None:
    row = {"turns": [], "new_tokens": 0, "truncated": True, "stop": "error"}
    assert ("truncated", True, False) in list(counted(PLAN, row))


def test_a_turn_has_no_more_tokens_than_the_study_allows() -> None:
    turn = {"role": "assistant", "tokens": 9}
    row = {"turns": [turn], "new_tokens": 9, "truncated": False, "stop": "final"}
    found, right = ({name: (a, b) for name, a, b in counted(replace(PLAN, turn_tokens=n), row)} for n in (8, 9))
    assert found["most tokens of a turn"] == (9, 8) and right["most tokens of a turn"] == (9, 9)
