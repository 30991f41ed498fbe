"""The jobs behind a file, such as a report: back to the blueprints, by the records that the jobs left."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tiebreak.errors import DataError
from tiebreak.paths import job_name


def jobs_behind(paths: Iterable[str], records: Path) -> list[dict[str, Any]]:
    """What the report shows of the jobs behind `paths` (see `records_behind`)."""
    return [row(found) for found in records_behind(paths, records)]


def records_behind(paths: Iterable[str], records: Path) -> list[dict[str, Any]]:
    """The records of the jobs that made `paths`, of those that made their inputs, and so on, as they started.

    records: the folder of the study's records; an arm that the study no longer has is not behind anything. A path
    whose job left no record is passed over. Raises DataError for a damaged record.
    """
    makers = {output["path"]: found for found in read_records(records) for output in found["outputs"]}
    waiting, behind = list(paths), {}
    while waiting:
        found = makers.get(waiting.pop())
        if found is None or job_of(found) in behind:
            continue
        behind[job_of(found)] = found
        waiting += [item["path"] for item in found["inputs"]]
    return [found for _, found in sorted(behind.items(), key=start)]


def read_records(folder: Path) -> list[dict[str, Any]]:
    """All records of a folder. Raises DataError, naming the file, for one that is no record."""
    return [read_record(path) for path in sorted(folder.glob("*.json"))]


def read_record(path: Path) -> dict[str, Any]:
    """The record in a file. Raises DataError, naming it, where it is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        row(found)
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path}: no record of a job ({error!r}); remove the file and run its rule again") from None
    return found


def start(item: tuple[str, dict[str, Any]]) -> tuple[str, str]:
    """When a job started, then its name."""
    return item[1]["started"], item[0]


def job_of(record: Mapping[str, Any]) -> str:
    """The name of a record's job."""
    return job_name(record["rule"], record["wildcards"])


def row(record: dict[str, Any]) -> dict[str, Any]:
    """What the report shows of a record; `outputs` is {path: SHA-256}, code the digest of the reachable library."""
    return {
        "job": job_of(record),
        "rule": record["rule"],
        "started": record["started"],
        "threads": record["environment"]["OMP_NUM_THREADS"],
        "seconds": record["seconds"],
        "code": record["params"]["code"],
        "commit": record["git"]["commit"],
        "dirty": record["git"]["dirty"],
        "host": record["host"]["name"],
        "outputs": {item["path"]: item["sha256"] for item in record["outputs"]},
    }
