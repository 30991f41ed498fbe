"""Stored fathom rollouts, read again: the phase, the slips, and the rewards that were stored."""

import pytest

from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.reading import PHASES, SLIPS, FathomReader
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES
from tiebreak.domains.reading import StoredRollout
from tiebreak.errors import DataError

(TASK,) = generate(1, 1, {900: 1.0})
READER = FathomReader([TASK], PUBLISHED_TABLES)
GOOD = {"ok": True, "cut": False, "ended": "ran"}


def facts(**changes: object) -> dict[str, object]:
    plain = {
        "answer": TASK.answer,
        "gold_answer": TASK.answer,
        "calls": 0,
        "refused": 0,
        "depth": 0,
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "blocks": [GOOD],
    }
    return plain | changes


@pytest.mark.parametrize(
    ("changes", "phase", "slipped"),
    [
        ({}, "success", {}),
        ({"answer": "no such thing"}, "answered", {}),
        ({"answer": " "}, "answered", {"empty_answer": 1}),
        ({"answer": None}, "code_ran", {"no_answer": 1}),
        ({"answer": None, "blocks": [GOOD | {"ok": False, "cut": True}]}, "code_failed",
         {"no_answer": 1, "failed_block": 1, "cut_output": 1}),
        ({"answer": None, "blocks": [], "refused": 3}, "nothing_run", {"no_answer": 1, "refused_call": 3}),
    ],
)  # fmt: skip
def test_how_far_a_rollout_came(changes: dict[str, object], phase: str, slipped: dict[str, int]) -> None:
    reading = READER.read(StoredRollout(TASK.case_id, [], "final", facts(**changes)))
    assert reading.reached == phase and phase in PHASES
    assert {name: count for name, count in reading.slips.items() if count} == slipped
    assert set(reading.slips) == set(SLIPS)


def test_rewards_are_those_of_each_shape_and_none_for_an_error() -> None:
    reading = READER.read(StoredRollout(TASK.case_id, [], "final", facts(calls=1)))
    assert reading.rewards == {"v1_gate": 1.0, "v2_soft": 1.1, "v3_recursion": pytest.approx(1.1 - 0.15 * 0.25)}
    assert READER.read(StoredRollout(TASK.case_id, [], "error", facts())).rewards == {}


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(DataError, match="case other is not among the cases"):
        READER.read(StoredRollout("other", [], "final", facts()))
    with pytest.raises(DataError, match="has no facts"):
        READER.read(StoredRollout(TASK.case_id, [], "final", None))
