import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from tiebreak.stats.power import (
    attainable,
    detectable,
    detectable_between_runs,
    power_of,
    run_spread,
    runs_for,
    runs_needed,
)


def test_an_effect_of_that_size_is_found_as_often_as_promised():
    """Simulated: 30 cases, a t-test; the formula is an approximation, so within three points."""
    rng = np.random.default_rng(0)
    cases = 30
    effect = detectable(1 / math.sqrt(cases), cases - 1, alpha=0.05)
    found = ttest_1samp(rng.normal(effect, 1, (20_000, cases)), 0, axis=1).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


def test_no_spread_no_effect():
    assert detectable(None, 5, alpha=0.05) is None
    assert detectable(0.0, 5, alpha=0.05) is None
    assert detectable(0.1, 0, alpha=0.05) is None


def test_run_spread_pools_within_arms():
    spread, freedom = run_spread([[0.1, 0.3], [0.5, 0.5, 0.5], [0.9]])
    assert (spread, freedom) == (pytest.approx(math.sqrt(0.02 / 3)), 3)
    assert run_spread([[0.1], [0.9]]) == (None, 0)


def test_runs_needed_follow_the_table_of_the_design():
    assert runs_needed(alpha=0.05, pairs=3) == 5
    assert runs_needed(alpha=0.05, pairs=1) == 4
    assert not attainable(4, 4, alpha=0.05, pairs=3)
    assert attainable(5, 5, alpha=0.05, pairs=3)


def test_a_design_that_cannot_reach_alpha_detects_nothing():
    assert detectable_between_runs(0.01, 3, 2, 2, alpha=0.05, pairs=3) is None
    five, ten = (detectable_between_runs(0.01, 3 * (n - 1), n, n, alpha=0.05, pairs=3) for n in (5, 10))
    assert 0 < ten < five


def test_the_power_of_the_detectable_effect_is_the_power_asked_for():
    effect = detectable(0.02, 40, alpha=0.05, power=0.8)
    assert power_of(effect, 0.02, 40, alpha=0.05) == pytest.approx(0.8, abs=0.005)
    assert power_of(0.0, 0.02, 40, alpha=0.05) == pytest.approx(0.05)
    assert power_of(0.1, None, 40, alpha=0.05) is None
    powers = [power_of(ratio, 1.0, 3, alpha=0.001) for ratio in range(0, 200, 5)]
    assert powers == sorted(powers) and powers[-1] > 0.999, "also where scipy's noncentral t gives up"


def test_runs_for_an_effect_are_the_least_that_find_it():
    runs, found = runs_for(0.05, 0.02, alpha=0.05, pairs=3)
    assert found >= 0.8
    assert detectable_between_runs(0.02, 9, runs, runs, alpha=0.05, pairs=3) <= 0.05
    fewer = detectable_between_runs(0.02, 9, runs - 1, runs - 1, alpha=0.05, pairs=3)
    assert fewer is None or fewer > 0.05
    assert runs_for(0.001, 0.1, alpha=0.05, pairs=3) is None


def test_an_effect_between_runs_is_found_as_often_as_promised():
    """Simulated with the test itself; with four runs an arm a t-test would promise far too much."""
    from tiebreak.stats.permutation import permutation_p

    rng = np.random.default_rng(2)
    effect = detectable_between_runs(0.02, 6, 4, 4, alpha=0.05, pairs=1)
    found = [
        permutation_p(rng.normal(0.5, 0.02, 4).tolist(), rng.normal(0.5 + effect, 0.02, 4).tolist()) <= 0.05
        for _ in range(2000)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)
