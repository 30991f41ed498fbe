"""A content-addressed store for verdicts, in append-only segments.

Many small values, many readers, and one writer a file: each open store appends to a segment of its own and reads all
others. So no lock guards what is read, it works on a network file system, and a process killed in the middle of a write
leaves a torn tail that readers skip. Every record carries a checksum over key and value, checked when it is read:
damage is a miss, never a wrong value, and so is a segment that was pruned. Values are zlib-compressed.

A store that begins a segment first removes the oldest of those that nobody writes (`cache_files.prune`), so that all
together stay under `most_bytes`; several writers at once may be over it by a segment each.
"""

import contextlib
import hashlib
import os
import struct
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tiebreak.errors import DataError
from tiebreak.sandbox.cache_files import HEAD, LONGEST, MAGIC, SUFFIX, Segment, checksum, prune, record, segments

__all__ = ["MOST_BYTES", "SUFFIX", "Cache", "key_of"]

MOST_BYTES = 512 << 20  # some two million verdicts; every reader keeps 200 bytes of each in memory
SEGMENT_BYTES = 64 << 20
SEGMENTS = 8  # a small store has at least as many, so that not all of it goes at once


def key_of(*parts: bytes) -> bytes:
    """The 32-byte key of a list of parts; their lengths are part of it, so that no two lists collide."""
    state = hashlib.sha256()
    for part in parts:
        state.update(struct.pack("<Q", len(part)))
        state.update(part)
    return state.digest()


class Cache:
    """The store in `folder` (made if it is missing). Safe for threads; each process opens its own.

    most_bytes: what all segments together may take, enforced whenever this store begins one.
    """

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise DataError(
                f"{folder}: the verdict cache cannot be made ({problem.strerror}); name a writable folder"
            ) from problem
        self._folder = folder
        self._segment_bytes = min(SEGMENT_BYTES, most_bytes // SEGMENTS)
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._places: dict[bytes, tuple[str, int, int]] = {}  # key -> segment, offset of the record, length
        self._read: dict[str, int] = {}  # segment -> how far it was read
        self._own: Segment | None = None

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, None for a miss; what other processes wrote since the last call is seen."""
        with self._lock:
            found = {key: self._get(key) for key in keys}
            if missing := [key for key, value in found.items() if value is None]:
                self._refresh()
                found |= {key: self._get(key) for key in missing}
            return [found[key] for key in keys]

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Append key -> value pairs in one write. A full disk is no error: the values are then simply not kept."""
        if not items:
            return
        data = b"".join(record(key, value) for key, value in items.items())
        with self._lock:
            try:
                self._append(data)
            except OSError:
                self._leave()  # whatever was half written is skipped by readers; go on in a new segment

    def _append(self, data: bytes) -> None:
        own = self._own
        if own is None or own.size + len(data) > self._segment_bytes or own.owner != os.getpid():  # a forked child
            own = self._begin(len(data))
        try:
            own.append(data)
        except FileNotFoundError:  # somebody removed it, or the whole folder
            self._begin(len(data)).append(data)

    def _begin(self, coming: int) -> Segment:
        self._leave()
        self._folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            prune(self._folder, self._most_bytes - max(self._segment_bytes, coming))
        self._own = Segment(self._folder)
        return self._own

    def _leave(self) -> None:
        if self._own is not None:
            self._own.close()
        self._own = None

    def _get(self, key: bytes) -> bytes | None:
        place = self._places.get(key)
        if place is None:
            return None
        segment, offset, length = place
        try:
            with open(self._folder / segment, "rb", buffering=0) as file:
                found = os.pread(file.fileno(), HEAD.size + length, offset)
            _, its_key, its_checksum, _ = HEAD.unpack_from(found)
            packed = found[HEAD.size :]
            if its_key == key and its_checksum == checksum(key, packed):
                return zlib.decompress(packed)
        except (OSError, struct.error, zlib.error):
            pass
        del self._places[key]
        return None

    def _refresh(self) -> None:
        """Read the heads of the records that were appended since the last time, in all segments; forget pruned ones."""
        try:
            found = segments(self._folder)
        except OSError:  # the whole folder was removed
            found = []
        if gone := self._read.keys() - {segment.path.name for segment in found}:
            self._places = {key: place for key, place in self._places.items() if place[0] not in gone}
            self._read = {name: end for name, end in self._read.items() if name not in gone}
        for segment in found:
            if segment.size > self._read.get(segment.path.name, 0):
                with contextlib.suppress(OSError):  # it vanished meanwhile
                    self._scan(segment.path.name, segment.size)

    def _scan(self, segment: str, size: int) -> None:
        offset = self._read.get(segment, 0)
        with open(self._folder / segment, "rb") as file:
            while offset + HEAD.size <= size:
                file.seek(offset)
                magic, key, _, length = HEAD.unpack(file.read(HEAD.size).ljust(HEAD.size, b"\0"))
                if magic != MAGIC or length > LONGEST:
                    file.seek(offset + 1)
                    found = file.read(size - offset - 1).find(MAGIC)
                    if found < 0:
                        break
                    offset += 1 + found
                    continue
                if offset + HEAD.size + length > size:
                    break  # torn, or still being written: look again next time
                self._places.setdefault(key, (segment, offset, length))
                offset += HEAD.size + length
        self._read[segment] = offset
