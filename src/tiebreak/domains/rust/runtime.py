"""The root folder of the sandbox that runs compiled crates: shared libraries and nothing else.

No shell, no program to execute, no sources, no toolchain; made once a process in memory and mounted read-only.
"""

import atexit
import os
import re
import shutil
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path

from tiebreak.domains.rust.scratch import scratch
from tiebreak.domains.rust.toolchain import Toolchain, toolchain
from tiebreak.errors import SandboxError
from tiebreak.sandbox.bubblewrap import Box

LIBRARIES = "/lib"
PROGRAM = "/program"
_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)

_lock = threading.Lock()
_roots: dict[int, Path] = {}  # process id -> its root; a forked child makes one of its own


def run_box(program: Path, *, report: bool = False) -> Box:
    """A box with one compiled program, the libraries it is linked to, an empty /tmp, and a report pipe if asked for."""
    return Box(
        root=str(_root()),
        read_only=((str(program), PROGRAM),),
        environment=(("LD_LIBRARY_PATH", LIBRARIES), ("RUST_BACKTRACE", "0")),
        forks=False,
        dev=False,
        report=report,
    )


def _root() -> Path:
    with _lock:
        if os.getpid() not in _roots:
            _roots[os.getpid()] = _make()
        return _roots[os.getpid()]


def _make() -> Path:
    stack = ExitStack()
    root = stack.enter_context(scratch())
    atexit.register(_remove, os.getpid(), stack)
    for folder in ("lib", "tmp"):
        (root / folder).mkdir()
    (root / PROGRAM.lstrip("/")).touch()
    for library in _libraries(toolchain()):
        # the dynamic loader is found by its full path, all others by name
        inside = library if Path(library).name.startswith("ld-") else f"{LIBRARIES}/{Path(library).name}"
        target = root / inside.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(os.path.realpath(library), target)
        target.chmod(0o555)
    return root


def _remove(owner: int, stack: ExitStack) -> None:
    if os.getpid() == owner:
        stack.close()


def _libraries(tools: Toolchain) -> list[str]:
    """The shared standard library and all that it needs, as host paths."""
    folder = tools.sysroot / f"lib/rustlib/{tools.target}/lib"
    standard = sorted(folder.glob("libstd-*.so"))
    if not standard:
        raise SandboxError(f"{folder} holds no libstd-*.so; install the shared standard library of this toolchain")
    listed = subprocess.run(["ldd", str(standard[0])], capture_output=True, text=True, check=True).stdout
    return [str(standard[0]), *_LIBRARY.findall(listed)]
