"""Many small files as one: a zip whose bytes depend on its members' names and bytes alone."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from tiebreak.errors import DataError

MOMENT = (1980, 1, 1, 0, 0, 0)
UNIX, PLAIN_FILE = 3, 0o100644 << 16
MOST_BYTES = 64 << 30
CHUNK = 1 << 20
LOCAL, CENTRAL, END = 30, 46, 22
"""The bytes of a zip's headers without names: of a member, in the directory, at the end (PKWARE's APPNOTE, 4.3)."""
ZIP64 = 1 << 30
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError, LookupError)
"""What zipfile raises for a damaged, encrypted or unknown kind of archive."""


def write_pack(pack: Path, root: Path, members: Iterable[str]) -> None:
    """Write the files of these names under `root` into `pack`, in the order of their names.

    Parquet is stored as it is, all else deflated (zlib's level 6; another zlib may deflate to other bytes).
    """
    pack.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(pack, "w") as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, MOMENT)
            info.create_system, info.external_attr = UNIX, PLAIN_FILE
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            info.file_size = (root / name).stat().st_size
            with (root / name).open("rb") as source, archive.open(info, "w") as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)


def unpack(pack: Path, root: Path) -> list[str]:
    """Write the members of `pack` under `root`; returns their names. Raises DataError, naming the pack, for a damaged
    one, for a name that leads elsewhere or stands there twice, and for a file that is there already."""
    try:
        with zipfile.ZipFile(pack) as archive:
            infos = archive.infolist()
            check(pack, infos)
            check_nothing_else(pack, infos)
            for info in infos:
                write_member(archive, info, root / info.filename)
                check_end(pack, info)
    except BROKEN as error:
        raise DataError(f"{pack}: cannot be unpacked ({error}); fetch the release again") from None
    return [info.filename for info in infos]


def check(pack: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Refuse what no pack of ours holds."""
    seen: set[str] = set()
    for info in infos:
        parts = PurePosixPath(info.filename)
        if parts.is_absolute() or ".." in parts.parts or info.is_dir() or "\\" in info.filename:
            raise DataError(f"{pack}: member {info.filename!r} leads out of the pack or is no file; it is no release's")
        if info.filename in seen:
            raise DataError(f"{pack}: member {info.filename} stands there twice; a pack holds a name once")
        seen.add(info.filename)
    if (total := sum(info.file_size for info in infos)) > MOST_BYTES:
        raise DataError(f"{pack}: would unpack to {total} bytes, at most {MOST_BYTES} are expected")


def check_nothing_else(pack: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Refuse bytes that belong to no member, in comments, extra fields or gaps: nothing would ever compare them."""
    if [info.filename for info in infos] != sorted(info.filename for info in infos):
        raise DataError(f"{pack}: its members do not stand in the order of their names; it is no release's")
    if max((info.file_size for info in infos), default=0) < ZIP64:  # else headers hold sizes of 64 bits and are longer
        headers = sum(LOCAL + CENTRAL + 2 * len(info.filename.encode()) for info in infos)
        expected = headers + sum(info.compress_size for info in infos) + END
        if (found := pack.stat().st_size) != expected:
            raise DataError(f"{pack}: has {found} bytes, its members come to {expected}; it is no release's")
    if odd := [info for info in infos if (info.date_time, info.external_attr) != (MOMENT, PLAIN_FILE)]:
        raise DataError(f"{pack}: member {odd[0].filename} has a time or rights of its own; it is no release's")


def check_end(pack: Path, info: zipfile.ZipInfo) -> None:
    """Refuse bytes behind the end of a member's deflated stream, which unpacking passes over."""
    if info.compress_type != zipfile.ZIP_DEFLATED:
        return
    reader, left = zlib.decompressobj(-zlib.MAX_WBITS), info.compress_size
    with pack.open("rb") as file:
        file.seek(info.header_offset)
        file.seek(sum(struct.unpack("<HH", file.read(LOCAL)[-4:])), os.SEEK_CUR)  # its name and extra field
        while left and not reader.eof:
            chunk = file.read(min(CHUNK, left))
            reader.decompress(chunk)
            left -= len(chunk)
    if left or reader.unused_data:
        raise DataError(f"{pack}: member {info.filename} holds bytes behind its end; it is no release's")


def write_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    """Write one member, which must not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, path.open("xb") as target:
        while chunk := source.read(CHUNK):
            target.write(chunk)
