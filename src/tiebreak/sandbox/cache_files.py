"""The files behind the verdict cache: what a record is, who writes a segment, and which segments go when room is short.

A segment is appended to by one store, which holds a lock (flock) on it as long as it is open: so a pruner knows what is
being written. Nothing that is read depends on the lock. Where a file system has none, a segment that was written in the
last day counts as being written; should one be removed all the same, its writer goes on in a new one.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import struct
import time
import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"TBv1"
HEAD = struct.Struct("<4s32s16sI")  # magic, key (SHA-256), checksum, length of the value
SUFFIX = ".segment"
LONGEST = 64 << 20
UNSURE_SECONDS = 86_400.0
_NAME = re.compile(r"\d+-[0-9a-f]{16}\.segment")  # process id and chance; other files in the folder are not ours


@dataclass(frozen=True)
class Found:
    """A segment as it was found. changed: when it was last written, in seconds since 1970."""

    path: Path
    size: int
    changed: float


@dataclass(frozen=True)
class Pruned:
    """What pruning did. busy: segments that were passed over because they are being written; left: bytes."""

    segments: int
    bytes: int
    busy: int
    left: int


@dataclass(frozen=True)
class Inspection:
    """What a cache holds. damaged: records that fail their checksum or end too early; oldest, newest: see `Found`."""

    segments: int
    being_written: int
    bytes: int
    records: int
    keys: int
    damaged: int
    oldest: float | None
    newest: float | None


def checksum(key: bytes, packed: bytes) -> bytes:
    """The 16 bytes that a record carries over its key and its compressed value."""
    return hashlib.blake2b(packed, digest_size=16, key=key).digest()


def record(key: bytes, value: bytes) -> bytes:
    """A value as it stands in a segment."""
    packed = zlib.compress(value, 6)
    return HEAD.pack(MAGIC, key, checksum(key, packed), len(packed)) + packed


class Segment:
    """A new segment in `folder`, for one process to append to; locked until it is closed or forgotten."""

    def __init__(self, folder: Path) -> None:
        name = f"{os.getpid()}-{secrets.token_hex(8)}"
        self.path = folder / f"{name}{SUFFIX}"
        self.owner = os.getpid()
        self.size = 0
        draft = folder / f"{name}.new"
        lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self.close = weakref.finalize(self, os.close, lock)
        with contextlib.suppress(OSError):  # no locks here: `being_written` goes by the clock then
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(draft, self.path)  # a pruner never sees it without its lock

    def append(self, data: bytes) -> None:
        """Write at the end. FileNotFoundError if the segment was removed, any OSError if not all could be written."""
        # opened for each write: on a network file system closing it is what shows the data to the others
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            written = os.write(descriptor, data)
        finally:
            os.close(descriptor)
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self.size += written


def segments(folder: Path) -> list[Found]:
    """The segments in `folder`, the one that was written longest ago first. OSError if the folder cannot be read."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # it vanished meanwhile
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append(Found(Path(entry.path), status.st_size, status.st_mtime))
    return sorted(found, key=lambda segment: (segment.changed, segment.path.name))


def being_written(segment: Found) -> bool:
    """Whether a store has this segment open to append to it."""
    try:
        with open(segment.path, "rb", buffering=0) as file:
            fcntl.flock(
                file, fcntl.LOCK_SH | fcntl.LOCK_NB
            )  # shared, so that pruners do not take each other for writers
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    except OSError:
        return time.time() - segment.changed < UNSURE_SECONDS
    return False


def prune(folder: Path, most_bytes: int) -> Pruned:
    """Remove whole segments, the oldest first and none that is being written, until the rest has at most `most_bytes`.

    Safe beside writers, readers and other pruners. OSError if the folder cannot be read or a segment not be removed.
    """
    found = segments(folder)
    left = sum(segment.size for segment in found)
    removed = freed = busy = 0
    for segment in found:
        if left <= most_bytes:
            break
        if being_written(segment):
            busy += 1
            continue
        left -= segment.size
        with contextlib.suppress(FileNotFoundError):  # another pruner was first
            segment.path.unlink()
            removed, freed = removed + 1, freed + segment.size
    return Pruned(removed, freed, busy, left)


def inspect(folder: Path, progress: Callable[[int], object] | None = None) -> Inspection:
    """Read every record of every segment and check it. OSError if the folder cannot be read.

    progress: called with the number of bytes that were just read. An unfinished last record of a segment that is being
    written is no damage.
    """
    found = segments(folder)
    keys: set[bytes] = set()
    records = damaged = busy = 0
    for segment in found:
        live = being_written(segment)
        whole, broken, torn = check(_read(segment))
        keys.update(whole)
        records, busy = records + len(whole), busy + live
        damaged += broken - (live and torn)
        if progress is not None:
            progress(segment.size)
    times = [segment.changed for segment in found]
    size = sum(segment.size for segment in found)
    return Inspection(
        len(found), busy, size, records, len(keys), damaged, min(times, default=None), max(times, default=None)
    )


def _read(segment: Found) -> bytes:
    with contextlib.suppress(FileNotFoundError), open(segment.path, "rb") as file:
        return file.read(segment.size)
    return b""  # it vanished meanwhile


def check(data: bytes) -> tuple[list[bytes], int, bool]:
    """(keys of the whole records, number of damaged ones, whether the last is one of these) of a segment's bytes."""
    keys: list[bytes] = []
    position, damaged, lost = 0, 0, False
    while position < len(data):
        found = _whole(data, position)
        if found is not None:
            keys.append(found[0])
            position, lost = found[1], False
            continue
        damaged += not lost or data.startswith(MAGIC, position)
        following = data.find(MAGIC, position + 1)
        position, lost = len(data) if following < 0 else following, True
    return keys, damaged, lost


def _whole(data: bytes, position: int) -> tuple[bytes, int] | None:
    """(key, end) of the record at `position` if there is one and its checksum is right."""
    start = position + HEAD.size
    if start > len(data):
        return None
    magic, key, found, length = HEAD.unpack_from(data, position)
    packed = data[start : start + length]
    right = magic == MAGIC and len(packed) == length and found == checksum(key, packed)
    return (key, start + length) if right else None
