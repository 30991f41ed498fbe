"""The tables of the data page: counted by hand here."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.report import tasks


@dataclass(frozen=True)
class Task:
    case_id: str
    family: str
    difficulty: str
    depth: int
    template: str


KINDS = st.builds(Task, st.uuids().map(str), st.sampled_from("fg"), st.just("easy"), st.integers(1, 12), st.text())
MEMBERS = st.dictionaries(st.sampled_from(["sft", "pool", "holdout"]), st.lists(KINDS, max_size=12), min_size=1)


@given(MEMBERS)
def test_every_case_is_counted_once_in_each_kind(members: dict[str, list[Task]]) -> None:
    frame = tasks.counts(members)
    for kind in tasks.KINDS:
        for split, cases in members.items():
            part = frame[(frame["kind"] == kind) & (frame["split"] == split)]
            found = {value: count for value, count in zip(part["value"], part["cases"], strict=True) if count}
            assert found == Counter(str(getattr(case, kind)) for case in cases)
            assert not cases or part["share"].sum() == pytest.approx(1)


def test_a_matrix_keeps_the_order_of_numbers() -> None:
    cases = [Task(str(depth), "f", "easy", depth, "t") for depth in (10, 2, 2)]
    rows = tasks.matrix(tasks.counts({"sft": cases, "pool": cases[:1]}), "depth")
    assert rows == [{"value": "2", "sft": 2, "pool": 0}, {"value": "10", "sft": 1, "pool": 1}]


def test_one_cause_is_one_row_with_the_most_frequent_first() -> None:
    rejects = [
        {"case_id": "a_b", "step": 0, "errors": ["a_b: invalid JSON spec (line 1)"]},
        {"case_id": "one", "step": 3, "errors": ["one: step 3 expected 'failed', got 'success'", "more"]},
        {"case_id": "two", "step": 3, "errors": ["two: step 3 expected 'failed', got 'late'"]},
        {"case_id": "bare", "step": 0, "errors": []},
    ]
    found = tasks.reject_reasons(rejects)
    assert [(row["step"], row["cases"], row["example"]) for row in found] == [
        (3, 2, "one"),
        (0, 1, "a_b"),
        (0, 1, "bare"),
    ]
    assert found[0]["reason"] == "expected '…', got '…'"


def test_similarities_are_those_of_the_gate() -> None:
    near = [{"split": "pool", "against": "sft", "histogram": {"edges": [0.0, 0.5, 1.0], "counts": [1, 3]}}]
    frame = tasks.similarities({"measure": {"near": near}})
    assert frame.to_dict("list") == {
        "split": ["pool", "pool"],
        "against": ["sft", "sft"],
        "low": [0.0, 0.5],
        "high": [0.5, 1.0],
        "cases": [1, 3],
    }


def test_the_first_trace_of_each_family_is_shown() -> None:
    rows = [{"family": "g", "case_id": "1"}, {"family": "f", "case_id": "2"}, {"family": "g", "case_id": "3"}]
    assert [row["case_id"] for row in tasks.examples(rows)] == ["2", "1"]
