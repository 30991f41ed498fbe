import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.stats.variance import Components, components, run_deviation


def drawn(rng, *, arms=2, runs=6, cases=40, n=8, run=0.0, case=0.0, run_case=0.0, level=0.5):
    """Counts of runs whose rates are drawn on the scale of rates, so that the components are known."""
    by_case = rng.uniform(-1, 1, cases) * np.sqrt(3 * case)
    rows = []
    for arm in range(arms):
        for number in range(runs):
            own = rng.uniform(-1, 1) * np.sqrt(3 * run)
            rates = level + own + by_case + rng.uniform(-1, 1, cases) * np.sqrt(3 * run_case)
            assert rates.min() >= 0 and rates.max() <= 1
            rows += [
                {"arm": f"a{arm}", "run": f"a{arm}-{number}", "case_id": f"c{at:03d}", "n": n, "graded": int(solved)}
                for at, solved in enumerate(rng.binomial(n, rates))
            ]
    return pd.DataFrame(rows)


TRUTH = {"run": 0.002, "case": 0.02, "run_case": 0.005}


def test_the_estimates_are_unbiased():
    """Over many small studies their mean is the truth, within four of its own standard errors."""
    rng = np.random.default_rng(11)
    found = [components(drawn(rng, runs=3, cases=12, n=5, **TRUTH)) for _ in range(250)]
    sampling = 0.25 - sum(TRUTH.values())  # E[p(1 − p)] of rates with mean one half
    for name, truth in {**TRUTH, "sample": sampling}.items():
        values = np.array([getattr(parts, name) for parts in found])
        assert abs(values.mean() - truth) < 4 * values.std(ddof=1) / np.sqrt(len(values)), name


def test_a_negative_estimate_is_given_and_named():
    """Rates that differ less than sampling would make them: each run solves every case just half of the time."""
    rows = [
        {"arm": "a", "run": f"a-{run}", "case_id": f"c{case}", "n": 8, "graded": 4}
        for run in range(3)
        for case in range(5)
    ]
    parts = components(pd.DataFrame(rows))
    assert parts.run_case == pytest.approx(-1 / 28)
    assert parts.negative == ("run_case",)
    assert (parts.run, parts.case) == (0.0, pytest.approx(0.0, abs=1e-15))
    assert parts.shares["run_case"] == 0.0
    assert sum(parts.shares.values()) == pytest.approx(1)


def test_the_spread_of_run_means_is_that_of_the_components():
    """By their definition: what they predict for the design at hand is what the runs' means show."""
    table = drawn(np.random.default_rng(5), run=0.004, case=0.015, run_case=0.005)
    parts = components(table)
    means = table.assign(rate=table["graded"] / table["n"]).groupby(["arm", "run"])["rate"].mean()
    pooled = means.groupby("arm").var(ddof=1).mean()
    assert not parts.negative
    assert run_deviation(parts, cases=40, samples=8) == pytest.approx(np.sqrt(pooled))


def test_more_of_everything_spreads_less_and_never_below_the_runs_own():
    parts = Components(0.01, 0.1, 0.02, 0.2, 4, 40, 8, (), {})
    now = run_deviation(parts, cases=40, samples=8)
    assert run_deviation(parts, cases=80, samples=8) < run_deviation(parts, cases=40, samples=16) < now
    assert run_deviation(parts, cases=10**9, samples=1) == pytest.approx(0.1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 4))
def test_neither_order_nor_repetitions_matter(seed, n, runs):
    rng = np.random.default_rng(seed)
    table = drawn(rng, runs=runs, cases=6, n=n, case=0.02)
    split = pd.concat([table.assign(repetition=0), table.assign(repetition=1, n=0, graded=0)])
    expected = components(table)
    for other in (table.sample(frac=1, random_state=1), split):
        assert components(other) == expected


def test_one_run_an_arm_cannot_tell_runs():
    parts = components(drawn(np.random.default_rng(1), runs=1, case=0.05))
    assert (parts.run, parts.run_case, parts.freedom) == (None, None, 0)
    assert "every arm has one run" in parts.note
    assert parts.case > 0
    assert run_deviation(parts, cases=40, samples=8) is None


def test_one_sample_cannot_tell_sampling():
    parts = components(drawn(np.random.default_rng(1), n=1))
    assert parts.sample is None and parts.shares == {}
    assert "two samples of every case" in parts.note


def test_arms_with_one_run_lend_their_cases():
    rng = np.random.default_rng(3)
    table = drawn(rng, arms=1, runs=3, case=0.03)
    alone = drawn(rng, arms=1, runs=1, case=0.03).assign(arm="sft", run="sft")
    both, without = components(pd.concat([table, alone])), components(table)
    assert (both.run, both.freedom) == (without.run, without.freedom)
    assert both.case != without.case
