"""What a template draws: a correct piece of Rust, the lines that may be wrong, and Python twins of both.

A template is a function from a seeded generator to a `Sketch`, so that one template gives endless crates; everything
else (tests, hidden checks, families, steps, prose) is made from the sketch by `frame`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any

from tiebreak.domains.rust.generator.values import argument

Twin = Callable[..., Any]

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "strictness": "the comparison",
        "direction": "the direction",
        "start": "the starting value",
        "range": "the range",
        "operator": "the operator",
        "constant": "the constant",
        "swapped": "the order of the arguments",
        "condition": "the condition",
        "field": "the field",
        "method": "the method",
        "flow": "the control flow",
        "tie": "the tie-break",
        "branch": "the branch",
        "index": "the index",
        "mutability": "the mutability",
        "borrow": "the borrow",
        "lifetime": "the lifetime",
        "type": "the type",
        "move": "the moved value",
    }
)
COMPILER_KINDS = ("mutability", "borrow", "lifetime", "type", "move")


@dataclass(frozen=True)
class Wrong:
    """A wrong version of a line; `twin` does in Python what the crate then does, None where it does not compile."""

    kind: str
    line: str
    twin: Twin | None


@dataclass(frozen=True)
class Site:
    """A line of the correct code, with its indentation, and its wrong versions."""

    right: str
    wrongs: tuple[Wrong, ...]


@dataclass(frozen=True)
class Sketch:
    """One drawing of a template.

    code: the correct code without tests; the line `DOC` stands for the doc comment.
    doc, vague: two doc comments, one that settles the intent and one that leaves it to the tests.
    task: the intent as a verb phrase ("count the birds that weigh at least 12").
    twin: the correct function in Python; sample: draws its arguments; show: the arguments as Rust text.
    """

    name: str
    code: str
    doc: str
    vague: str
    task: str
    sites: tuple[Site, ...]
    twin: Twin
    sample: Callable[[Random], tuple[Any, ...]]
    show: Callable[[tuple[Any, ...]], str] | None = None

    def call(self, args: tuple[Any, ...]) -> str:
        """The Rust expression that calls the function under repair."""
        text = self.show(args) if self.show else ", ".join(argument(arg) for arg in args)
        return f"{self.name}({text})"


@dataclass(frozen=True)
class Template:
    """A semantic pattern: its recorded name, its bug category, and the function that draws a sketch."""

    name: str
    category: str
    draw: Callable[[Random], Sketch]


def swap(line: str, old: str, new: str) -> str:
    """`line` with `old`, which stands in it once, replaced."""
    if line.count(old) != 1:
        raise ValueError(f"{old!r} stands {line.count(old)} times in {line!r}; it must stand once")
    return line.replace(old, new)


Change = tuple[str, str, str, Twin | None]


def site(line: str, *changes: Change) -> Site:
    """A site from (kind, old text, new text, twin) changes of its line."""
    return Site(line, tuple(Wrong(kind, swap(line, old, new), twin) for kind, old, new, twin in changes))


def broken(kind: str, line: str, *wrong: str) -> Site:
    """A site whose wrong versions do not compile."""
    return Site(line, tuple(Wrong(kind, text, None) for text in wrong))


def lines(*parts: str) -> str:
    """Code from its lines, with a newline after each."""
    return "".join(part + "\n" for part in parts)
