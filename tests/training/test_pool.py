"""The pool's mixture: bands as measured, weights as asked for, the same prompts for every arm."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak import tables
from tiebreak.errors import DataError, TrainingError
from tiebreak.sections.rlvr import BandWeights, Rlvr
from tiebreak.training.pool import Share, band_of, band_rows, batches, one_pass, shares
from tiebreak.training.run import Run

LABELS = {"family": "f", "template": "t", "difficulty": "easy"}
MEASURED = {"a": 0, "b": 3, "c": 8, "d": 8, "e": 1}
WEIGHTS = BandWeights(never=0.5, sometimes=2.0, always=0.0)


def rollouts(measured: dict[str, int]) -> list[dict[str, Any]]:
    """Eight samples a case, so many of them graded."""
    return [
        {"case_id": case, "stop": "final", "graded": sample < graded, **LABELS}
        for case, graded in measured.items()
        for sample in range(8)
    ]


def stored(tmp_path: Path, measured: dict[str, int]) -> Path:
    tables.write_table(tmp_path / "bands.parquet", band_rows(rollouts(measured)), tables.BANDS)
    return tmp_path / "bands.parquet"


def test_bands_are_none_some_and_all() -> None:
    assert [band_of(graded, 8) for graded in range(9)] == ["never", *["sometimes"] * 7, "always"]


def test_samples_that_ended_in_an_error_are_not_counted() -> None:
    rows = rollouts({"a": 8})
    rows[0] = rows[0] | {"stop": "error", "graded": None}
    assert band_rows(rows) == [{"case_id": "a", **LABELS, "graded": 7, "samples": 7, "band": "always"}]
    lost = [row | {"stop": "error", "graded": None} for row in rows]
    with pytest.raises(DataError, match=r"case a has no sample that ended \(8 errors\)"):
        band_rows(lost)


def test_every_prompt_has_the_weight_of_its_band(tmp_path: Path) -> None:
    found = shares(stored(tmp_path, MEASURED), list("abcde"), WEIGHTS, 7)
    assert [share.weight for share in found] == [0.5, 2.0, 0.0, 0.0, 2.0]
    assert found == shares(stored(tmp_path, MEASURED), list("abcde"), WEIGHTS, 7)
    assert len({share.offset for share in found}) == 5


def test_a_band_that_is_wanted_and_empty_is_an_error(tmp_path: Path) -> None:
    bands = stored(tmp_path, {"a": 0, "b": 3})
    with pytest.raises(TrainingError, match=r"no prompt .* in band always \(never 1, sometimes 1, always 0\).*write 0"):
        shares(bands, ["a", "b"], BandWeights(never=1.0, sometimes=1.0, always=0.5), 7)
    assert shares(bands, ["a", "b"], WEIGHTS, 7)


@pytest.mark.parametrize("pool", [["a", "b", "c", "d"], ["a", "b", "c", "d", "e", "f"]])
def test_bands_of_another_pool_are_an_error(tmp_path: Path, pool: list[str]) -> None:
    with pytest.raises(DataError, match="is not in both the bands and the pool; measure the bands again"):
        shares(stored(tmp_path, MEASURED), pool, WEIGHTS, 7)


@given(st.floats(0, 9), st.floats(0, 1, exclude_max=True), st.integers(1, 60))
def test_a_prompt_is_shown_as_often_as_its_weight_says(weight: float, offset: float, passes: int) -> None:
    times = [Share(weight, offset).times(number) for number in range(passes)]
    assert all(int(weight) <= count <= int(weight) + 1 for count in times)
    assert abs(sum(times) - weight * passes) <= 1 + 1e-9


@given(st.integers(1, 9), st.integers(0, 99))
def test_equal_weights_of_one_are_the_pool_as_it_is(size: int, number: int) -> None:
    prompts = [f"p{place}" for place in range(size)]
    even = [Share(1.0, place / size) for place in range(size)]
    assert one_pass(prompts, even, number) == one_pass(prompts, [], number) == prompts


def test_a_training_shows_the_mixture_in_orders_of_its_own(tmp_path: Path) -> None:
    rlvr = Rlvr(steps=9, prompts=5)
    wanted = shares(stored(tmp_path, MEASURED), list("abcde"), WEIGHTS, 7)
    arms = [batches(list("abcde"), Run(7, arm, 0), rlvr, wanted) for arm in ("dense", "sparse")]
    assert arms[0] != arms[1] and all(len(order) == 45 for order in arms)
    for order in arms:
        counts = Counter(order)
        assert set(counts) == {"a", "b", "e"}
        assert counts["b"] == pytest.approx(20, abs=2) and counts["e"] == pytest.approx(20, abs=2)
        assert counts["a"] == pytest.approx(5, abs=1)


def test_a_pass_in_which_nothing_is_due_is_passed_over() -> None:
    rare = [Share(0.01, 0.0), Share(0.0, 0.5)]
    assert batches(["a", "b"], Run(7, "dense", 0), Rlvr(steps=4, prompts=1), rare) == ["a"] * 4
