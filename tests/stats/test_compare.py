from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stats import evaluations

from tiebreak.errors import DataError
from tiebreak.stats.compare import compare
from tiebreak.stats.stored import load

BEFORE, AFTER = [0, 0, 1, 4, 2, 0], [1, 0, 4, 4, 0, 2]


@pytest.fixture
def ours(tmp_path):
    """Evaluations of two arms that met the same noise, as one study makes them."""
    return [
        load(evaluations.parquet(tmp_path / f"{arm}.parquet", evaluations.rollouts(graded, arm=arm)))
        for arm, graded in (("sparse", BEFORE), ("dense", AFTER))
    ]


def enumerated(differences):
    """The sign-flip p by listing all assignments."""
    total = abs(sum(differences))
    every = list(product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= total for signs in every) / len(
        every
    )


def test_our_layout_by_hand(ours):
    found = compare(*ours)
    assert (found["outcome"], found["k"], found["cases"]) == ("graded", 4, 6)
    solved, rates = found["solved"], found["pass_at_1"]
    assert solved["measure"] == "graded@4"
    assert (solved["delta"], solved["up"], solved["down"]) == (1, 2, 1)
    assert solved["over_cases"]["p"] == enumerated([1, 0, 0, 0, -1, 1])
    assert rates["delta"] == rates["delta_over_all"] == pytest.approx((11 - 7) / 24)
    assert rates["over_cases"]["p"] == enumerated([1, 0, 3, 0, -2, 2])
    assert found["clusters"] == {"source": "the template column, as recorded when the cases were made", "count": 3}
    assert rates["over_clusters"]["p"] == enumerated([1 + 0, 0 - 2, 3 + 2])
    assert [found[side]["solved"] for side in "ab"] == [[3], [4]]
    assert found["noise"] is None


def test_another_outcome_can_be_asked_for(ours, tmp_path):
    assert compare(*ours, outcome="valid")["solved"]["measure"] == "valid@4"
    row = load(evaluations.published(tmp_path / "a.json", BEFORE, k=4))
    assert compare(row, ours[1])["outcome"] == "valid"
    with pytest.raises(DataError, match=r"a\.json: does not tell which rollouts are graded; both tell valid"):
        compare(row, ours[1], outcome="graded")


def test_repetitions_give_the_noise_floor_and_are_averaged(tmp_path):
    def repeated(arm, *repetitions):
        rows = [
            row for n, graded in enumerate(repetitions) for row in evaluations.rollouts(graded, arm=arm, repetition=n)
        ]
        return load(evaluations.parquet(tmp_path / f"{arm}.parquet", rows))

    a, b = repeated("sparse", [0, 4, 1], [1, 4, 0]), repeated("dense", [2, 4, 0], [1, 4, 0])
    found = compare(a, b)
    assert found["solved"]["delta"] == 0
    assert (found["solved"]["up"], found["solved"]["down"]) == (1, 1)
    assert (found["noise"]["mean_flips"], found["noise"]["most_flips"]) == (1, 2)
    assert [found[side]["solved"] for side in "ab"] == [[2, 2], [2, 2]]


def test_errors_are_in_no_rate_and_forbid_a_count_of_solved_cases(tmp_path):
    def stored(arm, lost):
        rows = evaluations.rollouts([4, 2], arm=arm)
        for place in lost:
            rows[place] |= {"stop": "error", "graded": None, "valid": False, "success": False}
        return load(evaluations.parquet(tmp_path / f"{arm}.parquet", rows))

    found = compare(stored("sparse", []), stored("dense", [0, 1]))
    assert found["solved"] is None
    assert found["pass_at_1"]["delta"] == 0.0
    assert found["pass_at_1"]["delta_over_all"] == pytest.approx((2 / 4 - 4 / 4) / 2)
    assert (found["b"]["samples"], found["b"]["errors"], found["b"]["rollouts"]) == (6, 2, 8)
    assert found["b"]["pass_at_k"] is None and found["a"]["pass_at_k"] == 1.0
    assert found["notes"][0].startswith("2 rollouts ended in an infrastructure error")
    with pytest.raises(DataError, match="without a single sample"):
        compare(stored("sparse", []), stored("dense", range(4)))


def test_repetitions_of_one_run_are_called_so(tmp_path):
    a, b = (
        load(evaluations.parquet(tmp_path / f"{n}.parquet", evaluations.rollouts(BEFORE, repetition=n))) for n in (0, 1)
    )
    notes = compare(a, b)["notes"]
    assert any("repetitions of one run (sparse-seed0)" in note for note in notes)
    assert any("count the same in every case" in note for note in notes)


def test_a_repetition_of_equal_seeds_is_refused(tmp_path):
    rows = evaluations.rollouts(BEFORE, repetition=1)
    for row, first in zip(rows, evaluations.rollouts(BEFORE), strict=True):
        row["turns"] = first["turns"]
    a = load(evaluations.parquet(tmp_path / "a.parquet", evaluations.rollouts(BEFORE)))
    with pytest.raises(DataError, match="from the same seed; each sample needs seeds of its own"):
        compare(a, load(evaluations.parquet(tmp_path / "b.parquet", rows)))


def test_templates_must_agree(ours, tmp_path):
    rows = [row | {"template": "other"} for row in evaluations.rollouts(AFTER, arm="dense")]
    with pytest.raises(DataError, match="case case_000 is of template template_0 in one and another"):
        compare(ours[0], load(evaluations.parquet(tmp_path / "b.parquet", rows)))


def test_patterns_take_the_place_of_templates(ours):
    found = compare(*ours, patterns=[("first", "_00[0-2]"), ("second", "_00[34]")], source="patterns here")
    assert found["clusters"]["count"] == 3
    assert found["clusters"]["source"].startswith("patterns here (first match wins; 1 of 6")
    assert found["solved"]["over_clusters"]["units"] == 3


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=9))
def test_turned_round_only_the_signs_change(tmp_path, cases):
    a, b = (
        load(evaluations.published(tmp_path / f"{name}.json", [case[side] for case in cases]))
        for side, name in enumerate("ab")
    )
    there, back = compare(a, b), compare(b, a)
    for part in ("solved", "pass_at_1"):
        assert there[part]["delta"] == pytest.approx(-back[part]["delta"])
        assert (there[part]["up"], there[part]["down"]) == (back[part]["down"], back[part]["up"])
        assert there[part]["over_cases"]["p"] == back[part]["over_cases"]["p"]
        assert there[part]["over_clusters"] is None
    assert there["solved"]["delta"] == there["solved"]["up"] - there["solved"]["down"]
    assert there["a"] == back["b"]
