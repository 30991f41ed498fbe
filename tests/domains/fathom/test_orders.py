"""What may be asked for, what a server allows, and tasks that only the server can draw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tiebreak.domains.fathom.answers import extract
from tiebreak.domains.fathom.code import blocks
from tiebreak.domains.fathom.orders import Allowance, Dealer, Order, as_turn
from tiebreak.domains.fathom.tasks import problems
from tiebreak.errors import ConfigError
from tiebreak.sandbox.limits import MIB


def test_limits_come_from_the_environment() -> None:
    found = Allowance.of({"TIEBREAK_FATHOM_SESSIONS": "7", "TIEBREAK_FATHOM_MEMORY_MIB": "128", "HOME": "/x"})
    assert (found.sessions, found.tool_rounds) == (7, Allowance().tool_rounds)
    settings = found.settings("stub")
    assert settings.limits.memory_bytes == 128 * MIB and settings.most_depth == found.most_depth


@pytest.mark.parametrize(
    ("name", "value"), [("SESSIONS", "0"), ("SESSIONS", "many"), ("IDLE_SECONDS", "nan"), ("X", "1")]
)
def test_a_limit_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"TIEBREAK_FATHOM_{name} is '{value}': .*known are TIEBREAK_FATHOM_SESSIONS"):
        Allowance.of({f"TIEBREAK_FATHOM_{name}": value})


@pytest.mark.parametrize("kind", ["niah", "multi_needle", "extractive", "counting"])
@pytest.mark.parametrize("characters", [1_000, 200_000])
def test_a_task_is_as_ordered_and_sound(kind: str, characters: int) -> None:
    for seed in range(5):
        task = Dealer(1).task(Order(kind=kind, characters=characters, seed=seed))  # type: ignore[arg-type]
        assert (task.family, problems(task)) == (kind, [])
        assert 0.8 * characters < len(task.document) <= characters


def test_a_seed_names_a_task_of_one_server_and_no_other() -> None:
    order = Order(seed=3)
    assert Dealer(1).task(order) == Dealer(1).task(order) != Dealer(2).task(order)
    assert Dealer(1).task(order).seed != 3
    dealer = Dealer()
    assert dealer.task(order) == dealer.task(order) and dealer.task(Order()) != dealer.task(Order())


def test_kinds_come_in_the_published_shares() -> None:
    kinds = [Dealer(1).task(Order(characters=1_000, seed=seed)).family for seed in range(400)]
    assert abs(kinds.count("niah") / 400 - 0.4) < 0.1 and abs(kinds.count("counting") / 400 - 0.1) < 0.06


@pytest.mark.parametrize("wrong", [{"characters": 999}, {"characters": 200_001}, {"seed": -1}, {"kind": "x"}, {"y": 1}])
def test_an_order_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Order.model_validate(wrong)


@given(st.text(alphabet="`'\"\nab <>answer/~#", max_size=60))
def test_code_is_fenced_so_that_exactly_it_is_run(text: str) -> None:
    try:
        turn = as_turn("code", text)
    except ConfigError:
        assert extract(text) is not None
        return
    assert extract(turn) is None
    assert blocks(turn) == [text]


@given(st.text())
def test_an_answer_ends_the_episode(text: str) -> None:
    assert extract(as_turn("answer", text)) is not None
    assert as_turn("turn", text) == text
