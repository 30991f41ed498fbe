import json

import numpy as np
import pandas as pd
import pytest

from tiebreak.errors import ConfigError, DataError
from tiebreak.stats.analysis import analyse
from tiebreak.stats.frames import frames
from tiebreak.stats.noise import flips, floor, net_by_chance

SETTINGS = {"alpha": 0.05, "cluster": "template", "k": 8, "seed": 7, "draws": 500}


@pytest.fixture(scope="module")
def study(counts_table):
    return counts_table()


@pytest.fixture(scope="module")
def analysis(study):
    return analyse(study, **SETTINGS)


def test_levels_are_plain_rates(study, analysis):
    for arm, row in analysis["arms"].items():
        part = study[study["arm"] == arm]
        assert row["pass_at_1"]["value"] == pytest.approx(part["graded"].sum() / part["n"].sum())
        assert row["samples"] == part["n"].sum()
        assert row["cases_never"] + row["cases_mixed"] + row["cases_always"] == row["cases"] == 12
        assert row["pass_at_1"]["low"] <= row["pass_at_1"]["value"] <= row["pass_at_1"]["high"]
    one = next(row for row in analysis["arms"]["dense"]["repetitions"] if row["run"] == "dense-seed1")
    part = study[(study["run"] == "dense-seed1") & (study["repetition"] == one["repetition"])]
    assert one["valid_cases"] == (part["valid"] > 0).sum()


def test_families_and_strata_are_their_own_cases(study):
    result = analyse(study, **SETTINGS, strata={"patch": ["patch_test_pass", "patch_run_pass"]})
    families = result["arms"]["sft"]["families"]
    assert families["patch"]["cases"] == families["patch_test_pass"]["cases"] + families["patch_run_pass"]["cases"] == 8
    assert "patch" in result["checkpoints"][0]["families"]


def test_deltas_are_differences_of_levels(analysis):
    level = {arm: row["pass_at_1"]["value"] for arm, row in analysis["arms"].items()}
    for pair in [*analysis["checkpoints"], *analysis["recipe"]["pairs"]]:
        delta = pair["delta"]["value"] if isinstance(pair["delta"], dict) else pair["delta"]
        assert delta == pytest.approx(level[pair["b"]] - level[pair["a"]])


def test_two_seeds_claim_nothing_and_say_so(analysis):
    recipe = analysis["recipe"]
    assert [(pair["a"], pair["b"]) for pair in recipe["pairs"]] == [("dense", "sparse")]
    assert recipe["pairs"][0]["smallest_p"] == pytest.approx(1 / 3)
    assert not recipe["pairs"][0]["possible"]
    assert not recipe["pairs"][0]["claim"]
    assert recipe["pairs"][0]["detectable"] is None
    assert analysis["sentences"][0].startswith("No claim about a reward shape can be made: with 2 training runs")


def test_many_seeds_and_a_large_effect_are_claimed(counts_table):
    table = counts_table(seeds=5, repetitions=1, shift={"dense": 2.0})
    recipe = analyse(table, **SETTINGS)["recipe"]
    pair = next(pair for pair in recipe["pairs"] if {pair["a"], pair["b"]} == {"sparse", "dense"})
    assert pair["claim"]
    assert pair["p"] == pytest.approx(pair["smallest_p"])


def test_sft_is_tested_as_a_recipe_only_with_several_seeds(analysis, study):
    assert not analysis["recipe"]["baseline_tested"]
    second = study[study["arm"] == "sft"].assign(run="sft-seed1", training_seed=1)
    result = analyse(pd.concat([study, second]), **SETTINGS)
    assert result["recipe"]["baseline_tested"]
    assert len(result["recipe"]["pairs"]) == 3
    assert not result["recipe"]["conditional_on_one_sft"]


def test_the_study_orders_its_arms(study):
    result = analyse(study, **SETTINGS, arms=["sparse", "dense"])
    assert list(result["arms"]) == ["sft", "sparse", "dense"]
    assert [(pair["a"], pair["b"]) for pair in result["checkpoints"]] == [
        ("sft", "sparse"),
        ("sft", "dense"),
        ("sparse", "dense"),
    ]


def test_one_seed_gives_one_analysis(study, analysis):
    text = json.dumps(analysis, allow_nan=False)
    assert json.dumps(analyse(study.sample(frac=1, random_state=1), **SETTINGS), allow_nan=False) == text
    assert json.dumps(analyse(study, **{**SETTINGS, "seed": 8}), allow_nan=False) != text


def test_errors_have_both_denominators(study):
    table = study.copy()
    row = table.index[(table["arm"] == "dense") & (table["graded"] > 0)][0]
    table.loc[row, ["n", "graded", "valid", "success", "errors"]] = [7, 1, 1, 1, 1]
    dense = analyse(table, **SETTINGS)["arms"]["dense"]
    assert dense["errors"] == 1
    assert dense["graded_over_all"] == pytest.approx(dense["graded"] / (dense["samples"] + 1))
    assert [row["short"] for row in dense["repetitions"]].count(1) == 1
    assert (dense["rollouts"], dense["fewest_samples"]) == (dense["samples"] + 1, 8 * 6 - 1)
    assert dense["valid_over_all"] == pytest.approx(dense["valid"] / dense["rollouts"])
    pair = next(
        pair for pair in analyse(table, **SETTINGS)["checkpoints"] if (pair["a"], pair["b"]) == ("sft", "dense")
    )
    assert (pair["samples"]["b"], pair["rollouts"]["b"]) == (dense["samples"], dense["samples"] + 1)
    assert pair["samples"]["a"] == pair["rollouts"]["a"]
    assert pair["delta_over_all"] < pair["delta"]["value"]


def test_too_many_errors_for_pass_at_k_is_an_error(study):
    table = study.copy()
    first = table["case_id"] == table["case_id"].iloc[0]
    table.loc[first, ["n", "graded", "valid", "success", "errors"]] = [2, 0, 0, 0, 6]
    with pytest.raises(DataError, match="case case_000 has 6 samples and 18 errors; pass@8 needs 8"):
        analyse(table, **SETTINGS)


def test_stopped_runs_are_listed_and_not_counted(study):
    result = analyse(study, **SETTINGS, stopped={"compiler-seed0": "9 of 10 groups tie"})
    assert result["stopped"] == [{"run": "compiler-seed0", "reason": "9 of 10 groups tie"}]
    assert "compiler" not in result["arms"]
    assert any("compiler-seed0 was stopped" in line for line in result["sentences"])
    with pytest.raises(DataError, match="listed as stopped"):
        analyse(study, **SETTINGS, stopped={"dense-seed0": "why"})


def test_learning_is_paired_over_prompts(study, counts_table):
    probe = counts_table(repetitions=1, cases=40, templates=20, shift={"dense": 2.5}, seed=3)
    learned = analyse(study, **SETTINGS, probe=probe)["learning"]
    dense, before = probe[probe["arm"] == "dense"], probe[probe["arm"] == "sft"]
    assert learned["arms"]["dense"]["gain"]["value"] == pytest.approx(
        dense["graded"].sum() / dense["n"].sum() - before["graded"].sum() / before["n"].sum()
    )
    assert learned["arms"]["dense"]["excludes_zero"]
    assert learned["arms"]["dense"]["p"] < 1e-6
    assert not learned["arms"]["sparse"]["excludes_zero"]
    runs = [learned["runs"][f"dense-seed{i}"]["gain"]["value"] for i in range(2)]
    assert np.mean(runs) == pytest.approx(learned["arms"]["dense"]["gain"]["value"])


def test_a_probe_without_before_is_refused(study):
    with pytest.raises(DataError, match="no before"):
        analyse(study, **SETTINGS, probe=study[study["arm"] != "sft"])


def test_flips_by_hand():
    table = pd.DataFrame(
        {
            "run": "sft",
            "case_id": ["a", "b", "c"] * 2,
            "repetition": [0] * 3 + [1] * 3,
            "n": 4,
            "graded": [0, 2, 1, 3, 0, 1],
        }
    )
    assert flips(table) == [
        {
            "run": "sft",
            "first": 0,
            "second": 1,
            "cases": 3,
            "up": 1,
            "down": 1,
            "flips": 2,
            "flip_rate": pytest.approx(2 / 3),
            "difference": pytest.approx(1 / 12),
        }
    ]


def test_the_floor_says_what_chance_alone_may_change(study):
    found = floor(study)
    assert found["mean_flips"] == pytest.approx(np.mean([pair["flips"] for pair in found["pairs"]]))
    assert found["flip_rate"] == pytest.approx(found["mean_flips"] / 12)
    # 12 flips: P(|net| > 6) = 2 · P(at most 2 of 12 up) = 158/4096 = 3.9 %, and P(|net| > 4) = 14.6 %
    assert [net_by_chance(flips) for flips in (0, 1, 12)] == [0, 1, 6]


def test_identical_checkpoints_differ_in_nothing(study):
    sft = study[study["arm"] == "sft"]
    result = analyse(pd.concat([sft, sft.assign(arm="copy", run="copy-seed0")]), **SETTINGS)
    (pair,) = result["checkpoints"]
    assert (pair["over_cases"]["p"], pair["over_clusters"]["p"], pair["claim"]) == (1.0, 1.0, False)
    assert pair["solved"] == {"up": 0, "down": 0}
    assert pair["detectable"] is None


@pytest.mark.parametrize(
    ("change", "says"),
    [({"alpha": 5}, "alpha is 5"), ({"cluster": "color"}, "cluster is 'color'"), ({"k": 0}, "k is 0")],
)
def test_impossible_settings(study, change, says):
    with pytest.raises(ConfigError, match=says):
        analyse(study, **{**SETTINGS, **change})


def test_no_rollouts_at_all(study):
    with pytest.raises(DataError, match="no rollouts at all"):
        analyse(study.iloc[:0], **SETTINGS)


def test_tables_hold_the_numbers_of_the_analysis(analysis):
    tables = frames(analysis)
    assert tables["arms"].set_index("arm")["pass_at_1.value"].to_dict() == {
        arm: row["pass_at_1"]["value"] for arm, row in analysis["arms"].items()
    }
    assert len(tables["runs"]) == 5
    assert len(tables["repetitions"]) == 15
    assert tables["recipe"]["p"].tolist() == [pair["p"] for pair in analysis["recipe"]["pairs"]]


def test_pass_at_k_is_a_runs_and_is_averaged_over_runs():
    """Two runs that each solve other cases are no policy that solves all: pooled samples would say 1.0 here."""
    rows = [
        {
            "run": f"dense-seed{seed}",
            "arm": "dense",
            "training_seed": seed,
            "repetition": 0,
            "case_id": f"case_{case}",
            "template": f"template_{case}",
            "family": "patch_test_pass",
            "n": 8,
            "graded": 8 * (case % 2 == seed),
            "valid": 8,
            "success": 8,
            "success_not_graded": 8 * (case % 2 != seed),
            "errors": 0,
        }
        for seed in (0, 1)
        for case in range(6)
    ]
    arm = analyse(pd.DataFrame(rows), **SETTINGS)["arms"]["dense"]
    assert arm["pass_at_1"]["value"] == arm["pass_at_k"]["value"] == 0.5
    assert (arm["cases_never"], arm["cases_mixed"], arm["cases_always"]) == (3, 0, 3)
    assert [row["success_not_graded"] for row in arm["repetitions"]] == [24, 24]


def test_what_is_new_is_in_the_tables_too(analysis):
    tables = frames(analysis)
    assert tables["variance"]["sample"].tolist() == [analysis["variance"]["sample"]]
    assert tables["what_if"]["change"].tolist() == [row["change"] for row in analysis["what_if"]]
    assert len(tables["bands"]) == sum(len(pair["bands"]) for pair in analysis["bands"]["pairs"])
    assert {line["about"] for line in analysis["statements"]} >= {"design", "noise"}


def test_unequal_k_is_refused(study):
    table = study.copy()
    odd = table.index[(table["arm"] == "dense") & (table["case_id"] == "case_003")][0]
    table.loc[odd, ["n", "graded", "valid", "success"]] = [4, 1, 1, 1]
    with pytest.raises(DataError, match=r"case case_003, .*: 4 rollouts, but 8 in .*only evaluations with the same k"):
        analyse(table, **SETTINGS)
