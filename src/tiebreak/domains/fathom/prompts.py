"""The opening messages of a question: one function for SFT, RL and evaluation, and the faulty layout as a named one."""

from bisect import bisect_right
from collections.abc import Callable

from tiebreak.chat import Message

SYSTEM_MESSAGE = (
    "You are FATHOM, a recursive language model with a Python REPL sandbox. You can read a long document via the "
    "variable `ctx` and call `llm(prompt, chunk)` for sub-queries. Think step by step. Emit your final answer inside "
    "<answer>...</answer>."
)
CHARACTERS_PER_TOKEN = 4
EXCERPT_TOKENS = 256


def estimated_tokens(text: str) -> int:
    """A fourth of the characters, rounded up: for where no tokenizer is at hand, and the same in every stage."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def excerpt(document: str, tokens: int, count: Callable[[str], int] = estimated_tokens) -> str:
    """The longest beginning of the document that is at most `tokens` tokens long.

    count: tokens of a text; never less for a longer one, or the beginning may not be the longest.
    """
    lengths = range(len(document) + 1)
    return document[: bisect_right(lengths, tokens, key=lambda length: count(document[:length])) - 1]


def opening(
    question: str,
    document: str,
    system_message: str | None = None,
    *,
    excerpt_tokens: int = EXCERPT_TOKENS,
    count: Callable[[str], int] = estimated_tokens,
    drifted: bool = False,
) -> list[Message]:
    """The opening messages; None is the published system message, `drifted` the fault's layout."""
    shown = excerpt(document, excerpt_tokens, count)
    right, wrong = f"{question}\n\n[Document excerpt]:\n{shown}", f"Context:\n{shown}\n\n{question}"
    system = SYSTEM_MESSAGE if system_message is None else system_message
    return [{"role": "system", "content": system}, {"role": "user", "content": wrong if drifted else right}]
