"""The answer between the tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.fathom.answers import extract, is_correct, normal


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>42</answer>", "42"),
        ("so <answer>\n New  York </answer> done", "New  York"),
        ("<answer></answer>", ""),
        ("inside <answer>...</answer>: <answer>a</answer>", "a"),
        ("<answer>a</answer> and <answer>b", "a"),
        ("<answer>a <answer>b</answer>", "b"),
        ("<answer>a</answer></answer>", "a"),
        ("42", None),
        ("<answer>42", None),
        ("42</answer>", None),
        ("</answer><answer>", None),
        ("<ANSWER>42</ANSWER>", None),
        ("", None),
    ],
)
def test_the_last_complete_pair_is_the_answer(text: str, answer: str | None) -> None:
    assert extract(text) == answer


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [
        ("Blue", "blue", True),
        ("  new\n\tyork ", "New York", True),
        ("newyork", "new york", False),
        ("blue.", "blue", False),
        ("", "", False),
        (" ", " ", False),
        (None, "blue", False),
        ("blue green", "blue", False),
    ],
)
def test_exact_match_after_folding(answer: str | None, gold: str, correct: bool) -> None:
    assert is_correct(answer, gold) is correct


@given(st.text(), st.text(st.characters(exclude_characters="<>")), st.text(st.characters(exclude_characters="<>")))
def test_an_answer_is_found_behind_any_text(before: str, inside: str, after: str) -> None:
    assert extract(f"{before}<answer>{inside}</answer>{after}") == inside.strip()


@given(st.text())
def test_folding_is_idempotent(text: str) -> None:
    assert normal(" ".join(text.split())) == normal(text)
    assert "  " not in normal(text)


def test_a_million_open_tags_take_no_time() -> None:
    assert extract("<answer>" * 1_000_000) is None
    assert extract("<answer>" * 1_000_000 + "</answer>") == ""
