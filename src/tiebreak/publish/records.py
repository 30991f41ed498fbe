"""The records of a study's jobs, and the files that they say were made on the way to its report."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.chain import job_of, records_behind
from tiebreak.errors import DataError
from tiebreak.paths import Paths, run_name
from tiebreak.provenance import path_digest
from tiebreak.publish.wanted import TOOLS

Record = Mapping[str, Any]
LINES = "records.jsonl"
TRAININGS = ("sft", "rlvr")


def behind(paths: Paths) -> Sequence[Record]:
    """The records of all jobs behind a release, in the order in which they started: behind the report, the summary of
    each arm that the analysis is of, and the counts of SFT's tokens.

    Raises DataError where the report was not made, or the record of its job is gone.
    """
    analysis = paths.record("analysis")
    if not analysis.is_file() or not paths.record("report").is_file():
        raise DataError(f"{paths.report}: no record tells how it was made; run ./dev snakemake --cores all first")
    arms = json.loads(analysis.read_text(encoding="utf-8"))["params"]["arms"]
    starts = [paths.report, *map(paths.summary, arms), paths.root / "data" / "sft_tokens.json"]
    return records_behind(map(str, starts), paths.records)


def made(record: Record) -> dict[str, str]:
    """The outputs of a job that a release holds, by path, with the digest that the record says.

    Left out are weights, which have repositories of their own, the viewer's data, made anew from the rollouts, the
    shards of an evaluation, which its own tables hold, and what says that a tool is installed.
    """
    return {item["path"]: item["sha256"] for item in record["outputs"] if not is_left_out(record, item["name"])}


def is_left_out(record: Record, name: str) -> bool:
    """Whether an output is no part of a release."""
    made_beside = record["rule"] in ("shard", *TOOLS) or (record["rule"] == "report" and name == "rollouts")
    return name == "model" or made_beside


def files_of(path: Path) -> list[Path]:
    """An output as files: itself, or what its folder holds but hidden files."""
    if not path.is_dir():
        return [path]
    return sorted(item for item in path.rglob("*") if item.is_file() and not item.name.startswith("."))


def unchanged(records: Iterable[Record], root: Path = Path()) -> list[Path]:
    """All files that a release of these jobs holds, relative to `root`; a run that a gate stopped has its reason.

    Raises DataError for one that is missing or no longer what its job made.
    """
    found: list[Path] = []
    for record in records:
        for path, digest in made(record).items():
            require(root / path, digest, job_of(record))
            found += files_of(root / path)
        stopped = [Path(item["path"]) / "stopped.json" for item in record["outputs"] if item["name"] == "model"]
        found += [root / path for path in stopped if (root / path).is_file()]
    return sorted({path.relative_to(root) for path in found})


def require(path: Path, digest: str, job: str) -> None:
    """Refuse a file that is missing or is not what its job made."""
    if not path.exists():
        raise DataError(f"{path}: is missing; job {job} made it: run it again")
    if (here := path_digest(path)) != digest:
        raise DataError(f"{path}: its SHA-256 is {here[:12]}…, job {job} made {digest[:12]}…; run the job again")


def model_digests(records: Iterable[Record]) -> dict[str, str]:
    """The digest of each run's model, as its training recorded it; of a run that a gate stopped none is there."""
    found = {}
    for record in records:
        if record["rule"] in TRAININGS:
            run = (
                "sft" if record["rule"] == "sft" else run_name(record["wildcards"]["arm"], record["wildcards"]["seed"])
            )
            found[run] = next(item["sha256"] for item in record["outputs"] if item["name"] == "model")
    return dict(sorted(found.items()))


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """All records, one a line, sorted by the names of their jobs."""
    lines = [json.dumps(dict(record), ensure_ascii=False) for record in sorted(records, key=job_of)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
