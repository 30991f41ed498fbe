import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.clusters import clusters


def test_the_published_shape_is_worth_few_independent_cases() -> None:
    """150 held-out cases, half of them in three families, the rest alone."""
    names = ["a"] * 25 + ["b"] * 25 + ["c"] * 25 + [f"own{number}" for number in range(75)]
    found = clusters(names)
    assert (found["cases"], found["templates"], found["largest"], found["largest_cases"]) == (150, 78, "a", 25)
    assert found["effective"] == pytest.approx(150**2 / (3 * 625 + 75))


@given(st.lists(st.sampled_from("abcdef"), min_size=1))
def test_the_effective_size_lies_between_one_and_the_templates(names: list[str]) -> None:
    found = clusters(names)
    assert 1 <= found["effective"] <= found["templates"] + 1e-9
    if len(set(names)) == len(names):
        assert found["effective"] == pytest.approx(len(names))


def test_no_cases() -> None:
    assert clusters([]) == {"cases": 0, "templates": 0, "largest": "", "largest_cases": 0, "effective": 0.0}
