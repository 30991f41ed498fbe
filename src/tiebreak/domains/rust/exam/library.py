"""The harness, compiled: once a process, and put beside each crate that is examined."""

import threading
from functools import cache
from pathlib import Path

from tiebreak.domains.rust.compiler import rustc
from tiebreak.domains.rust.exam.harness import CRATE, HARNESS
from tiebreak.domains.rust.scratch import scratch
from tiebreak.errors import SandboxError

FILE = f"lib{CRATE}.rlib"
_lock = threading.Lock()


def link_harness(folder: Path) -> list[str]:
    """Put the harness into `folder`; the arguments that let rustc find it there."""
    with _lock:
        content = _compiled()
    (folder / FILE).write_bytes(content)
    return ["--extern", f"{CRATE}={FILE}"]


@cache
def _compiled() -> bytes:
    with scratch() as work:
        (work / f"{CRATE}.rs").write_text(HARNESS)
        done, lines = rustc(work, "--crate-type=rlib", f"--crate-name={CRATE}", "-o", FILE, f"{CRATE}.rs")
        if not done:
            raise SandboxError(f"this toolchain cannot compile the exam's harness ({' | '.join(lines)[:500]})")
        return (work / FILE).read_bytes()
