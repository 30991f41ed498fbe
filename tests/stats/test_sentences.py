import pytest

from tiebreak.stats.analysis import analyse
from tiebreak.stats.sentences import between, p_value, signed

SETTINGS = {"alpha": 0.05, "cluster": "template", "k": 8, "seed": 7, "draws": 300}


@pytest.mark.parametrize(
    ("p", "bound", "text"),
    [(0.77441, False, "p = 0.7744"), (0.00003141, False, "p = 3.1e-05"), (2.3e-308, True, "p < 2.3e-308")],
)
def test_p_values(p, bound, text):
    assert p_value(p, bound=bound) == text


def test_intervals():
    assert between({"value": -0.0123, "low": -0.1, "high": 0.02}, signed) == "−0.012 (−0.100 to +0.020)"
    assert between({"value": 0.5, "low": None, "high": None}) == "0.500 (no interval: one cluster)"


def about(result, subject):
    return [line["text"] for line in result["statements"] if line["about"] == subject]


def test_a_found_difference_is_claimed_for_the_recipe(counts_table):
    result = analyse(counts_table(seeds=5, repetitions=1, shift={"dense": 2.0}), **SETTINGS)
    first = about(result, "recipe")[0]
    assert first.startswith("sparse against dense over training runs: graded pass@1 −0.")
    assert first.endswith("the reward shapes differ at alpha 0.05.")
    assert about(result, "recipe")[-1].startswith("All arms start from one SFT checkpoint")


def test_a_null_says_what_could_have_been_seen(counts_table):
    table = counts_table(seeds=5, repetitions=1)
    result = analyse(table[table["arm"] != "sft"], **SETTINGS)
    effect = result["recipe"]["pairs"][0]["detectable"]
    assert f"no difference is shown; about {effect:.3f} could have been seen." in about(result, "recipe")[0]


def test_one_arm_claims_nothing(counts_table):
    result = analyse(counts_table(arms=("sft", "dense")), **SETTINGS)
    assert about(result, "recipe") == [
        "No claim about a reward shape: fewer than two arms have training runs to compare."
    ]


def test_checkpoints_and_recipe_are_never_mixed(counts_table):
    result = analyse(counts_table(cases=40, templates=20, shift={"dense": 2.0}), **SETTINGS)
    assert "No claim about a reward shape can be made" in result["sentences"][0]
    differing = [line for line in about(result, "checkpoints") if "they differ on such cases" in line]
    assert len(differing) == 2
    assert all("which says nothing about the recipe" in line for line in differing)


def test_what_is_missing_is_said(counts_table):
    table = counts_table()
    table.loc[table.index[0], ["n", "graded", "valid", "success", "errors"]] = [7, 0, 0, 0, 1]
    lines = about(analyse(table, **SETTINGS, stopped={"x-seed0": "x-seed0: all groups tie"}), "missing")
    assert lines[0] == "Run x-seed0 was stopped and is not counted: all groups tie."
    assert lines[1].startswith("1 of 1440 rollouts ended in an infrastructure error")
    assert lines[2].startswith("With 4 templates the bootstrap intervals are likely too narrow")


def test_one_repetition_has_no_noise_floor(counts_table):
    assert about(analyse(counts_table(repetitions=1), **SETTINGS), "noise")[0].startswith("One repetition a run")
