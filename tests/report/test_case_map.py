"""Who flipped, held against the tests of the analysis and against a count by hand."""

import pytest

from tiebreak.report.case_map import cases, flips, moves, table
from tiebreak.stats.noise import floor

ORDER = ["sft", "sparse", "dense"]


def test_up_and_down_are_those_of_the_paired_test(analysis, counts_table):
    counts = counts_table()
    moved = moves(counts, cases(counts, ORDER), ORDER, floor(counts)).set_index("arm")
    for pair in analysis["checkpoints"]:
        if pair["a"] == "sft":
            row = moved.loc[pair["b"]]
            assert (row["up"], row["down"]) == (pair["over_cases"]["up"], pair["over_cases"]["down"])
            assert row["noise_flips"] == analysis["noise"]["graded"]["mean_flips"]


def test_a_flip_is_a_case_solved_by_one_side_of_a_repetition(counts_table):
    counts = counts_table(arms=("sft", "dense"), seeds=1, repetitions=2, cases=3)
    counts["graded"] = 0
    at = counts.set_index(["run", "repetition", "case_id"]).index
    for place in (("sft", 0, "case_000"), ("dense-seed0", 0, "case_001"), ("dense-seed0", 1, "case_001")):
        counts.loc[at.get_loc(place), "graded"] = 3
    assert flips(counts, "sft", "dense") == (1.0, 0.5)


def test_the_map_has_every_case_under_every_arm_highest_first(counts_table):
    counts = counts_table()
    frame = cases(counts, ORDER)
    assert len(frame) == 12 * 3 and frame["graded"].sum() == counts["graded"].sum()
    rates = frame.loc[frame["arm"] == "sft", "rate"].tolist()
    assert rates == sorted(rates, reverse=True)
    row = frame[(frame["case_id"] == "case_003") & (frame["arm"] == "dense")].iloc[0]
    part = counts[counts["case_id"] == "case_003"].groupby("arm")[["graded", "n"]].sum()
    rate = part["graded"] / part["n"]
    assert row["change"] == pytest.approx(rate["dense"] - rate["sft"]) and row["n"] == 48
    assert [[one["arm"] for one in case["arms"]] for case in table(frame)] == [ORDER] * 12
