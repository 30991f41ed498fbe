"""Python in a turn's text: the fenced blocks, and how many `llm(` they hold as text.

One reader of fences serves the episode that runs them and the textual count, so that nothing runs uncounted.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from itertools import pairwise

NAME = "llm"
LANGUAGES = ("", "python", "py")

_FENCE = re.compile(r"[ \t]*(`{3,})[ \t]*([^`]*)")
_CALL = re.compile(rf"\b{NAME}\s*\(")
_COMMENT = re.compile(r"#.*")
_BETWEEN = (tokenize.NL, tokenize.COMMENT)
# From Python 3.12 on the tokenizer looks into f-strings; the count must not depend on the interpreter.
_FORMAT_START = getattr(tokenize, "FSTRING_START", -1)
_FORMAT_END = getattr(tokenize, "FSTRING_END", -1)


def blocks(text: str) -> list[str]:
    """The code of the blocks fenced as python, py or bare, in order.

    A fence is a line of three or more backticks and a language; one of at least as many backticks and nothing else
    closes it, and so does the end of the text: an open fence hides nothing.
    """
    found: list[str] = []
    lines: list[str] = []
    ticks, wanted = 0, False
    for line in text.replace("\r\n", "\n").split("\n"):
        fence = _FENCE.fullmatch(line)
        if not ticks and fence:
            ticks, wanted, lines = len(fence[1]), _is_python(fence[2]), []
        elif ticks and fence and len(fence[1]) >= ticks and not fence[2].strip():
            found += ["\n".join(lines)] if wanted else []
            ticks = 0
        elif ticks:
            lines.append(line)
    return [*found, "\n".join(lines)] if ticks and wanted else found


def _is_python(info: str) -> bool:
    return (info.split() or [""])[0].lower() in LANGUAGES


def textual_calls(text: str) -> int:
    """How often the fenced Python of `text` says `llm(`: the calls of a single-turn answer, where nothing runs.

    Names followed by a parenthesis, as Python's tokenizer sees them: not in comments, strings (f-strings are strings)
    or prose, and a call in a loop once. What an alias or a loop hides from it is its known weakness.
    """
    return sum(map(_calls_in, blocks(text)))


def _calls_in(block: str) -> int:
    if not _is_valid(block):
        return len(_CALL.findall(_COMMENT.sub("", block)))
    return sum(
        (first.type, first.string, second.string) == (tokenize.NAME, NAME, "(")
        for first, second in pairwise(_outside_formats(block))
    )


def _is_valid(block: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(block)
        list(_outside_formats(block))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return False
    return True


def _outside_formats(block: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens outside of f-strings, without comments and the line ends that mean nothing."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(block).readline):
        depth += token.type == _FORMAT_START
        if not depth and token.type not in _BETWEEN:
            yield token
        depth -= token.type == _FORMAT_END
