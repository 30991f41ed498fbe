"""rustc, confined: the flags of every compilation, and what its ending means."""

import signal
from pathlib import Path

from tiebreak.domains.rust.toolchain import Toolchain, compile_box, toolchain
from tiebreak.errors import SandboxError
from tiebreak.sandbox.limits import COMPILER
from tiebreak.sandbox.process import Result, run

# What cargo's dev profile turns on (overflow checks, debug assertions) comes with opt-level 0
FLAGS = ("--edition=2021", "-Copt-level=0", "-Cdebuginfo=0", "-Cprefer-dynamic", "-Awarnings", "--error-format=json")


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
