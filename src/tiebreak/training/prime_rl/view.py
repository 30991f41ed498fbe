"""The folder that prime-rl loads: the SFT model with our chat template, proven to say what our renderer says."""

import json
from pathlib import Path
from typing import Any

from tiebreak.chat import END, START, TEMPLATE, Message, render
from tiebreak.errors import TrainingError
from tiebreak.sections.prime_rl import PrimeRl

TEMPLATE_FILE = "chat_template.jinja"
TOKENIZER = ("tokenizer", "special_tokens_map", "added_tokens", "chat_template", "vocab", "merges")
"""What the names of a tokenizer's files begin with."""
PROBES: tuple[list[Message], ...] = (
    [Message(role="system", content="Use tools."), Message(role="user", content="Fix it. \n\n")],
    [
        Message(role="system", content=""),
        Message(role="user", content='Say "ä" \\ and\ttabs'),
        Message(role="assistant", content='CALL read_file {"id":"c1","file_path":"src/lib.rs"}'),
        Message(role="tool", content="RESULT c1:\nstatus: success\nstdout:\nfn f() {}\n\n"),
        Message(role="assistant", content=f"FINAL: done\n{END}"),
    ],
    [Message(role="user", content="  indented"), Message(role="assistant", content="\nFINAL: <b>&amp;</b>  ")],
)
"""Conversations with what templates get wrong: ends of lines, empty contents, closing tags, what HTML would escape."""


def install(model: Path, view: Path) -> None:
    """Make the folder `view`: links to the model's files, and its tokenizer with our template and our end of a turn.

    prime-rl's rollout client puts the tokenizer's end token in place of the stop tokens that it is given (`renderers`,
    client.generate and DefaultRenderer.get_stop_token_ids), and a base model's end token ends a text, not a turn.
    """
    from transformers import AutoTokenizer

    view.mkdir(parents=True, exist_ok=True)
    for path in sorted(model.iterdir()):
        link = view / path.name
        link.unlink(missing_ok=True)
        if path.is_file() and not path.name.startswith(TOKENIZER):
            link.symlink_to(path.resolve())
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.chat_template, tokenizer.eos_token = TEMPLATE, END
    tokenizer.save_pretrained(view)


def prove(view: Path, part: PrimeRl) -> None:
    """Raise TrainingError where the view does not speak as our renderer, or has other ids than the study says."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(view)
    if tokenizer.eos_token != END:
        raise TrainingError(
            f"{view}: its end token is {tokenizer.eos_token}, turns end in {END}; install the view anew"
        )
    for messages in PROBES:
        for generate in (False, True):
            same_words(tokenizer, messages, generate, view)
    vocabulary = json.loads((view / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    found = {
        "tokenizer_size": len(tokenizer),
        "vocabulary": vocabulary,
        "stop_tokens": tuple(tokenizer.convert_tokens_to_ids([START, END])),
    }
    for name, value in found.items():
        if value != getattr(part, name):
            said, mend = getattr(part, name), list(value) if isinstance(value, tuple) else value
            raise TrainingError(
                f"{view}: its {name} is {value}, the study says {said}: with wrong ids turns do not end, or ids "
                f"without a token are sampled; write rlvr.prime_rl.{name}: {mend}"
            )


def same_words(tokenizer: Any, messages: list[Message], generate: bool, view: Path) -> None:
    """Compare the tokenizer's template with our renderer on one conversation, as text and as tokens."""
    expected = render(messages, generate=generate)
    shown = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=generate)
    if shown != expected:
        at = next(
            (i for i, (a, b) in enumerate(zip(shown, expected, strict=False)) if a != b), min(len(shown), len(expected))
        )
        raise TrainingError(
            f"{view}: its chat template says {shown[at : at + 40]!r} at character {at} where our renderer says "
            f"{expected[at : at + 40]!r}; rollouts would not see what SFT showed"
        )
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=generate, return_dict=False)
    if list(ids) != list(tokenizer(expected, add_special_tokens=False)["input_ids"]):
        raise TrainingError(f"{view}: its chat template makes other tokens of a conversation than its own text has")
