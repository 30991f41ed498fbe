"""A content-addressed store for verdicts, in append-only segments.

Many small values, many readers, and one writer a file: each open store appends to a segment of its own and reads all
others. So there is no lock, it works on a network file system, and a process killed in the middle of a write leaves a
torn tail that readers skip. Every record carries a checksum over key and value, checked when it is read: damage is a
miss, never a wrong value. Values are zlib-compressed.
"""

import hashlib
import os
import secrets
import struct
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tiebreak.errors import DataError

MAGIC = b"TBv1"
HEAD = struct.Struct("<4s32s16sI")  # magic, key (SHA-256), checksum, length of the value
SUFFIX = ".segment"
SEGMENT_BYTES = 64 << 20
LONGEST = 64 << 20


def key_of(*parts: bytes) -> bytes:
    """The 32-byte key of a list of parts; their lengths are part of it, so that no two lists collide."""
    state = hashlib.sha256()
    for part in parts:
        state.update(struct.pack("<Q", len(part)))
        state.update(part)
    return state.digest()


def _checksum(key: bytes, packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=16, key=key).digest()


class Cache:
    """The store in `folder` (made if it is missing). Safe for threads; each process opens its own."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise DataError(
                f"{folder}: the verdict cache cannot be made ({problem}); name a writable folder"
            ) from problem
        self._folder = folder
        self._lock = threading.Lock()
        self._places: dict[bytes, tuple[str, int, int]] = {}  # key -> segment, offset of the record, length
        self._read: dict[str, int] = {}  # segment -> how far it was read
        self._own: Path | None = None

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, None for a miss; what other processes wrote since the last call is seen."""
        with self._lock:
            if any(key not in self._places for key in keys):
                self._refresh()
            return [self._get(key) for key in keys]

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Append key -> value pairs in one write. A full disk is no error: the values are then simply not kept."""
        if not items:
            return
        with self._lock:
            records = [self._record(key, value) for key, value in items.items()]
            try:
                self._append(b"".join(records))
            except OSError:
                self._own = None  # whatever was half written is skipped by readers; go on in a new segment

    def _record(self, key: bytes, value: bytes) -> bytes:
        packed = zlib.compress(value, 6)
        return HEAD.pack(MAGIC, key, _checksum(key, packed), len(packed)) + packed

    def _append(self, data: bytes) -> None:
        if self._own is None or self._own.stat().st_size > SEGMENT_BYTES:
            self._own = self._folder / f"{os.getpid()}-{secrets.token_hex(8)}{SUFFIX}"
        with open(self._own, "ab", buffering=0) as file:
            file.write(data)

    def _get(self, key: bytes) -> bytes | None:
        place = self._places.get(key)
        if place is None:
            return None
        segment, offset, length = place
        try:
            with open(self._folder / segment, "rb", buffering=0) as file:
                record = os.pread(file.fileno(), HEAD.size + length, offset)
            _, found, checksum, _ = HEAD.unpack_from(record)
            packed = record[HEAD.size :]
            if found == key and checksum == _checksum(key, packed):
                return zlib.decompress(packed)
        except (OSError, struct.error, zlib.error):
            pass
        del self._places[key]
        return None

    def _refresh(self) -> None:
        """Read the heads of the records that were appended since the last time, in all segments."""
        for entry in os.scandir(self._folder):
            if entry.name.endswith(SUFFIX):
                size = entry.stat().st_size
                if size > self._read.get(entry.name, 0):
                    self._scan(entry.name, size)

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
