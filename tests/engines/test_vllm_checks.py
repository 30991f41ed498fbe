"""The comparisons that a server must pass: what is no number passes none of them."""

from math import inf, nan
from pathlib import Path

import pytest

from tiebreak.engines.vllm_checks import SAME, effect, same_model
from tiebreak.errors import EngineError

PLAIN = [-1.0, -2.0, -3.0]
FOLDER = Path("adapter")


def test_an_adapter_acts_where_it_changes_more_than_two_looks_differ() -> None:
    assert effect([PLAIN, [-1.0, -2.0, -3.1]], [-1.0, -2.5, -3.0], FOLDER) == 0.5
    with pytest.raises(EngineError, match="serves the base model in place of this adapter"):
        effect([PLAIN, [-1.0, -2.0, -3.1]], [-1.0, -2.1, -3.0], FOLDER)


@pytest.mark.parametrize("odd", [nan, inf, -inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_numbers_that_are_not_finite_prove_nothing(odd: float, place: int) -> None:
    found = [odd if at == place else value - 5.0 for at, value in enumerate(PLAIN)]
    words = rf"1 of 6 log probabilities are no finite numbers \(the first is {odd}, at token {place + 1}\)"
    with pytest.raises(EngineError, match=words):
        effect([PLAIN, PLAIN], found, FOLDER)
    with pytest.raises(EngineError, match=words):
        effect([PLAIN, found], PLAIN, FOLDER)
    with pytest.raises(EngineError, match=words):
        same_model(found, PLAIN)


def test_rounding_is_the_same_model_and_more_is_not() -> None:
    same_model([value + SAME / 2 for value in PLAIN], PLAIN)
    with pytest.raises(EngineError, match="serves another model than its folder holds"):
        same_model([value + SAME * 2 for value in PLAIN], PLAIN)
