"""What every script shares: its log, its threads, its typed parameters, its errors and its provenance record.

A script is `with Job(snakemake) as job: …`. Snakemake removes a job's outputs before it runs and after it fails, so
whatever a restart goes on from lives in `job.work`, which no rule declares.
"""

import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar, cast

from pydantic import BaseModel

from tiebreak.archive import keep, set_aside, unfinished
from tiebreak.devices import lease
from tiebreak.digest import json_digest
from tiebreak.errors import TiebreakError
from tiebreak.paths import Paths, job_name
from tiebreak.provenance import described, path_digest, record, surroundings
from tiebreak.sections.base import RELEASED

Part = TypeVar("Part", bound=BaseModel)


class Tee:
    """A text stream that also goes to a log, where a progress bar leaves its last state only."""

    def __init__(self, stream: TextIO, log: TextIO) -> None:
        self.stream, self.log, self.line = stream, log, ""

    def write(self, text: str) -> int:
        """Show the text at once and log each finished line."""
        self.stream.write(text)
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            self.log.write(line.rstrip("\r").rpartition("\r")[2] + "\n")
        self.line = self.line[-4000:]
        return len(text)

    def flush(self) -> None:
        """Flush both."""
        self.stream.flush()
        self.log.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Job:
    """One running job of the workflow.

    A `training` is set aside under its digest before it is made again. Unfinished work is removed when the job has
    succeeded, so that a rerun does it again; `keeps_work` leaves it to the job that goes on with it. What a job settles
    for itself and no parameter says (an engine, a trainer, seed streams) it notes in `resolved` for its record.

    A job that is replayed from its record (`snakemake.recorded`) keeps nothing, leaves no record of its own, and
    removes nothing: its folder is the verifier's, and a record is another's word.
    """

    def __init__(self, snakemake: Any, *, training: bool = False, keeps_work: bool = False) -> None:
        self.training, self.keeps_work = training, keeps_work
        self.spent: list[Path] = []
        self.held = ExitStack()
        self.resolved: dict[str, Any] = {}
        self.programs: Callable[[], dict[str, Any]] = dict
        self.recorded: Mapping[str, Any] | None = getattr(snakemake, "recorded", None)
        self.input, self.output, self.wildcards = snakemake.input, snakemake.output, snakemake.wildcards
        self.params, self.rule = snakemake.params, str(snakemake.rule)
        self.asked = str(getattr(snakemake, "config", {}).get("study", self.params.study))
        self.threads = int(self.params.get("threads", snakemake.threads))
        self.cpus = max(self.threads, int(snakemake.threads))  # given to it: `threads` decides bits, this none
        self.gpus = int(self.params.get("gpus", 0))  # Snakemake cuts resources to its limits
        self.devices: list[str] = []
        self.name = job_name(self.rule, dict(self.wildcards.items()))
        self.paths = Paths(self.params.study)
        self.log_path = Path(str(snakemake.log[0]))

    def __enter__(self) -> Self:
        self.started = time.time()
        set_threads(self.threads)
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        self.log = open(self.log_path, "w", encoding="utf-8")
        self.streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(TextIO, Tee(stream, self.log)) for stream in self.streams)
        try:
            self.devices = self.held.enter_context(lease(self.gpus))
        except TiebreakError as error:
            self.__exit__(type(error), error, None)
        if self.training and self.recorded is None:
            for path in set_aside(self.workplace, Path(str(self.output[0])).parent):
                print(f"{self.name}: the finished training was set aside as {path}", file=sys.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.finish()
            elif isinstance(error, TiebreakError):
                print(f"{self.name}: {error}", file=sys.stderr)
                raise SystemExit(1) from None
            else:
                self.log_traceback(error)
        finally:
            self.held.close()
            sys.stdout, sys.stderr = self.streams
            self.log.close()

    def finish(self) -> None:
        """Keep a training, write the record, and remove unfinished work."""
        if self.recorded is not None:
            return
        if self.training:
            keep([Path(path) for _, path in named(self.output)], self.workplace)
        self.write_record()
        for path in self.paths.stopped(self.name):
            path.unlink(missing_ok=True)
        for folder in [*self.spent, *unfinished(self.workplace)]:
            if not (self.keeps_work and folder == self.work):
                shutil.rmtree(folder, ignore_errors=True)
        if self.workplace.exists() and not any(self.workplace.iterdir()):
            self.workplace.rmdir()

    def log_traceback(self, error: BaseException) -> None:
        """Python prints the traceback to the terminal after us; the log needs it as well."""
        self.log.write("".join(traceback.format_exception(error)))

    def part(self, name: str, model: type[Part]) -> Part:
        """The parameter `name` as the typed section that it is."""
        return model.model_validate(self.params[name], context=None if self.recorded is None else RELEASED)

    @cached_property
    def key(self) -> str:
        """A digest of all that the job depends on: parameters (code and toolchain among them) and inputs."""
        inputs = {name: path_digest(Path(str(path))) for name, path in named(self.input)}
        return json_digest([self.rule, dict(self.wildcards.items()), plain(self.params), inputs])

    @property
    def workplace(self) -> Path:
        """The folder for all that this job leaves beside its outputs, of this try and of others."""
        return self.paths.work / self.name

    @property
    def work(self) -> Path:
        """A folder for unfinished work. It is another one as soon as a parameter, the code or an input changes."""
        folder = self.workplace / self.key[:16]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def evidence(self, path: str, *, go: bool) -> Path:
        """Where a gate's decision is written: to its output, or where Snakemake leaves it when the job then fails.

        With the latter stands what it was made of, for the record of a job is left by its success alone.
        """
        if go:
            return Path(path)
        decision, made_of = self.paths.stopped(self.name)
        inputs = [described(*item) for item in named(self.input)]
        made = {"wildcards": dict(self.wildcards.items()), "params": plain(self.params), "inputs": inputs}
        write_json(made_of, {"rule": self.rule, **made}, ordered=True)
        return decision

    def write_json(self, path: str | Path, value: Any) -> None:
        """Write a JSON file, whole or not at all."""
        write_json(Path(path), value)

    def write_record(self) -> None:
        """Write the provenance of what was made."""
        found = record(
            rule=self.rule,
            wildcards=dict(self.wildcards.items()),
            params=plain(self.params),
            inputs=named(self.input),
            outputs=named(self.output),
            started=self.started,
            asked=self.asked,
            resolved=self.resolved | self.programs(),
            patches=self.paths.patches,
            devices=self.devices,
        )
        write_json(self.paths.record(self.name), found, ordered=True)

    def surroundings(self) -> dict[str, Any]:
        """The code's state, the machine and the versions, for a page that this job writes; in a replay as recorded."""
        if self.recorded is None:
            return surroundings(self.paths.patches)
        return {name: self.recorded[name] for name in ("git", "locks", "pinned", "host", "versions", "environment")}


def write_json(path: Path, value: Any, *, ordered: bool = False) -> None:
    """Write a JSON file, indented, whole or not at all. NaN is refused: JSON has none.

    ordered: the keys keep their order, where it says something (the arms of a study); else they are sorted.
    """
    text = json.dumps(value, indent=1, sort_keys=not ordered, ensure_ascii=False, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def read_lines(path: Path) -> list[Any]:
    """The JSON values of a file that has one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def set_threads(count: int) -> None:
    """Fix the number of CPU threads, whatever the machine has: another number gives other bits."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(count)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)


def named(items: Any) -> list[tuple[str, str]]:
    """The names and paths of a job's inputs or outputs; an entry of a list is `name.0`, `name.1`, …"""
    pairs: list[tuple[str, str]] = []
    for name in sorted(items.keys()):
        value = items[name]
        if isinstance(value, str):
            pairs.append((name, value))
        else:
            pairs += [(f"{name}.{number}", str(path)) for number, path in enumerate(value)]
    return pairs


def plain(params: Any) -> dict[str, Any]:
    """A job's parameters as JSON values."""
    return {name: json.loads(json.dumps(params[name])) for name in sorted(params.keys())}
