"""The measure of near duplicates: the Jaccard similarity of 5-token shingles, literals alike, identifiers kept."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tiebreak.audits.duplicates import block_end

WIDTH = 5
LITERAL = "§"  # no token of Rust
FACTOR = np.uint64(0x9E3779B97F4A7C15)

Words = npt.NDArray[np.uint64]

# In this order, so that comment marks inside strings are text and quotes inside comments are not strings.
_TEXT = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | \b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
      | [bc]?"(?:\\.|[^"\\])*"
      | b?'(?:\\(?:u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}|.)|[^'\\\n])'""",
    re.VERBOSE | re.DOTALL,
)
# A digit after a single dot is a tuple's field, after two dots the end of a range.
_NUMBER = re.compile(r"(?<!\w)(?<!(?<!\.)\.)\d\w*(?:\.\d\w*)?(?:(?<=[eE])[+-]\d+)?")
_WORD = re.compile(r"'?\w+|[^\w\s]")


def words(source: str) -> list[str]:
    """The tokens that count, of Rust-like source: comments and layout dropped, literals all alike.

    Strings, characters and numbers are literals; `true` and `false` are words, and so is the number of a tuple's field.
    """
    parts, at = [], 0
    while found := _TEXT.search(source, at):
        parts.append(source[at : found.start()])
        kind = found.lastgroup
        parts.append(" " if kind in ("line", "block") else LITERAL)
        at = block_end(source, found.start()) if kind == "block" else found.end()
    return _WORD.findall(_NUMBER.sub(LITERAL, "".join([*parts, source[at:]])))


def shingles(tokens: Sequence[str], width: int = WIDTH) -> Words:
    """The set of a text's shingles of `width` tokens as sorted 64-bit hashes; a shorter text has one shingle.

    Two different shingles share a hash with a probability of about 1e-19, which `similarity` passes over.
    """
    padded = [*tokens, *[""] * (width - len(tokens))]
    ids = np.array([_token_hash(token) for token in padded], dtype=np.uint64)
    mixed = np.zeros(len(ids) - width + 1, dtype=np.uint64)
    for place in range(width):
        mixed = mixed * FACTOR + ids[place : place + len(mixed)]
    return np.unique(scrambled(mixed))


@lru_cache(maxsize=1 << 20)
def _token_hash(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def scrambled(values: Words) -> Words:
    """Bits mixed well (the finish of splitmix64), so that the order of hashes says nothing about the shingles."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def similarity(one: str, other: str) -> float:
    """The Jaccard similarity of two sources, from 0 to 1; exact."""
    a, b = shingles(words(one)), shingles(words(other))
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)
