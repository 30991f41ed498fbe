"""A job, run again from its record alone: the same script, parameters and inputs, its outputs in a place of their own.

It runs in this process, in a folder that holds the study's results under the paths that records name them by.
"""

import io
import os
import re
import runpy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path, PurePosixPath
from typing import Any

from tiebreak.chain import job_of
from tiebreak.errors import DataError
from tiebreak.publish.opened import plain_name
from tiebreak.publish.records import Record
from tiebreak.study import NAME

ROOT = Path(__file__).parents[3]
MADE = "made"
BORROWED = ("src", "resources")
"""Folders of the repository that jobs read from."""
MOST_THREADS = 1024


class Named:
    """What a script is given for parameters or wildcards: by name, as an attribute, in order."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, key: str | int) -> Any:
        return self._values[key] if isinstance(key, str) else list(self)[key]

    def __iter__(self) -> Iterator[Any]:
        for value in self._values.values():
            yield from value if isinstance(value, list) else [value]

    def keys(self) -> list[str]:
        """The names."""
        return list(self._values)

    def items(self) -> list[tuple[str, Any]]:
        """Names and values."""
        return list(self._values.items())

    def get(self, name: str, default: Any = None) -> Any:
        """A value by its name."""
        return self._values.get(name, default)


class Files(Named):
    """The same for inputs and outputs; a name without a file is an empty list, which leaves no trace in a record."""

    def __getattr__(self, name: str) -> Any:
        return [] if not name.startswith("_") and name not in self._values else super().__getattr__(name)


class Task:
    """The object `snakemake` of a script, as a record tells it. Outputs go under `made`."""

    def __init__(self, record: Record) -> None:
        self.recorded = record
        self.rule = record["rule"]
        self.params, self.wildcards = Named(record["params"]), Named(record["wildcards"])
        self.input = Files(grouped(record["inputs"], ""))
        self.output = Files(grouped(record["outputs"], MADE))
        self.log = [f"{MADE}/{plain_name(job_of(record))}.log"]
        self.threads = int(record["environment"]["OMP_NUM_THREADS"] or 1)
        check_bounds(self)


def check_bounds(task: Task) -> None:
    """Refuse a job that would work outside of a study's folder, or with threads without end. Raises DataError."""
    study, threads = task.params.get("study"), task.params.get("threads", task.threads)
    if not isinstance(study, str) or re.fullmatch(NAME, study) is None:
        raise DataError(f"a record names the study {study!r}, which is no study's name; fetch the release again")
    if not 1 <= int(threads) <= MOST_THREADS:
        raise DataError(f"a record asks for {threads} threads; at most {MOST_THREADS} are given")


def grouped(items: list[dict[str, str]], under: str) -> dict[str, Any]:
    """Paths by name; `name.0`, `name.1`, … are one list. Raises DataError for a path that leads elsewhere."""
    found: dict[str, Any] = {}
    for item in items:
        name, _, number = item["name"].partition(".")
        path = safe(item["path"])
        path = f"{under}/{path}" if under else path
        if number:
            found.setdefault(name, []).append(path)
        else:
            found[name] = path
    return found


def safe(path: str) -> str:
    """The path of a record if it stays inside the folder that jobs run in. Raises DataError if not."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise DataError(
            f"a record names {path!r}, which leads out of the study; a release's records name its own files"
        )
    return path


def borrow(place: Path) -> None:
    """Let the folder `place` hold what jobs read from the repository."""
    for name in BORROWED:
        (place / name).symlink_to(ROOT / name)


def replay(record: Record, place: Path) -> list[Path]:
    """Run the job of `record` again in `place`; returns its outputs, under `place`/made, in the record's order.

    Raises DataError with the job's own words where it fails.
    """
    script = ROOT / "scripts" / f"{record['rule']}.py"
    if not script.is_file():
        raise DataError(f"record of job {job_of(record)}: there is no rule {record['rule']} in this version")
    task, said = Task(record), io.StringIO()
    outputs = [place / MADE / safe(item["path"]) for item in record["outputs"]]
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
    with inside(place), redirect_stdout(said), redirect_stderr(said):
        try:
            runpy.run_path(str(script), init_globals={"snakemake": task})
        except SystemExit as stopped:
            words = said.getvalue().strip().splitlines()
            raise DataError(f"job {job_of(record)} cannot be run again: {words[-1] if words else stopped}") from None
    return outputs


@contextmanager
def inside(place: Path) -> Iterator[None]:
    """Work in a folder, with the variables of the process as they were when it is over."""
    before, variables = Path.cwd(), dict(os.environ)
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(variables)
