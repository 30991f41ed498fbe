import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from tiebreak.stats.power import attainable, detectable, detectable_between_runs, run_spread, runs_needed


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
