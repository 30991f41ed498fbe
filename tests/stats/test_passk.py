from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import DataError
from tiebreak.stats.passk import pass_at_k


@given(st.integers(1, 9), st.data())
def test_equals_the_share_of_subsets_that_hold_a_solved_sample(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k([n], [c], k)[0] == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-12)


def test_pass_at_1_is_the_rate_and_pass_at_n_is_any():
    assert pass_at_k([8, 8, 24], [0, 3, 24], 1).tolist() == pytest.approx([0, 3 / 8, 1])
    assert pass_at_k([8, 8], [0, 1], 8).tolist() == [0, 1]


def test_stays_exact_for_many_samples():
    failing = Fraction(comb(900, 100), comb(1000, 100))
    assert 1 - pass_at_k([1000], [100], 100)[0] == pytest.approx(float(failing), rel=1e-9)


@pytest.mark.parametrize(
    ("samples", "solved", "k", "says"),
    [
        ([8, 7], [1, 1], 8, "case 1 has 7 samples; pass@8 needs at least 8"),
        ([8], [9], 1, "solved 9 times in 8"),
        ([8], [-1], 1, "never negative"),
        ([8], [float("nan")], 1, "whole number"),
        ([8], [0.5], 1, "whole number"),
        ([8], [1], 0, "k is 0"),
    ],
)
def test_refuses_what_has_no_estimate(samples, solved, k, says):
    with pytest.raises(DataError, match=says):
        pass_at_k(samples, solved, k)


def test_broadcasts_one_sample_size():
    assert pass_at_k(np.array([4]), [0, 2, 4], 2).tolist() == pytest.approx([0, 5 / 6, 1])
