"""rustc's JSON diagnostics: parsed, put in order, and what they say about how far a crate got."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.domains.rust.asks import Diagnostics

# The published scorer's list, and the four that it lacks (docs/contracts.md); E0106 is a name error there and here.
BORROW_CODES = frozenset(
    "E0309 E0310 E0311 E0373 E0381 E0382 E0384 E0499 E0502 E0503 E0505 E0506 E0507 E0508 E0509 E0515 E0596 E0597 "
    "E0621 E0623 E0716".split()
)
# Raised by the lexer or the parser although they carry a code
PARSE_CODES = frozenset("E0585 E0586 E0748 E0753 E0758 E0762 E0763 E0765 E0766 E0768".split())
# Without a code, yet raised when the crate had parsed: macro expansion and name resolution
LATE_UNCODED = re.compile(
    r"cannot find |cannot determine resolution|format argument must|invalid format string|"
    r"\d+ positional arguments? in format|named argument never used|argument never used|"
    r"multiple unused formatting|invalid reference to positional|no rules expected|unexpected end of macro|"
    r"recursion limit reached|cannot derive|the `#\[|`#\[|proc.macro"
)


@dataclass(frozen=True)
class Problem:
    """One error. file, line, column: of its primary span, the macro call's where it points into a macro."""

    code: str | None
    message: str
    file: str
    line: int
    column: int
    rendered: str

    @property
    def phase(self) -> int:
        """The phase that raised it: 1 parse, 2 name or type, 3 borrow, lifetime or a later lint."""
        if self.code is None:
            return 2 if LATE_UNCODED.match(self.message) else 1
        if self.code in PARSE_CODES:
            return 1
        is_lint = not re.fullmatch(r"E\d{4}", self.code)
        return 3 if is_lint or self.code in BORROW_CODES else 2

    def short(self) -> str:
        """One line for the error, one for its place."""
        head = f"error[{self.code}]" if self.code and self.code.startswith("E") else "error"
        place = f"\n --> {self.file}:{self.line}:{self.column}" if self.file else ""
        return f"{head}: {self.message}{place}\n"


def problems(lines: Iterable[str], key: str | None = None) -> list[Problem]:
    """The errors among JSON lines, in order of place; warnings, notes and rustc's own summary are dropped.

    key: where the diagnostic stands in each object ("message" in cargo's output, None in rustc's).
    """
    found = []
    for line in lines:
        if not line.startswith("{"):
            continue
        entry: Any = json.loads(line)
        entry = entry.get(key) if key else entry
        if isinstance(entry, dict) and _is_error(entry):
            found.append(_problem(entry))
    return sorted(found, key=_place)


def _is_error(entry: dict[str, Any]) -> bool:
    is_summary = re.match(r"aborting due to |could not compile", entry.get("message", ""))
    return str(entry.get("level", "")).startswith("error") and not is_summary


def _place(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column


def _problem(entry: dict[str, Any]) -> Problem:
    span = next((span for span in entry["spans"] if span["is_primary"]), None)
    while span is not None and span.get("expansion") and not span["file_name"].endswith(("lib.rs", "main.rs")):
        span = span["expansion"]["span"]
    code = (entry.get("code") or {}).get("code")
    rendered = entry.get("rendered") or ""
    if span is None:
        return Problem(code, entry["message"], "", 0, 0, rendered)
    return Problem(code, entry["message"], span["file_name"], span["line_start"], span["column_start"], rendered)


def phase(errors: Sequence[Problem]) -> int:
    """The furthest phase that the compiler reached, 4 where there is no error."""
    return max((problem.phase for problem in errors), default=4)


def codes(errors: Sequence[Problem]) -> tuple[str, ...]:
    """The codes of the errors in order of place, each once."""
    return tuple(dict.fromkeys(problem.code for problem in errors if problem.code))


def render(errors: Sequence[Problem], package: str, target: str, style: Diagnostics) -> str:
    """Canonical stderr of a failed build: the errors, then cargo's last line; without a count in the short form."""
    if style == "short":
        return "".join(problem.short() for problem in errors) + "error: could not compile\n"
    count = f"{len(errors)} previous error{'' if len(errors) == 1 else 's'}"
    last = f"error: could not compile `{package}` ({target}) due to {count}\n"
    # an error without a place (of the linker) quotes command lines and temporary paths: its headline is enough
    texts = (problem.rendered if problem.file else problem.short() for problem in errors)
    return "".join(text.rstrip("\n") + "\n\n" for text in texts) + last
