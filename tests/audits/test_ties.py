import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.ties import (
    dead_terms,
    group_rewards,
    spread,
    term_activity,
    tied,
    tied_by_step,
    tied_fraction,
)
from tiebreak.errors import DataError


@given(st.lists(st.lists(st.integers(-20, 20), min_size=1, max_size=8), min_size=1, max_size=8))
def test_tied_means_all_rewards_equal(rewards):
    assert tied(rewards).tolist() == [len(set(group)) == 1 for group in rewards]


def test_differences_under_the_tolerance_tie():
    assert tied([[1.0, 1.0 + 9e-10], [1.0, 1.0 + 2e-9]]).tolist() == [True, False]


def test_fraction_has_its_wilson_interval():
    result = tied_fraction([[0, 0]] * 3 + [[0, 1]])
    assert (result.count, result.total, result.value) == (3, 4, 0.75)
    assert result.low == pytest.approx(0.3006, abs=1e-4)
    assert tied_fraction([]).value is None


def test_by_step():
    steps = tied_by_step([2, 1, 1, 2, 2], [True, False, True, True, False])
    assert {step: (f.count, f.total) for step, f in steps.items()} == {1: (1, 2), 2: (2, 3)}


def test_refuses_empty_groups_and_nan():
    with pytest.raises(DataError, match="without rollouts"):
        spread([])
    with pytest.raises(DataError, match="reward 1 of a group is not a number"):
        spread([0.0, float("nan")])


def test_dead_terms_are_constant_inside_every_group():
    groups = [
        [{"correct": 1.0, "format": 0.1, "calls": 1.0}, {"correct": 0.0, "format": 0.1, "calls": 1.0}],
        [{"correct": 0.0, "format": 0.2, "calls": 1.0}, {"correct": 0.0, "format": 0.2, "calls": 1.0}],
    ]
    # format differs between groups, which teaches nothing; bonus is declared and never appears
    assert dead_terms(groups, ["correct", "bonus"]) == ["bonus", "format", "calls"]
    format_row = next(row for row in term_activity(groups) if row.term == "format")
    assert (format_row.moved, format_row.groups, format_row.smallest, format_row.largest) == (0, 2, 0.1, 0.2)


def test_a_term_that_some_rollouts_lack_moves():
    assert dead_terms([[{"valid": 10.0}, {}]]) == []


def test_groups_by_key():
    assert group_rewards(["a", "b", "a"], [1, 2, 3]) == [[1.0, 3.0], [2.0]]
