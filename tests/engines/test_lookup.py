"""Guesses are what really followed, never more than asked for."""

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.engines.lookup import ORDERS, Lookup

TOKENS = st.lists(st.integers(0, 3), max_size=40)


@given(st.lists(TOKENS, min_size=1, max_size=4), TOKENS, st.integers(0, 8))
def test_a_guess_followed_the_same_end_somewhere(seen: list[list[int]], context: list[int], most: int) -> None:
    lookup = Lookup()
    for tokens in seen:
        lookup.add(tokens, len(tokens))
    guess = lookup.guess(context, most)
    assert len(guess) <= most
    if guess:
        ends = [tuple(context[-order:]) for order in ORDERS if len(context) >= order]
        assert any(
            tuple(tokens[at - len(end) : at]) == end and tokens[at : at + len(guess)] == guess
            for end in ends
            for tokens in seen
            for at in range(len(end), len(tokens))
        )


def test_the_longer_run_is_asked_first_and_the_latest_place_wins() -> None:
    lookup = Lookup()
    lookup.add([1, 2, 3, 4, 5, 6], 6)
    lookup.add([9, 4, 5, 7, 8], 5)
    assert lookup.guess([1, 2, 3, 4, 5], 1) == [6]
    assert lookup.guess([0, 0, 0, 4, 5], 3) == [7, 8]
    assert lookup.guess([0, 0], 3) == [] and lookup.guess([4, 5], 0) == []
