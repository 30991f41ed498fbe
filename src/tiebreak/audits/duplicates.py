"""Exact duplicates across splits: the same code, whatever its comments and its layout."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

# In this order, so that comment marks inside strings are text and quotes inside comments are not strings.
TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>\bb?r(?P<hashes>\#*)".*?"(?P=hashes))
      | (?P<string>b?"(?:\\.|[^"\\])*")
      | (?P<char>b?'(?:\\(?:u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}|.)|[^'\\\n])')
      | (?P<word>\w+)
      | (?P<space>\s+)
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
EDGE = re.compile(r"/\*|\*/")


def block_end(source: str, begin: int) -> int:
    """Where the (nestable) block comment that opens at `begin` ends; the end of the text if it never does."""
    depth = 0
    for edge in EDGE.finditer(source, begin):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(source)


def tokens(source: str) -> Iterator[str]:
    """The tokens of Rust-like source: comments and layout dropped, strings and characters whole, one mark at a time."""
    at = 0
    while found := TOKEN.match(source, at):
        kind = found.lastgroup if found.lastgroup != "hashes" else "raw"
        at = found.end()
        if kind == "block":
            at = block_end(source, found.start())
        elif kind not in ("line", "space"):
            yield found.group()


def normalise(source: str) -> str:
    """The source's tokens, one space between any two: equal for texts that differ in comments and layout alone."""
    return " ".join(tokens(source))


@dataclass(frozen=True)
class Duplicate:
    """Two cases of different splits with the same normalised source."""

    split_a: str
    case_a: str
    split_b: str
    case_b: str
    digest: str


def duplicates(splits: Mapping[str, Mapping[str, str]]) -> list[Duplicate]:
    """Pairs of cases in different splits with equal normalised source, sorted.

    splits: {split: {case_id: source without its tests}}; a case that stands in two splits is a duplicate of itself.
    """
    where: dict[str, dict[str, list[str]]] = {}
    for split, cases in splits.items():
        for case, source in cases.items():
            digest = hashlib.sha256(normalise(source).encode()).hexdigest()
            where.setdefault(digest, {}).setdefault(split, []).append(case)
    found = [
        Duplicate(a, case_a, b, case_b, digest)
        for digest, holders in where.items()
        for a, b in combinations(sorted(holders), 2)
        for case_a, case_b in product(holders[a], holders[b])
    ]
    return sorted(found, key=place)


def place(pair: Duplicate) -> tuple[str, str, str, str]:
    """Where a pair stands."""
    return pair.split_a, pair.split_b, pair.case_a, pair.case_b
