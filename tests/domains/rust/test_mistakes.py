"""Mistakes made from a line."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.mistakes import broken_fix, near_miss, wrong_fix

LINE = st.text(alphabet=" abcxyz.,;(){}[]<>=+-&|0129*_", min_size=1, max_size=40)


@given(LINE, LINE, st.text(max_size=60), st.integers(0, 99))
def test_a_near_miss_never_stands_in_the_text(line: str, right: str, rest: str, seed: int) -> None:
    text = f"{rest}\n{line}\n{rest}"
    assert near_miss(line, right, text, Random(seed)) not in text


@given(LINE, LINE, st.integers(0, 99))
def test_a_wrong_fix_is_neither_the_line_nor_the_right_one(line: str, right: str, seed: int) -> None:
    assert wrong_fix(line, right, Random(seed)) not in (line, right)
    assert broken_fix(line, right, Random(seed)) not in (line, right)


@pytest.mark.parametrize(
    ("line", "right", "possible"),
    [
        ("x.min(3)", "x.max(3)", {"x.max(2)", "x.max(4)", "x.max(5)", "x.min(2)", "x.min(4)", "x.min(5)"}),
        ("", "all.find(n)", {"all.rfind(n)"}),
        ("", "a += b;", {"a -= b;"}),
        ("", "if a < b", {f"if a {sign} b" for sign in ("<=", ">=", "==", "!=", ">")}),
    ],
)
def test_a_wrong_fix_is_a_small_change(line: str, right: str, possible: set[str]) -> None:
    found = {wrong_fix(line, right, Random(seed)) for seed in range(300)}
    assert found - {None} == possible


def test_a_broken_fix_loses_a_sign_or_a_letter() -> None:
    found = {broken_fix("old", "total += n;", Random(seed)) for seed in range(50)}
    assert found == {"total += n", "tota += n;"}


def test_nothing_to_change_gives_none() -> None:
    assert wrong_fix("", "a b", Random(1)) is None and broken_fix("", "a b", Random(1)) is None
