"""Just enough of Rust's lexer to see which words a source uses, and where its modules begin and end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>b?c?r(?P<hashes>\#+)"|b?c?r")
  | (?P<string>[bc]?"(?:[^"\\]|\\.)*(?:"|\\?\Z))
  | (?P<char>b?'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.))')
  | (?P<lifetime>'[A-Za-z_]\w*)
  | (?P<word>(?:r\#)?[A-Za-z_]\w*)
  | (?P<number>\d\w*(?:\.\d\w*)?)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word or sign and where it stands; a string literal's word is `""`, its text is the source's."""

    word: str
    start: int
    end: int


def spans(source: str) -> Iterator[Token]:
    """The words and signs of a source with their places, without comments, characters and lifetimes."""
    position = 0
    while position < len(source):
        found = _TOKEN.match(source, position)
        assert found is not None  # `other` takes any character
        start, position = position, found.end()
        kind = found.lastgroup
        if kind == "block":
            position = _block_end(source, found.end())
        elif kind in ("raw", "hashes"):
            closing = '"' + (found.group("hashes") or "")
            end = source.find(closing, found.end())
            position = len(source) if end < 0 else end + len(closing)
            yield Token('""', start, position)
        elif kind == "string":
            yield Token('""', start, position)
        elif kind not in ("skip", "char", "lifetime"):
            yield Token(found.group(), start, position)


def tokens(source: str) -> Iterator[str]:
    """The words and signs of a source, without comments; every string literal becomes `""`."""
    return (token.word for token in spans(source))


def _block_end(source: str, position: int) -> int:
    """Where the block comment that is open at `position` ends; they nest."""
    depth = 1
    for found in re.compile(r"/\*|\*/").finditer(source, position):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(source)


def climbs_out(words: list[str]) -> bool:
    """Whether a `super` may name something above the crate's root."""
    modules = [False]  # one entry an open brace: whether it opened a module
    for index, word in enumerate(words):
        if word == "{":
            modules.append(index >= 2 and words[index - 2] == "mod")
        elif word == "}" and len(modules) > 1:
            modules.pop()
        elif word == "super":
            climb = 1
            while words[index + 3 * climb - 2 : index + 3 * climb + 1] == [":", ":", "super"]:
                climb += 1
            if climb > sum(modules):
                return True
    return False
