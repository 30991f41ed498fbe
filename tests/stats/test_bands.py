import pandas as pd
import pytest

from tiebreak.stats.analysis import settings_of
from tiebreak.stats.bands import banded, bands

SETTINGS = settings_of(alpha=0.05, cluster="case", k=8, seed=1, draws=200)


def test_bands_of_eight_samples_are_the_published_ones():
    names = banded(range(9), [8] * 9)
    assert names == ["never", *["low"] * 3, *["middle"] * 3, *["high"] * 2]
    assert banded([1, 9, 10, 24], [24] * 4) == ["low", "low", "middle", "high"]


def study(rows):
    """Counts of cases by (arm, repetition): lists of graded of 8."""
    return pd.DataFrame(
        [
            {
                "run": arm,
                "arm": arm,
                "training_seed": 0,
                "repetition": repetition,
                "case_id": f"c{at}",
                "template": "t",
                "family": "f",
                "n": 8,
                "graded": graded,
                "valid": graded,
                "success": graded,
                "success_not_graded": 0,
                "errors": 0,
            }
            for (arm, repetition), values in rows.items()
            for at, graded in enumerate(values)
        ]
    )


def test_the_banding_repetition_is_in_no_change():
    """Two cases of one true rate: banded by luck, which must not come back as a change."""
    table = study({("sft", 0): [0, 8], ("sft", 1): [4, 4], ("dense", 0): [0, 8], ("dense", 1): [4, 4]})
    found = bands(table, ["sft", "dense"], SETTINGS)
    assert (found["reference"], found["repetition"]) == ("sft", 0)
    (pair,) = found["pairs"]
    assert [(row["band"], row["cases"]) for row in pair["bands"]] == [("never", 1), ("high", 1)]
    assert [row["delta"]["value"] for row in pair["bands"]] == [0.0, 0.0]


def test_changes_are_those_of_the_other_repetitions():
    table = study(
        {
            ("sft", 0): [0, 2, 8],
            ("sft", 1): [1, 2, 8],
            ("sft", 2): [1, 4, 6],
            ("dense", 0): [8, 8, 8],
            ("dense", 1): [3, 6, 8],
        }
    )
    (pair,) = bands(table, ["sft", "dense"], SETTINGS)["pairs"]
    assert {row["band"]: row["delta"]["value"] for row in pair["bands"]} == {
        "never": pytest.approx(3 / 8 - 2 / 16),
        "low": pytest.approx(6 / 8 - 6 / 16),
        "high": pytest.approx(8 / 8 - 14 / 16),
    }


def test_one_repetition_gives_no_bands_and_says_why():
    found = bands(study({("sft", 0): [0, 8], ("dense", 0): [1, 7]}), ["sft", "dense"], SETTINGS)
    assert found["pairs"] == []
    assert found["note"] == "sft has one repetition; bands need one and their changes another"


def test_lost_samples_give_no_bands_and_say_why():
    table = study({("sft", 0): [0, 8], ("sft", 1): [1, 7], ("dense", 0): [1, 7], ("dense", 1): [0, 0]})
    table.loc[(table["arm"] == "dense") & (table["repetition"] == 1) & (table["case_id"] == "c1"), ["n", "errors"]] = [
        0,
        8,
    ]
    found = bands(table, ["sft", "dense"], SETTINGS)
    assert found["pairs"] == []
    assert found["note"].startswith("without repetition 0, case c1 has 0 samples and 8 errors")


def test_without_a_baseline_the_first_arm_is_the_reference():
    table = study({("a", 0): [0, 8], ("a", 1): [1, 7], ("b", 0): [1, 7], ("b", 1): [2, 6]})
    assert bands(table, ["a", "b"], SETTINGS)["reference"] == "a"
