"""Parity: are two prompts the same bytes, and if not, where do they part?"""

from collections.abc import Mapping
from dataclasses import dataclass

AROUND = 40


@dataclass(frozen=True)
class Difference:
    """The first differing byte: its offset, the bytes in words on both sides, and the text around it, escaped.

    `line` counts from 1, `column` in bytes from 1.
    """

    offset: int
    line: int
    column: int
    expected: str
    found: str
    expected_context: str
    found_context: str


def in_words(data: bytes, offset: int) -> str:
    """One byte as a person reads it: 'a' (0x61), or the end of the text."""
    if offset >= len(data):
        return "end of text"
    byte = data[offset]
    shown = {0x0A: "newline", 0x09: "tab", 0x20: "space", 0x0D: "carriage return"}.get(byte)
    if shown is None:
        shown = repr(chr(byte)) if 0x21 <= byte < 0x7F else "byte"
    return f"{shown} (0x{byte:02x})"


def context(data: bytes, offset: int) -> str:
    """The text around `offset`, control characters escaped, the differing byte between ⟦ and ⟧."""
    before = data[max(0, offset - AROUND) : offset]
    after = data[offset + 1 : offset + 1 + AROUND]
    parts = [readable(before), f"⟦{readable(data[offset : offset + 1])}⟧", readable(after)]
    return ("…" if offset > AROUND else "") + "".join(parts) + ("…" if offset + 1 + AROUND < len(data) else "")


def readable(data: bytes) -> str:
    """Bytes as text with newlines and other control characters escaped; a cut character is shown as its bytes."""
    text = data.decode("utf-8", errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def first_difference(expected: str | bytes, found: str | bytes) -> Difference | None:
    """Where `found` first differs from `expected`, byte by byte (text as UTF-8); None if they are the same bytes."""
    left = expected.encode() if isinstance(expected, str) else expected
    right = found.encode() if isinstance(found, str) else found
    if left == right:
        return None
    shared = min(len(left), len(right))
    offset = next((i for i in range(shared) if left[i] != right[i]), shared)
    start = left.rfind(b"\n", 0, offset) + 1
    return Difference(
        offset=offset,
        line=left.count(b"\n", 0, offset) + 1,
        column=offset - start + 1,
        expected=in_words(left, offset),
        found=in_words(right, offset),
        expected_context=context(left, offset),
        found_context=context(right, offset),
    )


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> dict[str, Difference]:
    """The first difference of each case of `found` whose prompt is not that of `expected`; cases in order.

    Raises KeyError for a case that `expected` lacks.
    """
    pairs = {case: first_difference(expected[case], prompt) for case, prompt in sorted(found.items())}
    return {case: difference for case, difference in pairs.items() if difference is not None}
