"""A release as the folder of results that it was made of: open files linked, packs unpacked, records in place."""

import re
import shutil
from pathlib import Path
from typing import Any

from tiebreak.chain import job_of, row
from tiebreak.errors import DataError
from tiebreak.job import write_json
from tiebreak.paths import Paths
from tiebreak.publish.packs import unpack
from tiebreak.publish.records import LINES
from tiebreak.publish.strict import parsed

RESULTS = "results"


def put_results(release: Path, root: Path, *, copies: bool = False) -> None:
    """Put the results of `release` into the folder `root`: open files as links (or copies), packs unpacked.

    Raises DataError for a damaged pack, or for a file that stands both open and in a pack.
    """
    source = release / RESULTS
    if not source.is_dir():
        raise DataError(f"{source}: not found; a release has its results there")
    root.mkdir(parents=True, exist_ok=True)
    packs = sorted(source.glob("*.zip"))
    for pack in packs:
        unpack(pack, root)
    for path in sorted(item for item in source.rglob("*") if item.is_file() and item not in packs):
        put(path, root / path.relative_to(source), copies=copies)


def put(source: Path, target: Path, *, copies: bool) -> None:
    """One open file."""
    if target.exists():
        raise DataError(f"{source}: stands in a pack as well; a release holds a file once")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if copies:
            shutil.copyfile(source, target)
        else:
            target.symlink_to(source.resolve())
    except OSError as error:
        raise DataError(
            f"{source}: cannot be put to {target} ({error.strerror}); is it under another file, is there room?"
        ) from None


def read_records(release: Path) -> list[dict[str, Any]]:
    """The records of a release, in the order of its file. Raises DataError, naming the line, for one that is none."""
    path, found = release / LINES, []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); fetch the release again") from None
    for number, line in enumerate(lines, 1):
        try:
            found.append(parsed(line))
            row(found[-1])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise DataError(f"{path}: line {number}: no record of a job ({error!r}); fetch the release again") from None
    return found


def put_records(release: Path, paths: Paths) -> list[dict[str, Any]]:
    """Write the records of `release`, and the patches that they name, where the study's jobs keep theirs."""
    records = read_records(release)
    for record in records:
        write_json(paths.record(plain_name(job_of(record))), record, ordered=True)
    for patch in sorted((release / "patches").glob("*.patch")):
        put(patch, paths.patches / patch.name, copies=True)
    return records


def plain_name(job: str) -> str:
    """The name of a job if it can name a file. Raises DataError if not."""
    if re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", job) is None or job.startswith("."):
        raise DataError(f"{LINES}: {job!r} is no job's name; fetch the release again")
    return job
