"""Limits on a sandbox as a whole by cgroup v2, where a part of the hierarchy was delegated to this process.

Elsewhere the limits of each process, the filter on new processes and the count while it runs (`census.py`) have to do.
What is set here lies above what a process may use by its own limits, so that the same program ends the same way with
and without cgroups; it stops what those cannot see: the sum over many processes, and memory that belongs to none.

A cgroup with processes in it cannot hand controllers down, so the processes of the delegated one (ours and those that
started us) move one level down, to `tiebreak-judges`, the first time.
"""

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tiebreak.errors import SandboxError
from tiebreak.sandbox.limits import MIB, Limits

NEEDED = frozenset({"memory", "pids"})
JUDGES, PREFIX = "tiebreak-judges", "tiebreak-box-"
SWITCH = "TIEBREAK_CGROUPS"
SWAP = "memory.swap.max"
BESIDES_BYTES = 64 * MIB  # kernel memory, the loader, bubblewrap
BESIDES_PROCESSES = 2  # bubblewrap, and the program that sets a limit and then becomes the one that is run
TRIES = 50
_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """The folder in which sandboxes get their cgroups; None where there is none, and `why`."""

    folder: Path | None
    why: str = ""


@cache
def place() -> Place:
    """Where this process may make cgroups with limits on memory and processes; looked for, and made ready, once."""
    if os.environ.get(SWITCH) == "off":
        return Place(None, f"switched off by {SWITCH}")
    try:
        found = _own(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
        return found if found.folder is None else ready(found.folder)
    except OSError as problem:
        return Place(None, f"cgroup v2 cannot be used ({problem})")


def _own(mounts: str, groups: str) -> Place:
    """The cgroup v2 of this process, from the texts of /proc/self/mountinfo and /proc/self/cgroup."""
    lines = (line.split() for line in mounts.splitlines())
    mount = next((words[4] for words in lines if words[words.index("-") + 1] == "cgroup2"), None)
    own = next((line.removeprefix("0::") for line in groups.splitlines() if line.startswith("0::")), None)
    if mount is None or own is None:
        return Place(None, "no cgroup v2")
    return Place(Path(mount) / own.lstrip("/"))


def ready(own: Path) -> Place:
    """The place for cgroups of sandboxes in or beside the cgroup `own`, its controllers handed down. OSError if not."""
    top = own.parent if own.name == JUDGES else own
    if missing := NEEDED - _words(top / "cgroup.controllers"):
        return Place(None, f"cgroup v2 without {' and '.join(sorted(missing))}")
    if not delegated(top):
        return Place(None, "cgroup v2, not delegated (`systemd-run --user --scope -p Delegate=yes` does that)")
    if NEEDED - _words(top / "cgroup.subtree_control"):
        _hand_down(top)
    _sweep(top)
    return Place(top)


def _words(path: Path) -> set[str]:
    return set(path.read_text().split()) if path.exists() else set()


def delegated(folder: Path) -> bool:
    """Whether a cgroup is this process's to divide: marked so by systemd, the user's own, or a container's root."""
    if not (os.access(folder, os.W_OK) and os.access(folder / "cgroup.subtree_control", os.W_OK)):
        return False
    for mark in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, mark) == b"1":
                return True
    is_root = not (folder.parent / "cgroup.procs").exists()
    return is_root or folder.stat().st_uid == os.geteuid() != 0


def _hand_down(top: Path) -> None:
    """Give the children of `top` the controllers; its own processes move down first, where they are in the way."""
    order = " ".join(f"+{name}" for name in sorted(NEEDED))
    for _ in range(TRIES):
        try:
            (top / "cgroup.subtree_control").write_text(order)
            return
        except OSError as problem:
            if problem.errno != errno.EBUSY:
                raise
        (top / JUDGES).mkdir(exist_ok=True)
        for process in (top / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (top / JUDGES / "cgroup.procs").write_text(process)
    raise OSError(errno.EBUSY, "processes keep being started there", str(top))


def _sweep(top: Path) -> None:
    """Remove what judges that were killed left behind."""
    for folder in top.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not os.path.exists(f"/proc/{owner}"):
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def group(limits: Limits) -> Iterator[Path | None]:
    """A cgroup for one sandbox, under the limits; None where there can be none. SandboxError if it cannot be made."""
    top = place().folder
    if top is None:
        yield None
        return
    folder = top / f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        folder.mkdir()
        for name, value in settings(limits).items():
            if name != SWAP or (folder / name).exists():  # not there where the kernel does not count swap
                _write(folder / name, value)
    except OSError as problem:
        remove(folder)
        raise SandboxError(f"a sandbox's cgroup cannot be made ({problem}); {SWITCH}=off does without") from problem
    try:
        yield folder
    finally:
        remove(folder)


def settings(limits: Limits) -> dict[str, str]:
    """What is written into the files of a sandbox's cgroup."""
    return {
        "memory.max": str(limits.memory_bytes + limits.tmpfs_bytes + BESIDES_BYTES),
        SWAP: "0",
        "memory.oom.group": "1",
        "pids.max": str(limits.processes + BESIDES_PROCESSES),
    }


def _write(path: Path, value: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def enter(folder: Path | None, process: int) -> None:
    """Put a process, and all that it will start, into a sandbox's cgroup. SandboxError if that fails."""
    if folder is None:
        return
    try:
        _write(folder / "cgroup.procs", str(process))
    except ProcessLookupError:
        return  # bubblewrap failed meanwhile
    except OSError as problem:
        raise SandboxError(f"a sandbox cannot enter its cgroup ({problem}); {SWITCH}=off does without") from problem


def remove(folder: Path) -> None:
    """Remove the cgroup of a sandbox whose processes have ended; the next sweep does where the kernel still counts."""
    for _ in range(TRIES):
        try:
            folder.rmdir()
            return
        except OSError as problem:
            if problem.errno != errno.EBUSY:
                return
        time.sleep(0.001)
