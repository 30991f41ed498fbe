import numpy as np
import pytest

from tiebreak.seeds import derive
from tiebreak.stats.permutation import permutation_p
from tiebreak.stats.run_power import (
    DRAWS,
    contrasts,
    detectable_ratio,
    level_of,
    power_of_runs,
    power_of_t,
    thresholds,
)


@pytest.mark.parametrize(("runs_a", "runs_b", "level"), [(4, 4, 0.05), (5, 5, 0.05 / 3), (3, 5, 0.05)])
def test_is_the_rate_at_which_the_test_itself_rejects(runs_a, runs_b, level):
    """Over other draws than its own, each judged by `permutation_p`."""
    rng = np.random.default_rng(8)
    rejected = [
        permutation_p(rng.normal(0, 1, runs_a).tolist(), rng.normal(2, 1, runs_b).tolist()) <= level + 1e-12
        for _ in range(1500)
    ]
    assert power_of_runs(2.0, runs_a, runs_b, level=level) == pytest.approx(np.mean(rejected), abs=0.045)


def test_keeps_the_level_without_an_effect():
    assert power_of_runs(0.0, 5, 5, level=0.05) == pytest.approx(12 / 252, abs=0.006)
    assert power_of_runs(0.0, 4, 4, level=0.05) == pytest.approx(2 / 70, abs=0.005)


def test_never_finds_anything_where_the_level_is_out_of_reach():
    assert power_of_runs(100.0, 3, 3, level=0.05) == 0.0
    assert detectable_ratio(3, 3, level=0.05, power=0.8) is None


def test_grows_with_effect_and_runs():
    assert power_of_runs(1.0, 5, 5, level=0.05) < power_of_runs(2.0, 5, 5, level=0.05)
    assert power_of_runs(1.5, 5, 5, level=0.05) < power_of_runs(1.5, 6, 6, level=0.05)
    assert power_of_runs(-2.0, 5, 5, level=0.05) == pytest.approx(power_of_runs(2.0, 5, 5, level=0.05), abs=0.02)


def test_the_drawn_power_meets_the_t_test_where_one_hands_over_to_the_other():
    for level in (0.05, 0.05 / 3):
        attained = level_of(level, 924, equal=True)
        for effect in (1.0, 1.5, 2.0, 2.5):
            drawn = power_of_runs(effect, 6, 6, level=level)
            assert drawn == pytest.approx(power_of_t(effect, 6, 6, attained), abs=0.02)
    assert power_of_runs(1.5, 7, 7, level=0.05) == power_of_t(1.5, 7, 7, 85 / 1716)


def test_the_detectable_effect_has_the_power_that_was_asked_for():
    for runs, level in ((4, 0.05), (5, 0.05 / 3), (12, 0.05)):
        ratio = detectable_ratio(runs, runs, level=level, power=0.8)
        assert power_of_runs(ratio, runs, runs, level=level) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("runs_a", "runs_b"), [(4, 4), (3, 5), (5, 3), (1, 19)])
def test_thresholds_decide_as_counting_does(runs_a, runs_b):
    """For every draw and effect: the share of assignments as far out as the actual one is at most the level."""
    weights, level = contrasts(runs_a, runs_b), 0.06
    above, below = thresholds(runs_a, runs_b, level)
    seed = derive(0, "stats", "run-power", runs_a, runs_b)
    draws = np.random.default_rng(seed).standard_normal((DRAWS, runs_a + runs_b))[:500]
    for effect in (0.0, 0.4, -1.0, 2.5, -4.0):
        spreads = np.abs(draws @ weights.T + effect * weights[:, runs_a:].sum(axis=1))
        shares = (spreads >= spreads[:, :1] - 1e-12).mean(axis=1)
        decided = (effect > above[:500]) | (effect < below[:500])
        assert (decided == (shares <= level + 1e-12)).all()


def test_contrasts_begin_with_the_assignment_itself_and_balance():
    weights = contrasts(2, 3)
    assert weights.shape == (10, 5)
    assert weights[0].tolist() == pytest.approx([-1 / 2, -1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert weights.sum(axis=1) == pytest.approx(np.zeros(10), abs=1e-12)
    assert len(contrasts(3, 3)) == 10, "of 20, one of each mirrored two"
