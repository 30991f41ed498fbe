import pytest

from tiebreak.stats.analysis import analyse, settings_of
from tiebreak.stats.counts import check
from tiebreak.stats.designs import EFFECTS, what_if
from tiebreak.stats.variance import components

SETTINGS = settings_of(alpha=0.05, cluster="template", k=8, seed=7, draws=300)


@pytest.fixture(scope="module")
def rows(counts_table):
    table = check(counts_table(seeds=4, cases=40, templates=20, repetitions=2))
    return {row["change"]: row for row in what_if(table, components(table), SETTINGS)}


def test_the_design_at_hand_comes_first_and_is_counted_from_the_table(rows):
    now = rows["as it is"]
    assert next(iter(rows)) == "as it is"
    assert [now[name] for name in ("runs", "repetitions", "samples", "cases")] == [4, 2, 8, 40]


def test_more_of_anything_sees_no_less(rows):
    now = rows["as it is"]
    for change in ("twice the runs", "twice the repetitions", "twice the cases", "twice the runs and the cases"):
        for question in ("recipe", "checkpoints"):
            for effect in EFFECTS:
                assert rows[change][question]["power"][f"{effect:g}"] >= now[question]["power"][f"{effect:g}"] - 0.01
    assert rows["twice the runs and the cases"]["recipe"]["detectable"] < rows["twice the runs"]["recipe"]["detectable"]
    assert rows["twice the cases"]["checkpoints"]["detectable"] < now["checkpoints"]["detectable"]


def test_the_spread_at_hand_is_that_of_the_runs(counts_table):
    """With a spread of runs so large that no part is clipped, the plan starts from what `recipe` measured."""
    import numpy as np

    table = check(counts_table(seeds=4, cases=40, repetitions=2, n=8))
    rng = np.random.default_rng(0)
    for run in table["run"].unique():
        own = table["run"] == run
        table.loc[own, "graded"] = rng.binomial(8, 0.5 + rng.uniform(-0.3, 0.3) + rng.uniform(-0.2, 0.2, own.sum()))
    table["valid"] = table["success"] = table["graded"]
    found = analyse(table, alpha=0.05, cluster="template", k=8, seed=7, draws=100)
    assert not found["variance"]["negative"]
    assert found["what_if"][0]["recipe"]["run_deviation"] == pytest.approx(found["recipe"]["run_spread"])


def test_two_runs_are_told_how_many_could_reach_alpha(counts_table):
    table = check(counts_table(arms=("sft", "a", "b", "c"), seeds=2))
    rows = {row["change"]: row for row in what_if(table, components(table), SETTINGS)}
    assert rows["as it is"]["recipe"]["detectable"] is None
    assert set(rows["as it is"]["recipe"]["power"].values()) == {0.0}
    assert rows["as it is"]["recipe"]["smallest_p_holm"] == 1.0
    assert rows["runs that can reach alpha"]["runs"] == 5
    assert rows["runs that can reach alpha"]["recipe"]["smallest_p_holm"] <= 0.05


def test_one_arm_has_nothing_to_plan(counts_table):
    table = check(counts_table(arms=("sft",)))
    assert what_if(table, components(table), SETTINGS) == []


def test_one_trained_arm_has_no_recipe_to_test(counts_table):
    table = check(counts_table(arms=("sft", "dense")))
    rows = what_if(table, components(table), SETTINGS)
    assert {row["change"]: row["recipe"] for row in rows}["as it is"] is None
    assert rows[0]["checkpoints"]["detectable"] > 0
