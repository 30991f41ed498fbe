"""ChatML: the Python renderer, the Jinja template, and the way back."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tiebreak.chat import END, OPENING, ROLES, START, TEMPLATE, Message, parse, prompt, render

TRACES = Path(__file__).parents[2] / "shared" / "data" / "glyph" / "heldout_traces.jsonl"
# as transformers' apply_chat_template builds it
JINJA = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE)

PIECES = st.sampled_from(
    [START, END, "\n", " ", "\t", "\r", "\v", "\f", "\u00a0", "\u2028", "{{ x }}", "user", "é", "x"]
)
CONTENTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))
MESSAGES = st.lists(
    st.builds(lambda role, content: Message(role=role, content=content), st.sampled_from(ROLES), CONTENTS), max_size=6
)


def jinja(messages: list[Message], generate: bool) -> str:
    return JINJA.render(messages=messages, add_generation_prompt=generate)


def traces() -> list[str]:
    if not TRACES.is_file():
        pytest.skip(f"the published traces are not at {TRACES}")
    return [json.loads(line)["trace"] for line in TRACES.read_text(encoding="utf-8").splitlines()]


def test_every_published_trace_comes_back_byte_for_byte() -> None:
    texts = traces()
    assert len(texts) == 75
    for text in texts:
        messages = parse(text)
        assert render(messages) == text
        assert jinja(messages, False) == text
        assert {"assistant", "tool", "user", "system"} >= {message["role"] for message in messages}


def test_a_real_tokenizer_applies_the_template_alike() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, chat_template=TEMPLATE)
    for text in traces()[:5]:
        messages = parse(text)
        assert tokenizer.apply_chat_template(messages, tokenize=False) == text
        opened = tokenizer.apply_chat_template(messages[:2], tokenize=False, add_generation_prompt=True)
        assert opened == prompt(messages[:2])


@given(MESSAGES, st.booleans())
def test_python_and_jinja_are_equal(messages: list[Message], generate: bool) -> None:
    assert jinja(messages, generate) == render(messages, generate=generate)


@given(MESSAGES)
def test_a_rendered_text_reads_back_to_the_same_text(messages: list[Message]) -> None:
    text = render(messages)
    try:
        read = parse(text)
    except ValueError:  # only a content that imitates a boundary, or brings a closing tag of its own, can do this
        assert any(START in message["content"] or END in message["content"] for message in messages)
    else:
        assert render(read) == text


@given(
    st.lists(st.builds(lambda role, text: Message(role=role, content=text.rstrip()), st.sampled_from(ROLES), st.text()))
)
def test_contents_without_tags_come_back_themselves(messages: list[Message]) -> None:
    assert parse(render(messages)) == messages


@given(st.text() | st.lists(PIECES | st.just(f"{START}user\n") | st.just(f"\n{END}"), max_size=12).map("".join))
def test_any_text_is_read_exactly_or_refused(text: str) -> None:
    try:
        messages = parse(text)
    except ValueError as error:
        assert "offset" in str(error)
    else:
        assert render(messages) == text.rstrip(" \t\n\r\f\v")


def test_an_assistant_turn_is_not_closed_twice() -> None:
    for content, body in [("done", f"done\n{END}"), (f"done{END}", f"done{END}"), (f"done\n{END} \n", f"done\n{END}")]:
        assert render([{"role": "assistant", "content": content}]) == f"{START}assistant\n{body}"
    assert render([{"role": "tool", "content": f"x{END}"}]) == f"{START}tool\nx{END}\n{END}"


def test_a_closing_tag_inside_a_content_is_kept() -> None:
    messages: list[Message] = [
        {"role": "user", "content": f"print {END} or\n{END}\n, then {START}user"},
        {"role": "assistant", "content": f"done{END}"},
        {"role": "tool", "content": ""},
    ]
    assert parse(render(messages)) == messages


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hello", "offset 0: expected '<|im_start|>'"),
        (f"{START}boss\nx\n{END}", "system, user, assistant, tool"),
        (f"{START}user\nx", "does not end"),
        (f"{START}user\nx{END}", "does not end"),
        (f"{START}user\nx  \n{END}", "does not end"),
        (f"{START}user\nx\n{END}\n{START}tool\ny\n{END}", "without a blank line"),
        (prompt([{"role": "user", "content": "x"}]), "assistant"),
    ],
)
def test_what_render_never_writes_is_refused(text: str, what: str) -> None:
    with pytest.raises(ValueError, match="offset") as caught:
        parse(text)
    assert what in str(caught.value).replace("\\", "")


def test_a_prompt_opens_the_assistant_turn() -> None:
    assert prompt([]) == OPENING
    assert prompt([{"role": "user", "content": "x\n\n"}]) == f"{START}user\nx\n{END}\n\n{OPENING}"
