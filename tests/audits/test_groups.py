import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.audits.groups import COUNTS, by_run, by_step, disagreements, measure
from tiebreak.errors import DataError

SHAPING = ["compiled", "tests_passed"]


def group(rewards, shaping=None, success=None, step=1):
    """A group's record; shaping is what the term `compiled` paid each rollout."""
    paid = shaping or [0.0] * len(rewards)
    terms = [{"failed_cargo": -1.0, "compiled": one} for one in paid]
    return {"step": step, "rewards": rewards, "terms": terms, "success": success or [False] * len(rewards)}


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (group([-1.0, -1.0 + 1e-12]), (1, 1, 1, 1, 0, 0)),  # tied, nothing to learn
        (group([-0.5, -1.0], shaping=[0.5, 0.0]), (1, 0, 1, 0, 1, 0)),  # the shaping moves it
        (group([-4.0, -1.0]), (1, 0, 1, 0, 0, 1)),  # the penalty table alone does
        (group([-1.0, -1.0], shaping=[0.5, 0.0]), (1, 1, 1, 1, 1, 0)),  # the shaping moves, a penalty cancels it
        (group([10.0, -1.0], success=[True, False]), (1, 0, 0, 0, 0, 0)),
        (group([10.0, 10.0], success=[True, True]), (1, 1, 0, 0, 0, 0)),
        (group([None, None]), (1, 1, 1, 1, 0, 0)),  # infrastructure errors alone
        (group([None, -1.0, -1.0], shaping=[9.0, 0.0, 0.0], success=[True, False, False]), (1, 1, 1, 1, 0, 0)),
    ],
)
def test_a_group_is_counted_by_hand(record, wanted) -> None:
    assert measure(record, SHAPING) == dict(zip(COUNTS, wanted, strict=True))


def test_steps_and_runs_by_hand() -> None:
    runs = {
        "dense-seed0": [group([1.0, 2.0]), group([1.0, 1.0]), group([3.0, 3.0], step=2)],
        "sparse-seed1": [group([0.0, 10.0], success=[False, True])],
    }
    steps = by_step(runs, SHAPING)
    assert steps[["run", "arm", "step", "groups", "tied", "no_success", "kept"]].to_numpy().tolist() == [
        ["dense-seed0", "dense", 1, 2, 1, 2, 1],
        ["dense-seed0", "dense", 2, 1, 1, 1, 0],
        ["sparse-seed1", "sparse", 1, 1, 0, 0, 1],
    ]
    assert steps["tied_fraction"].tolist() == [0.5, 1.0, 0.0]
    assert steps["low"].iloc[0] == pytest.approx(0.0945, abs=1e-4)  # Wilson's interval of 1 of 2
    assert steps["high"].iloc[0] == pytest.approx(0.9055, abs=1e-4)
    whole = by_run(steps).set_index("run")
    assert whole.loc["dense-seed0", ["steps", "groups", "tied", "no_success_penalties_only"]].tolist() == [2, 3, 2, 1]


def test_no_groups_give_empty_tables() -> None:
    steps = by_step({"dense-seed0": []}, SHAPING)
    assert steps.empty and by_run(steps).empty


REWARDS = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 10.0]), min_size=1, max_size=8)


@settings(max_examples=40)
@given(st.lists(REWARDS, min_size=1, max_size=12))
def test_counts_are_parts_of_a_whole(rewards) -> None:
    records = [group(one, shaping=one, success=[value == 10.0 for value in one]) for one in rewards]
    row = by_step({"dense-seed0": records}, SHAPING).iloc[0]
    assert row["groups"] == len(rewards) == row["tied"] + row["kept"]
    assert row["tied"] == sum(len(set(one)) == 1 for one in rewards)
    # here the shaping is the whole reward, so a lost group ties or its shaping varies
    assert row["no_success"] == row["no_success_tied"] + row["no_success_shaped"]
    assert row["low"] <= row["tied_fraction"] <= row["high"]


def test_a_record_of_something_else_is_refused() -> None:
    with pytest.raises(DataError, match="run dense-seed0: group 1 is no record of a group"):
        by_step({"dense-seed0": [group([1.0]), {"step": 1, "rewards": [1.0]}]}, SHAPING)


def test_the_record_of_a_step_is_held_against_its_groups() -> None:
    steps = by_step({"dense-seed0": [group([1.0, 2.0]), group([1.0, 1.0])]}, SHAPING)
    assert disagreements(steps, {"dense-seed0": [{"step": 1, "groups": 2, "tied": 1}]}) == []
    assert "recorded 2 of 2 tied" in disagreements(steps, {"dense-seed0": [{"step": 1, "groups": 2, "tied": 2}]})[0]
    assert "without a record" in disagreements(steps, {})[0]
    assert len(disagreements(steps.iloc[:0], {"dense-seed0": [{"step": 1, "groups": 2, "tied": 1}]})) == 1
