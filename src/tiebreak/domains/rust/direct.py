"""Verdicts by rustc itself: one compilation and one confined run a crate, without cargo."""

import os
import signal
from pathlib import Path

from tiebreak.domains.rust import canonical
from tiebreak.domains.rust.asks import Ask, Diagnostics, Verdict
from tiebreak.domains.rust.crate import crate_name
from tiebreak.domains.rust.diagnostics import Problem, problems
from tiebreak.domains.rust.runtime import PROGRAM as INSIDE
from tiebreak.domains.rust.runtime import run_box
from tiebreak.domains.rust.scratch import scratch, write_files
from tiebreak.domains.rust.toolchain import Toolchain, compile_box, toolchain
from tiebreak.errors import SandboxError
from tiebreak.sandbox.limits import COMPILER, Limits
from tiebreak.sandbox.process import Result, run

# What cargo's dev profile turns on (overflow checks, debug assertions) comes with opt-level 0
FLAGS = ("--edition=2021", "-Copt-level=0", "-Cdebuginfo=0", "-Cprefer-dynamic", "-Awarnings", "--error-format=json")
TEST_ARGUMENTS = ("--test-threads=1",)
PROGRAM = "program"


def compiler_flags(tools: Toolchain) -> list[str]:
    """The flags of every compilation, in every way."""
    return [*FLAGS, f"-Clinker={tools.linker}"]


class CompilerFailure(Exception):
    """rustc itself ended badly on this crate (out of time, stack or patience): the crate's doing, not a mere error."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"rustc ended with {result.code or result.signal}")
        self.result = result


def rustc(folder: Path, *arguments: str) -> tuple[bool, list[str]]:
    """Run rustc in `folder`, confined: whether it succeeded, and its JSON lines.

    CompilerFailure if the crate made it crash or run out of time; SandboxError if the machine did.
    """
    tools = toolchain()
    result = run([tools.rustc, *compiler_flags(tools), *arguments], compile_box(tools, folder), COMPILER)
    lines = result.stderr.decode("utf-8", errors="replace").splitlines()
    if result.timed_out or result.truncated or result.code == 101 or result.signal in (signal.SIGSEGV, signal.SIGABRT):
        raise CompilerFailure(result)
    if result.code not in (0, 1) or any("No space left on device" in line for line in lines):
        raise SandboxError(
            f"rustc ended with {result.code or result.signal} ({' | '.join(lines[-3:])[:500]}); "
            "is the toolchain whole, and is there memory and disk left?"
        )
    return result.ok, lines


def direct(ask: Ask, limits: Limits, style: Diagnostics) -> Verdict:
    """The verdict on one crate by rustc and a confined run."""
    if ask.source is None:
        return canonical.no_target(ask)
    with scratch() as work:
        folder = work / "crate"
        write_files(folder, dict(ask.files))
        try:
            errors = build(ask, folder)
        except CompilerFailure as failure:
            return canonical.compiler_failed(failure.result)
        if errors is not None:
            return canonical.build_failed(ask, errors, style)
        os.rename(folder / PROGRAM, work / PROGRAM)
        return canonical.ran(ask, run_program(work / PROGRAM, ask, limits), style)


def build(ask: Ask, folder: Path, *, check: bool = False) -> list[Problem] | None:
    """Compile the crate in `folder` to `PROGRAM` there; its errors, or None where it compiled.

    check: stop before code generation (for crates that are known to fail).
    """
    name, source = crate_name(ask.files), ask.source
    assert source is not None
    extern: list[str] = []
    if source == "src/main.rs" and "src/lib.rs" in dict(ask.files):
        done, lines = rustc(folder, "--crate-type=lib", f"--crate-name={name}", "-o", f"lib{name}.rlib", "src/lib.rs")
        if not done:
            return problems(lines)
        extern = ["--extern", f"{name}=lib{name}.rlib"]
    kind = ["--test"] if ask.tool == "cargo_test" else []
    kind += ["--emit=metadata"] if check else []
    done, lines = rustc(folder, *kind, f"--crate-name={name}", *extern, "-o", PROGRAM, source)
    return None if done else problems(lines)


def run_program(program: Path, ask: Ask, limits: Limits, *arguments: str) -> Result:
    """Run a compiled test binary or program, confined: no sources, no /proc, no new process."""
    tail = TEST_ARGUMENTS if ask.tool == "cargo_test" else ()
    return run([INSIDE, *arguments, *tail], run_box(program), limits)
