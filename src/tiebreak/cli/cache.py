"""`tiebreak cache`: what the verdict cache holds, and less of it."""

import argparse
import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.errors import ConfigError, DataError
from tiebreak.paths import verdict_cache

if TYPE_CHECKING:
    from tiebreak.sandbox.cache_files import Inspection, Pruned

DESCRIPTION = """\
Show the cache of verdicts: what cargo said of every crate that was judged, addressed by content and shared by all
studies. Every record is read and its checksum compared. With --prune, make room first.
"""

DETAILS = """\
A cache is a folder of segments. Each job appends to one of its own and holds a lock (flock) on it meanwhile. Pruning
removes whole segments, the one that was written longest ago first, and never one that a job still writes; on a file
system without locks, none that was written in the last day. It may be done while studies run: a verdict that is gone is
found again by running cargo. Without it a cache stays under 512 MiB or so by itself: a job that begins a segment
removes the oldest.

A damaged record (a job was killed in the middle of a write, a disk failed) is never answered with; it is as if it
were not there.

exit status: 0; 1 if more than SIZE is left after --prune, because it is being written; 2 it could not be done.
"""

SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?) ?(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "cache",
        help="show or prune the cache of verdicts",
        description=DESCRIPTION,
        epilog=DETAILS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help=f"the cache (default: {verdict_cache()})")
    parser.add_argument(
        "--prune", metavar="SIZE", help="remove the oldest segments until at most SIZE is left, as in 500MB or 2GiB"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prune if asked to and print what there is. ConfigError for a bad size, DataError for a bad folder."""
    from tiebreak.sandbox.cache_files import prune

    most = None if arguments.prune is None else size_of(arguments.prune)
    folder = verdict_cache() if arguments.folder is None else Path(arguments.folder)
    try:
        pruned = None if most is None else prune(folder, most)
        found = look(folder)
    except FileNotFoundError as error:
        raise DataError(
            f"{folder}: there is no verdict cache; the first job of a study makes {verdict_cache()} beside its "
            "results: run this there, or name the folder"
        ) from error
    except OSError as error:
        raise DataError(f"{error.filename or folder}: {error.strerror}; name the folder of a verdict cache") from error
    if arguments.json:
        print(json.dumps(as_object(folder, found, pruned)))
    else:
        print("\n".join(render(folder, found, pruned)))
    return 1 if pruned is not None and most is not None and pruned.left > most else 0


def size_of(text: str) -> int:
    """A size in bytes: 500MB (of 1000), 2GiB (of 1024), 1.5 gb, 4096. ConfigError for anything else."""
    match = SIZE.fullmatch(text.strip())
    if match is None or not text.isascii():
        raise ConfigError(f"--prune: found {text!r}, expected a size as in 500MB, 2GiB or 0")
    amount, unit, binary = match.groups(default="")
    return int(Decimal(amount) * (1024 if binary else 1000) ** POWERS[unit.lower()])


def look(folder: Path) -> "Inspection":
    """Read the whole cache, with a progress bar on a terminal."""
    from tqdm import tqdm

    from tiebreak.sandbox.cache_files import inspect, segments

    total = sum(segment.size for segment in segments(folder))
    with tqdm(total=total, desc="reading", unit="B", unit_scale=True, mininterval=1, disable=None) as bar:
        return inspect(folder, bar.update)


def as_object(folder: Path, found: "Inspection", pruned: "Pruned | None") -> dict[str, Any]:
    """The answer as a JSON object; times are UTC."""
    times = {"oldest": _time(found.oldest), "newest": _time(found.newest)}
    answer = {"folder": str(folder), **asdict(found), **times}
    return answer if pruned is None else {**answer, "pruned": asdict(pruned)}


def render(folder: Path, found: "Inspection", pruned: "Pruned | None") -> list[str]:
    """The answer as lines for people."""
    lines = [str(folder)]
    if pruned is not None:
        lines.append(f"freed      {_bytes(pruned.bytes)} in {pruned.segments} segments")
    if pruned is not None and pruned.busy:
        lines.append(f"left alone {pruned.busy} segments that are being written")
    writing = f", {found.being_written} of them being written" if found.being_written else ""
    return [
        *lines,
        f"segments   {found.segments:,}{writing}",
        f"bytes      {_bytes(found.bytes)}",
        f"records    {found.records:,}, {found.keys:,} distinct keys",
        f"damaged    {found.damaged:,}",
        f"oldest     {_time(found.oldest) or 'none'} (when a segment was last written)",
        f"newest     {_time(found.newest) or 'none'}",
    ]


def _bytes(size: int) -> str:
    """A size for people, with the plain number where that says more."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit} ({size:,} bytes)"
    return f"{size} bytes"


def _time(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
