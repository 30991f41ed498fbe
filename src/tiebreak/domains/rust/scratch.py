"""Scratch folders in memory that go away, also those of a process that was killed."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from tiebreak.errors import SandboxError

PREFIX = "tiebreak-"


def home() -> Path:
    """Memory where there is enough of it, else the usual place for temporary files."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30:
        return memory
    return Path(tempfile.gettempdir())


def sweep() -> int:
    """Remove the scratch folders of processes that are gone (their lock is free); how many there were."""
    removed = 0
    for folder in home().glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), open(folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder of this process's own, locked while it is in use and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home()))
    try:
        with open(folder / "unlocked", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            os.rename(folder / "unlocked", folder / "lock")  # a sweep never sees it without its lock
            (folder / "work").mkdir()
            yield folder / "work"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write a crate's files under `folder`. SandboxError for a path that is not plainly inside it."""
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
            raise SandboxError(f"crate file {name!r}: a relative path inside the crate is expected")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8", errors="surrogatepass"))
