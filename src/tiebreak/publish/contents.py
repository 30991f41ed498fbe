"""The text of everything in a release, also inside packs and tables, so that nothing leaves unread."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.errors import DataError
from tiebreak.publish.plan import REMAKE, files_in

Text = tuple[str, str]
"""A name (for a member of a pack: the pack, `!`, the member) and its text."""


def texts(files: Mapping[str, Path]) -> Iterator[Text]:
    """The text of files by their names, a part at a time. Raises DataError for a damaged pack or table."""
    for name, path in files.items():
        try:
            yield from texts_of(name, path)
        except (zipfile.BadZipFile, pa.ArrowException, OSError) as error:
            raise DataError(f"{path}: cannot be read ({error}); {REMAKE}") from None


def texts_of(name: str, source: Path | io.BytesIO) -> Iterator[Text]:
    """The text of one file: of a pack's members, of a table's strings, else of its bytes."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(source) as pack:
            for member in pack.namelist():
                yield from texts_of(f"{name}!{member}", io.BytesIO(pack.read(member)))
    elif name.endswith(".parquet"):
        for group in pq.ParquetFile(source).iter_batches(batch_size=1 << 12):
            yield name, "\n".join(strings(group.to_struct_array()))
    else:
        body = source.read_bytes() if isinstance(source, Path) else source.getvalue()
        yield name, body.decode("utf-8", errors="replace")


def strings(array: Any) -> Iterator[str]:
    """All strings in an array, however deep, each different one once."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield from (text for text in array.unique().to_pylist() if text)
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            yield from strings(part)
    elif pa.types.is_map(kind):
        yield from strings(array.keys)
        yield from strings(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from strings(array.flatten())


def names(folder: Path) -> set[str]:
    """The paths of all files, those in packs as if they lay beside their pack (results/report.zip: results/…)."""
    found = set()
    for name, path in files_in(folder).items():
        found.add(name)
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as pack:
                above = name.rpartition("/")[0]
                found |= {f"{above}/{member}" if above else member for member in pack.namelist()}
    return found
