"""What is asked of the verdict engine, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CargoTool = Literal["cargo_test", "cargo_run"]
Way = Literal["auto", "cargo", "direct", "batch"]
Diagnostics = Literal["full", "short"]


@dataclass(frozen=True)
class Ask:
    """A crate and the cargo tool to use on it; `files` are (path, text) pairs sorted by path."""

    tool: CargoTool
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tool: CargoTool, files: Mapping[str, str]) -> "Ask":
        """An ask about the crate `files` (path -> text)."""
        return cls(tool, tuple(sorted(files.items())))

    @property
    def source(self) -> str | None:
        """The root file that the tool compiles: the library for tests where there is one, else the program."""
        paths = {path for path, _ in self.files}
        wanted = ("src/lib.rs", "src/main.rs") if self.tool == "cargo_test" else ("src/main.rs",)
        return next((path for path in wanted if path in paths), None)


@dataclass(frozen=True)
class Verdict:
    """What cargo says of a crate, in canonical bytes.

    ok: exit status (a program's output is compared with nothing here). stdout, stderr: complete; the protocol cuts.
    phase: 0 rustc never ran, 1 parse, 2 type or name resolution, 3 borrow or lifetime, 4 compiles.
    codes: error codes in order of place.
    tests_passed, tests_total: of the test run; zero where nothing ran. truncated: the output limit was hit.
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
