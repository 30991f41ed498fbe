import numpy as np
import pytest

from tiebreak.stats.arms import Settings, estimates, pool
from tiebreak.stats.bootstrap import cluster_interval
from tiebreak.stats.curves import pass_at_k_curves

SETTINGS = Settings(alpha=0.05, cluster="template", k=8, seed=7, draws=4000)


def test_a_curve_is_the_mean_over_runs_of_the_unbiased_estimate(counts_table):
    table = counts_table(cases=20, templates=10)
    curves = pass_at_k_curves(table, ["sft", "dense"], SETTINGS)
    assert curves.groupby("arm")["k"].max().to_dict() == {"sft": 24, "dense": 24}
    runs = [pool(part) for _, part in table[table["arm"] == "dense"].groupby("run")]
    for k in (1, 8, 24):
        expected = np.mean([estimates(run, k).mean() for run in runs])
        row = curves[(curves["arm"] == "dense") & (curves["k"] == k)].iloc[0]
        assert row["value"] == pytest.approx(expected) and row["low"] < row["value"] < row["high"]
    assert all(part["value"].is_monotonic_increasing for _, part in curves.groupby("arm"))


def test_its_band_is_the_cluster_bootstrap_of_scipy(counts_table):
    table = counts_table(arms=("sft",), cases=40, templates=20)
    pooled = pool(table)
    other = cluster_interval(estimates(pooled, 8), pooled["template"].tolist(), seed=3, draws=4000)
    row = pass_at_k_curves(table, ["sft"], SETTINGS).set_index("k").loc[8]
    assert [row["low"], row["high"]] == pytest.approx([other.low, other.high], abs=0.015)


def test_one_cluster_has_no_band(counts_table):
    curves = pass_at_k_curves(counts_table(arms=("sft",), templates=1), ["sft"], SETTINGS)
    assert curves[["low", "high"]].isna().all(axis=None)


def test_errors_shorten_a_curve(counts_table):
    table = counts_table(arms=("sft",))
    table.loc[0, ["n", "errors", "graded", "valid", "success"]] = [5, 3, 0, 0, 0]
    assert pass_at_k_curves(table, ["sft"], SETTINGS)["k"].max() == 21
