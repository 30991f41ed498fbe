"""A failure that is stored as an infrastructure error, so that it counts nowhere, is told from a real one."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.publish.check_rollouts import Key, Sampled, broken, counted
from tiebreak.seeds import stream

PLAN = cast(Sampled, SimpleNamespace(tool_rounds=8))


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
    assert ("truncated", True, False) in list(counted(row))
