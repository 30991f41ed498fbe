"""An append-only file of JSON rows, in independent zstd frames: what was appended whole is never lost to a crash.

A frame is one unit of work (a block of cases, a step). A torn frame at the end, from a killed process or a full disk,
is cut off at the next open, and its unit is simply done again.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard

Rows = list[dict[str, Any]]


def append_frame(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Append `rows` as one frame and wait until the disk has it."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(
            zstandard.ZstdCompressor(level=6, write_checksum=True).compress(text.encode("utf-8", "surrogatepass"))
        )
        file.flush()
        os.fsync(file.fileno())


def read_frames(path: Path) -> list[Rows]:
    """The rows of every whole frame, in order; what follows the last whole frame is cut off the file."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = list(_whole_frames(data))
    end = whole[-1][1] if whole else 0
    if end < len(data):
        with path.open("r+b") as file:
            file.truncate(end)
    return [rows for rows, _ in whole]


def _whole_frames(data: bytes) -> Iterator[tuple[Rows, int]]:
    """Each whole frame's rows and the offset behind it."""
    offset = 0
    while offset < len(data):
        reader = zstandard.ZstdDecompressor().decompressobj()
        try:
            text = reader.decompress(data[offset:])
        except zstandard.ZstdError:
            return
        if not reader.eof:
            return
        offset = len(data) - len(reader.unused_data)
        yield [json.loads(line) for line in text.decode("utf-8", "surrogatepass").split("\n") if line], offset
