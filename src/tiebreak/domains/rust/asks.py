"""What is asked of the verdict engine, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CargoTool = Literal["cargo_test", "cargo_run"]
Tool = Literal["cargo_test", "cargo_run", "exam"]
Way = Literal["auto", "cargo", "direct", "batch"]
Diagnostics = Literal["full", "short"]


@dataclass(frozen=True)
class Ask:
    """A crate and the tool to use on it; `files` are (path, text) pairs sorted by path.

    The tools are cargo's two and `exam`: build the crate as a library with the exam's harness, and run its door.
    case: asks of one case are never put into one binary, where a program might find another's solution of its own task.
    """

    tool: Tool
    files: tuple[tuple[str, str], ...]
    case: str = ""

    @classmethod
    def of(cls, tool: Tool, files: Mapping[str, str], case: str = "") -> "Ask":
        """An ask about the crate `files` (path -> text)."""
        return cls(tool, tuple(sorted(files.items())), case)

    @property
    def source(self) -> str | None:
        """The root file that the tool compiles: the library for tests where there is one, else the program."""
        paths = {path for path, _ in self.files}
        wanted = ("src/main.rs",) if self.tool == "cargo_run" else ("src/lib.rs", "src/main.rs")
        return next((path for path in wanted if path in paths), None)


@dataclass(frozen=True)
class Verdict:
    """What cargo says of a crate, in canonical bytes.

    ok: exit status (a program's output is compared with nothing here). stdout, stderr: complete; the protocol cuts.
    phase: 0 rustc never ran, 1 parse, 2 type or name resolution, 3 borrow or lifetime, 4 compiles.
    codes: error codes in order of place.
    tests_passed, tests_total: of the test run; zero where nothing ran. truncated: the output limit was hit.
    late: ended by what depends on the machine's load or size (the wall clock, a kill, the count of threads): such a
    verdict is not kept.
    In the verdict of an exam `stdout` is the harness's report (`exam.report`), not what the crate printed.
    """

    ok: bool
    timed_out: bool
    stdout: str
    stderr: str
    compiled: bool
    phase: int
    tests_passed: int = 0
    tests_total: int = 0
    codes: tuple[str, ...] = ()
    truncated: bool = False
    late: bool = False
