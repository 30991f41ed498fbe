"""What every check of a release works on: its parts, and its results unpacked where jobs expect them."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tiebreak import job_domain
from tiebreak.chain import job_of
from tiebreak.domains.base import Domain
from tiebreak.domains.reading import Reader
from tiebreak.paths import RESULTS, Paths, verdict_cache
from tiebreak.publish import manifest, opened
from tiebreak.publish.records import Record, made
from tiebreak.publish.release import read_study
from tiebreak.publish.replay import borrow
from tiebreak.study import Study

Progress = Callable[[str], object]


@dataclass
class Context:
    """release: the folder as published. place: where results/<study> lies as jobs know it (`paths`).

    sound: whether records, study and files agree as far as was checked; of records that do not, no job is run.
    """

    release: Path
    place: Path
    paths: Paths
    manifest: manifest.Manifest
    study: Study
    records: list[dict[str, Any]]
    sound: bool = True

    @cached_property
    def parts(self) -> dict[str, Any]:
        """The sections of the study as rules look them up."""
        return self.study.parts()

    @cached_property
    def domain(self) -> Domain:
        """The study's domain under all of its shapes, with no verdict remembered from before."""
        return self._opened()

    @cached_property
    def domains_by_calls(self) -> dict[int, Domain]:
        """The domain under each budget of calls that the study samples under (`evaluation.call_budgets`)."""
        return {calls: self._opened(most_calls=calls) for calls in self.budgets}

    @property
    def budgets(self) -> tuple[int, ...]:
        """The budgets of calls; only some domains have them."""
        return tuple(getattr(self.study.evaluation, "call_budgets", ()))

    def _opened(self, **changes: Any) -> Domain:
        name, cache = self.study.domain, verdict_cache(self.place / RESULTS)
        toolbox = {**self.parts["toolbox"], **changes}
        return job_domain.opened(name, toolbox, self.parts["arms"], workers=2, cache=cache)

    @cached_property
    def cases(self) -> dict[str, Any]:
        """The cases by their ids."""
        return {case.case_id: case for case in self.domain.load_cases(self.paths.cases)}

    @cached_property
    def reader(self) -> Reader:
        """What reads stored rollouts."""
        return self.domain.reader(list(self.cases.values()))

    def named(self, path: Path) -> str:
        """A path under `place` as reports name it."""
        return path.relative_to(self.place).as_posix()

    def job(self, name: str) -> Record | None:
        """The record of a job."""
        return next((record for record in self.records if job_of(record) == name), None)

    def outputs(self) -> Mapping[str, Record]:
        """The record behind every output that the release holds."""
        return {path: record for record in self.records for path in made(record)}


@contextmanager
def opening(release: Path) -> Iterator[Context]:
    """A release, unpacked in a temporary folder. Raises DataError for what is no release."""
    found, study = manifest.read(release), read_study(release)
    with tempfile.TemporaryDirectory(prefix="tiebreak-verify-") as name:
        place = Path(name).resolve()
        paths = Paths(study.name, place / RESULTS)
        opened.put_results(release, paths.root)
        records = opened.put_records(release, paths)
        borrow(place)
        yield Context(release, place, paths, found, study, records)
