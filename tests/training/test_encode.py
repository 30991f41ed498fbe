"""A trace's segments are its rendered bytes, cut where rollouts cut, and the loss sits on the assistant's own turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.chat import END, render
from tiebreak.domains.base import TraceTurn
from tiebreak.errors import TrainingError
from tiebreak.training.encode import encode, segments
from tiebreak.training.tokenizer import train_tokenizer

TOKENIZER = train_tokenizer(["fn main() {\n    let x = 12;\n}\n"] * 3, 300, ["CALL read_file"])
WORDS = st.text(alphabet='ab \n{}<|_"\\é', max_size=12).map(lambda text: "x" + text)


def trace(*turns: tuple[str, str, bool]) -> list[TraceTurn]:
    return [{"role": role, "content": content, "loss": loss} for role, content, loss in turns]


@st.composite
def traces(draw: st.DrawFn) -> list[TraceTurn]:
    turns = trace(("system", draw(WORDS), False), ("user", draw(WORDS), False))
    for _ in range(draw(st.integers(1, 3))):
        turns += trace(("assistant", draw(WORDS), draw(st.booleans())), ("tool", draw(WORDS), False))
    return turns[:-1]


@given(traces())
def test_joined_segments_are_the_rendered_conversation(turns: list[TraceTurn]) -> None:
    messages = [{"role": turn["role"], "content": turn["content"]} for turn in turns]
    assert "".join(segment.text for segment in segments(turns)) == render(messages)  # type: ignore[arg-type]


@given(traces())
def test_tokens_decode_to_the_rendered_bytes(turns: list[TraceTurn]) -> None:
    messages = [{"role": turn["role"], "content": turn["content"]} for turn in turns]
    ids = encode(TOKENIZER, turns).ids
    assert TOKENIZER.decode(ids, clean_up_tokenization_spaces=False) == render(messages)  # type: ignore[arg-type]


def test_the_loss_is_on_learned_turns_and_their_closing_tags_alone() -> None:
    turns = trace(
        ("user", "go", False), ("assistant", "wrong", False), ("tool", "no", False), ("assistant", "good", True)
    )
    item = encode(TOKENIZER, turns, context_weight=0.25)
    by_weight = {
        weight: TOKENIZER.decode([i for i, w in zip(item.ids, item.weights, strict=True) if w == weight])
        for weight in sorted(set(item.weights))
    }
    assert by_weight[0.0] == f"wrong\n{END}"
    assert by_weight[1.0] == f"good\n{END}"
    assert "go" in by_weight[0.25] and "no" in by_weight[0.25]


def test_a_trace_ends_on_the_assistant() -> None:
    with pytest.raises(TrainingError, match="end on an assistant turn"):
        segments(trace(("user", "go", False)))


def test_protocol_strings_are_one_token_and_numbers_stay_whole() -> None:
    pieces = [TOKENIZER.decode([i]) for i in TOKENIZER("CALL read_file = 123;", add_special_tokens=False)["input_ids"]]
    assert pieces[0] == "CALL read_file"
    assert "12" not in pieces or "123" not in "".join(pieces[1:2])
