"""The final files of a rollout, read from a folder that anybody may have put anything into.

Only the crate's sources are read: what else lies there does not reach a grade. No link inside the folder is followed,
nothing but a plain file is opened, and none of more than `LARGEST` bytes is read.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiebreak.domains.rust.blueprints import MANIFEST
from tiebreak.errors import DataError

LARGEST = 1_000_000  # bytes; the toolbox lets a file grow to 200,000 characters, which are at most 800,000 bytes
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC

IsKind = Callable[[int], bool]
KINDS: tuple[tuple[IsKind, str], ...] = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True)
class CrateFolder:
    """files: the sources that were read (path -> text). unreadable: why others, which are there, cannot be text."""

    files: Mapping[str, str]
    unreadable: tuple[str, ...] = ()


class _NoText(Exception):
    """A source that is there and is no text of ours: the doing of whoever left the folder so."""


def read_crate_folder(folder: Path, sources: Iterable[str]) -> CrateFolder:
    """The sources (paths such as src/lib.rs) of the crate in `folder`; one that is not there is left out.

    DataError if `folder` is no folder or holds no Cargo.toml, or where the system refuses to read.
    """
    files: dict[str, str] = {}
    unreadable: list[str] = []
    with _top(folder) as top:
        for path in sources:
            try:
                files[path] = _text(top, path)
            except FileNotFoundError:
                continue
            except _NoText as reason:
                unreadable.append(f"{path} cannot be read as text: {reason}")
            except OSError as problem:
                raise DataError(f"{folder / path}: cannot be read: {problem.strerror}; make it readable") from problem
    return CrateFolder(files, tuple(unreadable))


@contextmanager
def _top(folder: Path) -> Iterator[int]:
    """A descriptor of the crate's folder (which may itself be named by a link)."""
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise DataError(
            f"{folder}: {problem.strerror}; a folder with the final files of a rollout is expected"
        ) from problem
    try:
        if MANIFEST not in os.listdir(top):
            raise DataError(f"{folder} holds no {MANIFEST}; the final files of a rollout are expected")
        yield top
    finally:
        os.close(top)


def _text(top: int, path: str) -> str:
    """The text of a file one folder below the top, or right in it."""
    folder, slash, name = path.rpartition("/")
    if not slash:
        with _opened(top, name, name, stat.S_ISREG) as file:
            return _decoded(file)
    with _opened(top, folder, folder, stat.S_ISDIR) as inner, _opened(inner, name, path, stat.S_ISREG) as file:
        return _decoded(file)


@contextmanager
def _opened(at: int, name: str, path: str, wanted: IsKind) -> Iterator[int]:
    """A descriptor of `name` in the folder `at`. _NoText where that is of another kind."""
    # looked at before it is opened (which some devices answer with a deed), and again, as it may have been exchanged
    _check(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode, path, wanted)
    descriptor = os.open(name, FLAGS, dir_fd=at)
    try:
        _check(os.fstat(descriptor).st_mode, path, wanted)
        yield descriptor
    finally:
        os.close(descriptor)


def _check(mode: int, path: str, wanted: IsKind) -> None:
    if not wanted(mode):
        kind = next((name for is_kind, name in KINDS if is_kind(mode)), "a file")
        raise _NoText(f"{path} is {kind}")


def _decoded(descriptor: int) -> str:
    if (size := os.fstat(descriptor).st_size) > LARGEST:
        raise _NoText(f"it has {size:,} bytes, at most {LARGEST:,} are read")
    with open(descriptor, "rb", closefd=False) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _NoText(f"it has more than {LARGEST:,} bytes, at most so many are read")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _NoText(f"byte {problem.start} is no UTF-8") from problem
