"""ChatML, exactly: the one place where messages become the bytes that a model sees.

`render` is the Python renderer, `TEMPLATE` the same in Jinja (for tokenizers and servers); tests prove them equal.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypedDict

START, END = "<|im_start|>", "<|im_end|>"
SYSTEM_MESSAGE = "You are a Rust coding agent. Use tools when needed. After FINAL, stop immediately."
OPENING = f"{START}assistant\n"
CLOSING = f"\n{END}"
BREAK = "\n\n"
WHITESPACE = " \t\n\r\f\v"
ROLES = ("system", "user", "assistant", "tool")

_OPENING = re.compile(rf"{re.escape(START)}({'|'.join(ROLES)})\n")
_OPENING_LINE = re.compile(rf"^{_OPENING.pattern}", re.MULTILINE)
_BOUNDARY = re.compile(rf"{re.escape(END)}(?=\Z|{BREAK}{re.escape(START)}(?:{'|'.join(ROLES)})(?:\n|\Z))")


class Message(TypedDict):
    """One turn of a conversation; role is system, user, assistant or tool."""

    role: str
    content: str


TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- set content = message['content'].rstrip(' \\t\\n\\r\\f\\v') -%}"
    "{{- '\\n\\n' if not loop.first else '' -}}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + content -}}"
    "{%- if not (message['role'] == 'assistant' and content.endswith('<|im_end|>')) -%}"
    "{{- '\\n<|im_end|>' -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}"
    "{{- ('\\n\\n' if messages else '') + '<|im_start|>assistant\\n' -}}"
    "{%- endif -%}"
)


def render_message(message: Message) -> str:
    """One message: opening tag, content stripped right, closing tag (an assistant's own closing tag is kept)."""
    content = message["content"].rstrip(WHITESPACE)
    closing = "" if message["role"] == "assistant" and content.endswith(END) else CLOSING
    return f"{START}{message['role']}\n{content}{closing}"


def render(messages: Iterable[Message], *, generate: bool = False) -> str:
    """The conversation's text; `generate` adds the opening of the assistant turn that a model is to write."""
    parts = [render_message(message) for message in messages]
    return BREAK.join([*parts, OPENING] if generate else parts)


def parse(text: str) -> list[Message]:
    """The messages of a rendered conversation, so that `render(parse(text))` is `text` without trailing whitespace.

    A message ends at the first closing tag that the opening of another message, or the end of the text, follows: other
    tags inside a content are kept. Raises ValueError, naming the offset, where the text is not what `render` writes, or
    where a line of a content looks like the opening of a message (damage is likelier there than such a content).
    """
    messages: list[Message] = []
    rest, offset = text.rstrip(WHITESPACE), 0
    while offset < len(rest):
        if offset and not rest.startswith(BREAK, offset):
            raise ValueError(f"offset {offset}: expected a blank line, found {rest[offset : offset + 20]!r}")
        offset += len(BREAK) if offset else 0
        message, offset = _parse_message(rest, offset)
        messages.append(message)
    return messages


def _parse_message(text: str, offset: int) -> tuple[Message, int]:
    """The message that begins at `offset`, and the offset behind it."""
    opening = _OPENING.match(text, offset)
    if opening is None:
        expected = f"{START!r}, one of {', '.join(ROLES)}, and a line end"
        raise ValueError(f"offset {offset}: expected {expected}, found {text[offset : offset + 30]!r}")
    role, begin = opening[1], opening.end()
    for boundary in _BOUNDARY.finditer(text, begin):
        own_line = boundary.start() > begin and text[boundary.start() - 1] == "\n"
        content = text[begin : boundary.start() - 1] if own_line else text[begin : boundary.end()]
        if render_message({"role": role, "content": content}) == text[offset : boundary.end()]:
            if damage := _OPENING_LINE.search(content):
                raise ValueError(f"offset {begin + damage.start()}: a message opens without a blank line before it")
            return {"role": role, "content": content}, boundary.end()
    raise ValueError(f"offset {offset}: the {role!r} message does not end as rendered ones do, in {CLOSING!r}")


def prompt(messages: Sequence[Message]) -> str:
    """The bytes a model is asked to continue: the conversation and the opening of its turn."""
    return render(messages, generate=True)
