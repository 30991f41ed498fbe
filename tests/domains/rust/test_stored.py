"""Rewards of stored rollouts are those that the episodes were paid."""

from tiebreak.domains.rust.rewards import PUBLISHED_TABLES, RewardTable
from tiebreak.domains.rust.stored import stored_terms


def test_an_error_is_never_a_score() -> None:
    assert stored_terms([], "error", None, PUBLISHED_TABLES) == {}


def test_facts_are_those_that_were_stored() -> None:
    turns = [{"role": "assistant", "content": 'CALL cargo_test {"id":"c1","project_path":"x"}'}]
    turns.append({"role": "tool", "content": "RESULT c1:\nstatus: failed\nstderr:\nerror: test failed"})
    facts = {"compiled": True, "phase": 4, "tests_passed": 1, "tests_total": 4, "tampered": ["x"]}
    paid = stored_terms(turns, "budget", facts, {"mine": RewardTable(compiled=0.5, tests_passed=2.0, phase=2.0)})
    shaped = {name: value for name, value in paid["mine"].items() if value}
    assert shaped == {
        "final_count": -3.0, "failed_cargo": -1.0, "compiled": 0.5, "tests_passed": 0.5, "phase": 2.0, "budget": -5.0,
    }  # fmt: skip
