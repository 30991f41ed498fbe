"""rustc, confined: the flags of every compilation, and what its ending means."""

import json
import signal
from dataclasses import replace
from functools import cache
from pathlib import Path

from tiebreak.domains.rust.toolchain import Toolchain, compile_box, toolchain
from tiebreak.errors import SandboxError
from tiebreak.sandbox import host
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import COMPILER, Limits
from tiebreak.sandbox.process import Result, run

# What cargo's dev profile turns on (overflow checks, debug assertions) comes with opt-level 0
FLAGS = ("--edition=2021", "-Copt-level=0", "-Cdebuginfo=0", "-Cprefer-dynamic", "-Awarnings", "--error-format=json")
# What a program is linked with changes no verdict, only the time: the system's linker and the standard library's line
# tables make a third of a compilation. rustc's own way to its lld needs /proc, so the C compiler is shown it by name.
LLD = "/linker"
LINKING = ("-Cstrip=debuginfo", "-Clink-arg=-fuse-ld=lld", f"-Clink-arg=-B{LLD}", "-Clink-arg=-Wl,--threads=1")


@cache
def own_linker(tools: Toolchain) -> Path | None:
    """The linker that came with the toolchain, where one did."""
    path = tools.sysroot / f"lib/rustlib/{tools.target}/bin/rust-lld"
    return path if path.is_file() else None


def _linking(tools: Toolchain, box: Box) -> tuple[list[str], Box]:
    """The flags that choose the linker, and the box in which it is found."""
    lld, flags = own_linker(tools), [f"-Clinker={tools.linker}"]
    if lld is None or host.allowed():
        return flags, box
    return [*flags, *LINKING], replace(box, read_only=(*box.read_only, (str(lld), f"{LLD}/ld.lld")))


BY_THE_CRATE = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGXFSZ, signal.SIGILL})
"""Signals that end rustc because of what it was given: its stack, its memory, the size of what it writes."""


class CompilerFailure(Exception):
    """rustc itself ended badly on this crate (out of time, stack or patience): the crate's doing, not a mere error."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"rustc ended with {result.code or result.signal}")
        self.result = result


def _says_disk_full(line: str) -> bool:
    """Whether the compiler itself says so: not of a place in the crate, which may quote anything."""
    if "No space left on device" not in line:
        return False
    try:
        return not line.startswith("{") or not json.loads(line).get("spans")
    except ValueError:
        return True


def rustc(folder: Path, *arguments: str, limits: Limits = COMPILER) -> tuple[bool, list[str]]:
    """Run rustc in `folder`, confined to `limits`: whether it succeeded, and its JSON lines.

    CompilerFailure if the crate made it crash or run out of time; SandboxError if the machine did.
    """
    tools = toolchain()
    linking, box = _linking(tools, compile_box(tools, folder))
    result = run([tools.rustc, *FLAGS, *linking, *arguments], box, limits)
    lines = [line for line in result.stderr.decode("utf-8", errors="replace").split("\n") if line]
    if result.timed_out or result.truncated or result.code == 101 or result.signal in BY_THE_CRATE:
        raise CompilerFailure(result)
    if result.code not in (0, 1) or any(map(_says_disk_full, lines)):
        raise SandboxError(
            f"rustc ended with {result.code or result.signal} ({' | '.join(lines[-3:])[:500]}); "
            "is the toolchain whole, and is there memory and disk left?"
        )
    return result.ok, lines
