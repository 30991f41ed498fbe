from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from tiebreak.stats.permutation import assignments, holm, max_t, permutation_p, smallest_p, spreads

RATES = st.lists(st.integers(0, 20), min_size=2, max_size=4)


def enumerated(a, b):
    """The same p by listing which runs could have been arm a, in integers."""
    runs, n, m = [*a, *b], len(a), len(b)

    def distance(chosen):
        left = sum(runs[i] for i in chosen)
        return abs(m * left - n * (sum(runs) - left))

    observed = distance(range(n))
    every = [distance(chosen) for chosen in combinations(range(n + m), n)]
    return sum(value >= observed for value in every) / len(every)


@given(RATES, RATES)
def test_equals_the_enumeration(a, b):
    assert permutation_p([x / 24 for x in a], [x / 24 for x in b]) == pytest.approx(enumerated(a, b))


@pytest.mark.parametrize(
    ("runs", "p", "after_holm"),
    [(2, 0.333, 1), (3, 0.1, 0.3), (4, 0.0286, 0.0857), (5, 0.0079, 0.0238), (6, 0.0022, 0.0065)],
)
def test_smallest_p_is_the_table_of_the_design_and_is_reached(runs, p, after_holm):
    assert smallest_p(runs, runs) == pytest.approx(p, abs=5e-4)
    assert holm([smallest_p(runs, runs)] * 3)[0] == pytest.approx(after_holm, abs=5e-4)
    low, high = [i / 1000 for i in range(runs)], [0.5 + i / 1000 for i in range(runs)]
    assert permutation_p(low, high) == pytest.approx(smallest_p(runs, runs))


@given(RATES, RATES)
def test_no_data_goes_below_the_smallest_p(a, b):
    assert permutation_p([float(x) for x in a], [float(x) for x in b]) >= smallest_p(len(a), len(b)) - 1e-12


def test_unequal_arms_reach_their_smallest_p():
    assert permutation_p([9.0], [0.0, 0.1, 0.2]) == smallest_p(1, 3) == 0.25


@given(RATES, RATES)
def test_equals_scipy_for_equal_arms(a, b):
    size = min(len(a), len(b))
    left, right = (np.array(runs[:size], float) for runs in (a, b))

    def difference(x, y, axis):
        return np.abs(x.mean(axis=axis) - y.mean(axis=axis)).round(9)

    scipy = permutation_test((left, right), difference, n_resamples=np.inf, alternative="greater", vectorized=True)
    assert permutation_p(left.tolist(), right.tolist()) == pytest.approx(scipy.pvalue)


def test_an_arm_without_runs_says_nothing():
    assert permutation_p([], [1.0]) == smallest_p(0, 3) == permutation_p([0.1], [0.9]) == smallest_p(1, 1) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_only_raises_and_keeps_the_order(ps):
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    ranked = [adjusted[i] for i in np.argsort(ps, kind="stable")]
    assert ranked == sorted(ranked)


@given(st.lists(st.integers(0, 9), min_size=5, max_size=6))
def test_max_t_equals_all_permutations_of_the_labels(values):
    sizes = [2, 2, len(values) - 4]
    cuts = np.cumsum([0, *sizes])

    def statistic(order):
        means = [np.mean([values[i] for i in order[a:b]]) for a, b in pairwise(cuts)]
        return max(means) - min(means)

    observed = statistic(range(len(values)))
    every = [statistic(order) >= observed - 1e-9 for order in permutations(range(len(values)))]
    arms = {str(n): [float(v) for v in values[a:b]] for n, (a, b) in enumerate(pairwise(cuts))}
    result = max_t(arms)
    assert result.exact
    assert result.p == pytest.approx(np.mean(every))
    assert sum(len(block) for block in spreads(np.array(values, float), sizes)) == assignments(sizes)


def test_max_t_by_draws_is_seeded_and_near_the_exact_value():
    arms = {"a": [0.1, 0.2, 0.4], "b": [0.3, 0.5, 0.35], "c": [0.6, 0.2, 0.7]}
    exact, drawn = max_t(arms), max_t(arms, seed=3, limit=10)
    assert not drawn.exact
    assert drawn == max_t(arms, seed=3, limit=10)
    assert abs(drawn.p - exact.p) < 5 * drawn.error
