import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.stats.wilson import difference, fraction

FRACTIONS = st.integers(1, 80).flatmap(lambda total: st.builds(fraction, st.integers(0, total), st.just(total)))


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 10), 0.6075, 1.0)],
)
def test_a_difference_has_newcombes_published_interval(first, second, low, high):
    """Newcombe 1998, table II, method 10, which gives the first minus the second."""
    found = difference(fraction(*second), fraction(*first))
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(FRACTIONS, FRACTIONS)
def test_a_difference_lies_in_its_interval_and_turns_with_its_sides(a, b):
    there, back = difference(a, b), difference(b, a)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


def test_nothing_has_no_difference():
    found = difference(fraction(0, 0), fraction(1, 2))
    assert (found.value, found.low, found.high) == (None, None, None)
