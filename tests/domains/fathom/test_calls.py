"""The trace of calls, the stub that recurses, and what a budget refuses."""

from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.fathom.calls import (
    HALVED,
    MOST_CHARACTERS,
    MOST_REFUSED,
    SHOWN,
    Budget,
    answer,
    halving,
    stub,
)

LONG = "A kind wind came. " * 400 + "The watch of Ben stopped at 11:09. " + "Nobody asks about the river. " * 400


def test_halving_finds_what_the_stub_finds_and_its_trace_is_a_tree() -> None:
    budget = Budget(most_calls=64, most_depth=8)
    assert answer(halving, budget, 1, "the watch of Ben?", LONG) == {"text": stub("the watch of Ben?", LONG, 1, budget)}
    assert budget.calls == len(budget.trace) > 8
    assert [(call.depth, call.parent) for call in budget.trace[:2]] == [(1, None), (2, 0)]
    for place, call in enumerate(budget.trace):
        below = [inner for inner in budget.trace if inner.parent == place]
        assert len(below) == (2 if call.characters > HALVED else 0)
        assert all(inner.depth == call.depth + 1 for inner in below)
        assert not below or sum(inner.characters for inner in below) == call.characters


@given(st.integers(0, 12), st.integers(0, 5))
def test_a_refused_half_is_read_without_a_call(most_calls: int, most_depth: int) -> None:
    budget = Budget(most_calls, most_depth)
    said = answer(halving, budget, 1, "the watch of Ben?", LONG)
    assert said == ({"text": "The watch of Ben stopped at 11:09."} if most_calls and most_depth else said)
    assert budget.calls <= most_calls and budget.deepest <= most_depth
    assert [call.refused for call in budget.trace].count(None) == budget.calls


def test_a_trace_keeps_little_of_each_call_and_few_of_the_refused() -> None:
    budget = Budget(most_calls=1)
    for _ in range(100):
        answer(stub, budget, 1, "p" * 5_000, "p" * 5_000)
    assert (budget.calls, budget.refused, len(budget.trace)) == (1, 99, 1 + MOST_REFUSED)
    assert budget.trace[0].characters == 5_000
    assert all(len(call.prompt) == SHOWN and len(call.answer or "") <= SHOWN for call in budget.trace)


def test_a_call_over_too_much_text_is_refused_and_not_counted() -> None:
    budget = Budget()
    assert "characters at most" in answer(stub, budget, 1, "", "x" * (MOST_CHARACTERS + 1))["refused"]
    assert (budget.calls, budget.refused) == (0, 1)
    assert "text" in answer(stub, budget, 1, "", "x" * MOST_CHARACTERS)
