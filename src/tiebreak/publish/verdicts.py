"""What verification says of a number, a table or a file, and where two of them part."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

State = Literal["bit-exact", "rounding", "statistical", "not re-run", "noted", "differs"]
"""bit-exact: the same bytes or values. rounding: numbers that differ by less than `differences.NEAR`, relatively.
statistical: another draw, inside what two draws differ by. not re-run: with the reason. noted: a fact that decides
nothing. differs: what was found is not what was expected."""


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where two things part. place: run, repetition, case, sample, row or line, as far as there is one."""

    file: str
    field: str
    found: Any
    expected: Any
    place: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def text(self) -> str:
        """The difference in words."""
        where = ", ".join(f"{name} {value}" for name, value in self.place.items() if value is not None)
        what = f"{self.field} is " if self.field else ""
        return f"{self.file}: {where + ': ' if where else ''}{what}{short(self.found)}, expected {short(self.expected)}"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What was checked, how it came out, what was compared (`count` numbers, rows or files), and why in words."""

    subject: str
    state: State
    detail: str = ""
    count: int | None = None
    difference: Difference | None = None

    @property
    def fails(self) -> bool:
        """Whether this makes a release fail."""
        return self.state == "differs"

    def plain(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        found = {"subject": self.subject, "state": self.state, "detail": self.detail, "count": self.count}
        if self.difference is None:
            return found
        parts = {"file": self.difference.file, **self.difference.place, "field": self.difference.field}
        values = {"found": short(self.difference.found), "expected": short(self.difference.expected)}
        return found | {"difference": parts | values}


def differs(subject: str, difference: Difference, count: int | None = None) -> Verdict:
    """A failing verdict with its first difference."""
    return Verdict(subject, "differs", difference.text(), count, difference)


def short(value: Any, most: int = 160) -> str:
    """A value in at most `most` characters, its middle left out."""
    text = repr(value)
    half = most // 2 - 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"
