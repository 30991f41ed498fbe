import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import DataError
from tiebreak.stats.bootstrap import cluster_error, cluster_interval, cluster_totals
from tiebreak.stats.wilson import fraction


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=2, max_size=20))
def test_the_interval_holds_the_mean_and_lies_among_cluster_means(cases):
    clusters, values = [c for c, _ in cases], [v / 8 for _, v in cases]
    result = cluster_interval(values, clusters, seed=1, draws=200)
    assert result.value == pytest.approx(np.mean(values))
    if result.low is not None:
        means = [np.mean([v for c, v in zip(clusters, values, strict=True) if c == label]) for label in set(clusters)]
        assert min(means) - 1e-9 <= result.low <= result.high <= max(means) + 1e-9


def test_is_seeded():
    values, clusters = np.random.default_rng(0).random(60), list(range(30)) * 2
    one = cluster_interval(values, clusters, seed=1)
    assert one == cluster_interval(values, clusters, seed=1)
    assert one != cluster_interval(values, clusters, seed=2)


def test_resamples_whole_clusters():
    """Copies of a case inside its cluster add nothing: the interval is that of the clusters alone."""
    values, clusters = [0.0, 0.25, 0.5, 1.0], list("abcd")
    copied = cluster_interval(values * 10, clusters * 10, seed=5)
    alone = cluster_interval(values, clusters, seed=5)
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high))


def test_agrees_with_the_normal_limit_for_many_cases():
    values = np.random.default_rng(2).random(400)
    result = cluster_interval(values, list(range(400)), seed=9)
    half = 1.96 * values.std(ddof=1) / 20
    assert (result.low, result.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.004)
    assert cluster_error(values, list(range(400))) == pytest.approx(values.std(ddof=1) / 20)


def test_one_cluster_has_no_interval():
    result = cluster_interval([0.2, 0.4], ["a", "a"], seed=1)
    assert (result.low, result.high, result.clusters) == (None, None, 1)
    assert not result.excludes_zero
    assert cluster_error([0.2, 0.4], ["a", "a"]) is None


def test_excludes_zero_only_on_one_side():
    assert cluster_interval([0.5, 0.6, 0.7], list("abc"), seed=1).excludes_zero
    assert not cluster_interval([-0.5, 0.6, 0.1], list("abc"), seed=1).excludes_zero


def test_refuses_nan_nothing_and_wrong_labels():
    with pytest.raises(DataError, match="value 1 is not a number"):
        cluster_interval([0.1, float("nan")], ["a", "b"], seed=1)
    with pytest.raises(DataError, match="no cases"):
        cluster_interval([], [], seed=1)
    with pytest.raises(DataError, match="one each"):
        cluster_totals([1.0], ["a", "b"])


def test_wilson_by_its_formula():
    # 0.8 of 20: centre (p + z²/2n) / (1 + z²/n), with z = 1.959964
    result = fraction(16, 20)
    assert (result.value, result.low, result.high) == pytest.approx((0.8, 0.58398, 0.91933), abs=2e-5)
    assert fraction(0, 0).value is None
    assert fraction(0, 10).low == 0.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8), st.integers(1, 4)), min_size=2, max_size=12))
def test_a_weight_is_that_many_cases(cases):
    clusters, values, weights = (list(part) for part in zip(*cases, strict=True))
    weighted = cluster_interval(values, clusters, seed=1, draws=200, weights=weights)
    repeated = [(c, v) for c, v, w in cases for _ in range(w)]
    plain = cluster_interval([v for _, v in repeated], [c for c, _ in repeated], seed=1, draws=200)
    assert weighted.value == pytest.approx(plain.value)
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high))
