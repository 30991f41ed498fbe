"""The facts under the shaping terms, in two profiles: `published` (from text alone) and `true` (from verdicts).

Where only text is left, `stated` gives the profile `true` as well as text can.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tiebreak.domains.rust.asks import Verdict
from tiebreak.domains.rust.transcript import Answered, Transcript

PARSE, TYPES, BORROWS, COMPILES = 1, 2, 3, 4

# The published scorer's table (docs/contracts.md): E0106 stands among the lifetimes, and four of the borrow checker's
# own codes are missing.
_VALUES = (382, 499, 502, 503, 505, 506, 507, 508, 509, 515, 597, 716)
_LIFETIMES = (106, 309, 310, 311, 621, 623)
PUBLISHED_BORROWS = frozenset(f"E{number:04}" for number in (*_VALUES, *_LIFETIMES))
TRUE_BORROWS = (PUBLISHED_BORROWS - {"E0106"}) | {"E0373", "E0381", "E0384", "E0596"}

_RESULT_LINE = re.compile(r"test result: .*? (\d+) passed; (\d+) failed;")
_CODE = re.compile(r"error\[(E\d{4})\]")
_CODE_LINE = re.compile(r"^error\[(E\d{4})\]", re.MULTILINE)
_RAN = ("test result:", "Finished", "Running `")
_RAN_TRUE = (*_RAN, "Running unittests", "panicked at", "expected exact output ")


@dataclass(frozen=True)
class Facts:
    """What the cargo calls of an episode came to.

    phase: the furthest rustc phase, 1 parse, 2 type or name, 3 borrow or lifetime, 4 compiles; 0 if none is known.
    tests_passed, tests_total: those of the call with the best fraction.
    """

    compiled: bool = False
    phase: int = 0
    tests_passed: int = 0
    tests_total: int = 0

    @property
    def fraction(self) -> float:
        """The fraction of tests passed, in [0, 1]; 0 without tests."""
        return self.tests_passed / self.tests_total if self.tests_total else 0.0


def best(parts: Iterable[Facts]) -> Facts:
    """The facts of several cargo calls as one: the furthest phase and the best fraction that any of them reached."""
    items = list(parts)
    top = max(items, key=lambda item: item.fraction, default=Facts())
    phase = max((item.phase for item in items), default=0)
    return Facts(any(item.compiled for item in items), phase, top.tests_passed, top.tests_total)


def witnessed(verdicts: Iterable[Verdict]) -> Facts:
    """Profile `true`: what the toolbox knows."""
    return best(Facts(v.compiled, v.phase, v.tests_passed, v.tests_total) for v in verdicts)


def published(transcript: Transcript) -> Facts:
    """Profile `published`: the original scorer's reading of the replies (docs/contracts.md)."""
    return best(map(_published, transcript.cargo))


def stated(transcript: Transcript) -> Facts:
    """Profile `true` from text: a wrong output and a timeout did compile, only stderr counts as the compiler's word,
    and phases follow the true table. What the text cannot tell: the errors behind a cut, and what a program printed
    in the compiler's voice.
    """
    return best(map(_stated, transcript.cargo))


def _published(item: Answered) -> Facts:
    text = item.output
    failed = "error[E" in text or "could not compile" in text
    compiled = not failed and (bool(item.ok) or any(mark in text for mark in _RAN))
    codes = set(_CODE.findall(text))
    return Facts(compiled, _phase(compiled, codes, PUBLISHED_BORROWS, "error" in text), *_tests(text))


def _stated(item: Answered) -> Facts:
    stderr = "" if item.ok else item.output.rpartition("stderr:\n")[2]
    codes = set(_CODE_LINE.findall(stderr))
    failed = bool(codes) or "error: could not compile" in stderr
    ran = bool(item.ok) or item.output.startswith("timed_out: true") or any(mark in item.output for mark in _RAN_TRUE)
    phase = _phase(ran and not failed, codes, TRUE_BORROWS, failed)
    return Facts(ran and not failed, phase, *_tests(item.output if ran and not failed else ""))


def _phase(compiled: bool, codes: set[str], borrows: frozenset[str], other_error: bool) -> int:
    if compiled:
        return COMPILES
    if codes:
        return BORROWS if codes & borrows else TYPES
    return PARSE if other_error else 0


def _tests(text: str) -> tuple[int, int]:
    """Passed and total over all `test result:` lines."""
    pairs = [(int(passed), int(failed)) for passed, failed in _RESULT_LINE.findall(text)]
    passed = sum(pair[0] for pair in pairs)
    return passed, passed + sum(pair[1] for pair in pairs)
