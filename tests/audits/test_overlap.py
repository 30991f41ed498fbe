"""Overlap of texts between splits: against a count by hand, and against one that compares every two texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.overlap import CUT, SHOWN, overlaps

LINE = "the ledger adds up every row that has a date and skips the rest of them"


def test_containment_by_hand() -> None:
    prompts = {
        "sft": {"s1": LINE, "s2": "one two three four five six seven eight nine ten", "s3": LINE + "!"},
        "holdout": {
            "h1": LINE.replace(" ", "\n").upper(),  # the same tokens
            "h2": "one two three four five six seven eight nine TEN eleven twelve",  # 3 of 5 grams
            "h3": "nothing of this is said anywhere else in any other place",
        },
    }
    (found,) = overlaps("prompt", prompts)
    assert (found.what, found.split, found.against, found.cases) == ("prompt", "holdout", "sft", 3)
    assert (found.exact, found.whole, found.half) == (1, 1, 2)
    assert found.mean == pytest.approx((1 + 3 / 5 + 0) / 3, abs=1e-6)
    first, second = found.top
    assert (first["case"], first["contained"], first["other"], first["contained_in_other"]) == ("h1", 1.0, "s1", 1.0)
    assert (second["case"], second["contained"], second["other"]) == ("h2", 0.6, "s2")
    assert second["other_text"] == prompts["sft"]["s2"]


def test_a_text_may_be_contained_in_a_split_and_in_no_case_of_it() -> None:
    words = [f"w{number}" for number in range(17)]
    halves = {"a": " ".join(words[:9]), "b": " ".join(words[8:])}
    (found,) = overlaps("answer", {"sft": halves, "pool": {"p": " ".join([*words[:9], "x", *words[8:]])}})
    (shared,) = found.top
    assert (found.exact, shared["contained"]) == (0, pytest.approx(4 / 12, abs=1e-4))
    assert shared["contained_in_other"] == pytest.approx(2 / 12, abs=1e-4)


def test_of_equal_shares_the_longest_texts_are_shown_first() -> None:
    texts = {"a": "short and the same", "b": LINE, "c": LINE + " and that is all that there is to say"}
    (found,) = overlaps("prompt", {"sft": texts | {"d": "another"}, "holdout": texts})
    assert [shared["case"] for shared in found.top] == ["c", "b", "a"]


def test_a_short_text_is_contained_where_it_stands_alone() -> None:
    (found,) = overlaps("answer", {"sft": {"a": "x > y", "b": "x > y + 1"}, "holdout": {"c": "x>y"}})
    assert (found.exact, found.whole) == (1, 1) and found.top[0]["other"] == "a"
    (other,) = overlaps("answer", {"sft": {"a": "if x > y { x } else { y }", "b": "z"}, "holdout": {"c": "x > y"}})
    assert (other.exact, other.whole, other.mean, other.top) == (0, 0, 0.0, [])


def test_cases_without_a_text_are_in_no_count() -> None:
    (found,) = overlaps("answer", {"sft": {"a": LINE, "b": " \n"}, "holdout": {"c": LINE, "d": ""}})
    assert (found.cases, found.exact, found.mean) == (1, 1, 1.0)
    (none,) = overlaps("answer", {"sft": {}, "holdout": {"c": ""}})
    assert (none.cases, none.mean, none.top) == (0, 0.0, [])


def test_the_smaller_split_is_measured_and_only_the_largest_shares_are_shown() -> None:
    splits = {
        "sft": {f"s{number}": LINE for number in range(40)},
        "pool": {f"p{number:02}": LINE + " again" * 99 for number in range(SHOWN + 5)},
        "holdout": {"h": LINE},
    }
    found = overlaps("prompt", splits)
    pairs = [(item.split, item.against) for item in found]
    assert sorted(pairs) == [("holdout", "pool"), ("holdout", "sft"), ("pool", "sft")]
    pool = found[pairs.index(("pool", "sft"))]
    assert [shared["case"] for shared in pool.top] == [f"p{number:02}" for number in range(SHOWN)]
    assert all(len(shared["text"]) == CUT for shared in pool.top)


TEXTS = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.sampled_from(["x", "y", "+"]), max_size=14).map(" ".join), max_size=5
)


@given(TEXTS, TEXTS)
def test_the_counts_are_those_of_comparing_all(one: dict[str, str], other: dict[str, str]) -> None:
    def grams(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\S+", text)
        return {tuple(words[start : start + 8]) for start in range(max(1, len(words) - 7))}

    small, large = sorted(({"p": one}, {"q": other}), key=lambda side: (len(*side.values()), *side))
    (small_texts,), (large_texts,) = small.values(), large.values()
    held = set().union(*(grams(text) for text in large_texts.values() if text))
    shares = [len(grams(text) & held) / len(grams(text)) for text in small_texts.values() if text]
    (found,) = overlaps("prompt", {"p": one, "q": other})
    assert found.split == next(iter(small)) and found.cases == len(shares)
    assert found.exact == sum(text in large_texts.values() for text in small_texts.values() if text)
    assert (found.whole, found.half) == (sum(s == 1 for s in shares), sum(s >= 0.5 for s in shares))
    assert found.mean == pytest.approx(sum(shares) / len(shares) if shares else 0, abs=1e-6)
    for shared in found.top:
        text = small_texts[shared["case"]]
        each = {name: len(grams(text) & grams(theirs)) for name, theirs in large_texts.items() if theirs}
        assert shared["contained_in_other"] == pytest.approx(max(each.values()) / len(grams(text)), abs=1e-4)
        assert each[shared["other"]] == max(each.values())
