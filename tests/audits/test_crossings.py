import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.crossings import SHOWN, beginning, crossings, histogram, search
from tiebreak.audits.near import Index
from tiebreak.audits.shingles import similarity

BODY = """pub fn total(items: &[Item]) -> i32 {
    let mut sum = 0;
    for item in items {
        sum += item.size;
    }
    sum
}
"""
CASES = {
    "near": {"as given": BODY.replace("0", "1")},
    "close": {"as given": BODY.replace("+=", "-=")},
    "twin": {"as given": BODY},
    "far": {"as given": "struct Unlike<'a>(&'a str, Vec<u8>);"},
}
SPLITS = {"sft": ["near", "far"], "pool": ["twin"], "holdout": ["close"]}


def test_every_two_splits_are_measured_and_the_nearest_shown_with_their_difference() -> None:
    found = crossings(Index(CASES.items()), SPLITS, 0.9, lambda case, form: CASES[case][form])
    by_sides = {(item.split, item.against): item for item in found}
    assert set(by_sides) == {("holdout", "pool"), ("pool", "sft"), ("holdout", "sft")}
    twin = by_sides["pool", "sft"]
    assert (twin.cases, twin.over) == (1, 1)
    pair = twin.nearest[0]
    assert (pair["case"], pair["other"], pair["similarity"]) == ("twin", "near", 1.0)
    assert pair["diff"][:2] == ["--- twin as given", "+++ near as given"]
    assert "-    let mut sum = 0;" in pair["diff"] and "+    let mut sum = 1;" in pair["diff"]
    close = by_sides["holdout", "pool"]
    assert close.over == 0 and close.nearest[0]["similarity"] == pytest.approx(
        similarity(CASES["close"]["as given"], BODY), abs=1e-4
    )


def test_only_the_nearest_are_shown_and_all_are_counted() -> None:
    cases = {f"case{number}": {"as given": BODY.replace("0", str(number))} for number in range(2 * SHOWN)}
    names = sorted(cases)
    splits = {"sft": [*names[SHOWN + 2 :], "far"], "holdout": names[: SHOWN + 2]}
    cases["far"] = CASES["far"]
    (found,) = crossings(Index(cases.items()), splits, 0.9, lambda case, form: cases[case][form])
    assert {found.split, found.against} == {"sft", "holdout"}
    assert found.over == SHOWN - 2 and len(found.nearest) == SHOWN - 1
    assert sum(found.histogram["counts"]) == SHOWN - 1 and found.histogram["further"] == 0
    assert found.histogram["counts"][-1] == SHOWN - 2


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(0, 5))
def test_a_histogram_counts_every_case_once(values: list[float], without: int) -> None:
    found = histogram(values, len(values) + without)
    assert sum(found["counts"]) + found["further"] == len(values) + without
    assert len(found["counts"]) == len(found["edges"]) - 1
    assert found["further"] == without and (found["edges"][0], found["edges"][-1]) == (0, 1)


def test_the_record_says_how_pairs_were_found() -> None:
    assert search(0.92)["recall_at_threshold"] > 0.999999


def test_the_diff_of_long_texts_is_cut_and_says_so() -> None:
    assert beginning(["a"] * 200) == ["a"] * 200
    assert beginning(["a"] * 203)[199:] == ["a", "(3 more lines)"]
