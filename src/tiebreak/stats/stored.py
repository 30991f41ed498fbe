"""Stored evaluations in any layout: our rollouts (Parquet or JSONL), or the published JSON (see `published_rows`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tiebreak.digest import file_digest
from tiebreak.errors import DataError
from tiebreak.stats.counts import (
    complete,
    counted,
    named,
    read_rollouts,
    refuse_repeats,
    refuse_unequal_cases,
    refuse_unequal_k,
)
from tiebreak.stats.published_rows import Published, read_published, refuse_same_traces
from tiebreak.stats.rollout_lines import read_lines

LINES = (".jsonl", ".jsonl.zst")


@dataclass(frozen=True)
class Evaluation:
    """One evaluation as counts: `table` has a row a (run, repetition, case) with n, errors and the `outcomes`.

    k: rollouts of a case in a repetition, infrastructure errors included. retained: whether the rollouts behind the
    counts are kept. What tells one evaluation under two names: `samples`, of our layout, has run, case, repetition,
    sample and seed of each rollout; `files` are those of the published one.
    """

    name: str
    layout: str
    table: pd.DataFrame
    outcomes: tuple[str, ...]
    k: int
    retained: bool
    samples: pd.DataFrame | None = field(default=None, repr=False)
    files: tuple[Published, ...] = field(default=(), repr=False)

    @property
    def has_templates(self) -> bool:
        """Whether the table holds the recorded templates."""
        return "template" in self.table

    @property
    def repetitions(self) -> int:
        """How many (run, repetition) there are."""
        return len(self.table[["run", "repetition"]].drop_duplicates())


def load(text: str) -> Evaluation:
    """The evaluation at a path: a file, a folder of repetitions, or files joined by commas (repetitions of one arm).

    Raises DataError, naming the place, for what cannot be read and for what must not be pooled: files of both layouts,
    several arms, repetitions with unequal cases, unequal k or equal seeds, and all that the readers refuse.
    """
    paths = places(text)
    layouts = {path.suffix == ".json" for path in paths}
    if len(layouts) > 1:
        raise DataError(f"{text}: files of both layouts (.json and rollouts); an evaluation has one")
    found = published(text, paths) if layouts == {True} else ours(text, paths)
    if found.table.empty:
        raise DataError(f"{text}: no rollouts; a stopped run has nothing to compare")
    refuse_unequal_cases(found.table)
    refuse_unequal_k(found.table)
    return found


def places(text: str) -> list[Path]:
    """The files that a path stands for, sorted within a folder."""
    path = Path(text)
    if path.is_dir():
        searches = (path.rglob("rollouts.parquet"), path.glob("*.parquet"), path.glob("*.jsonl*"), path.glob("*.json"))
        files = next((files for files in map(sorted, searches) if files), [])
        if not files:
            raise DataError(f"{text}: a folder without rollouts.parquet, JSONL or JSON; name a stored evaluation")
        return files
    if path.exists() or "," not in text:
        return [path]
    found = [place for part in text.split(",") for place in places(part)]
    refuse_twins(text, found)
    return found


def refuse_twins(text: str, paths: Sequence[Path]) -> None:
    """Raises DataError where two of the files hold the same bytes: no repetition is the copy of another."""
    seen: dict[str, Path] = {}
    for path in paths:
        twin = seen.setdefault(file_digest(path), path) if path.is_file() else path
        if twin is not path:
            raise DataError(f"{text}: {path} holds the same bytes as {twin}; a repetition has rollouts of its own")


def ours(text: str, paths: Sequence[Path]) -> Evaluation:
    """Rollouts of our layout; raises DataError for several arms, and as `counts` does."""
    frames = [frame for frame in map(read_ours, paths) if len(frame)]
    table = counted(frames)
    arms = sorted(set(table["arm"]))
    if len(arms) > 1:
        raise DataError(f"{text}: rollouts of the arms {' and '.join(arms)}; name the files of one arm")
    samples = pd.concat([named(frame) for frame in frames], ignore_index=True) if frames else None
    k = int((table["n"] + table["errors"]).max()) if len(table) else 0
    return Evaluation(text, "rollouts", table, ("graded", "valid", "success"), k, True, samples)


def read_ours(path: Path) -> pd.DataFrame:
    """The rollouts of a Parquet or JSONL file."""
    if path.suffix == ".parquet":
        return read_rollouts(path, None)
    if path.name.endswith(LINES):
        return complete(read_lines(path), path)
    raise DataError(f"{path}: no layout that is known; .parquet, {', '.join(LINES)} or .json is expected")


def published(text: str, paths: Sequence[Path]) -> Evaluation:
    """Files of the published layout, each a repetition of one adapter."""
    files = tuple(read_published(path) for path in paths)
    refuse_same_traces(files)
    parts = [part.table.assign(run=text, repetition=number) for number, part in enumerate(files)]
    outcomes = ("valid", "success") if all("success" in part for part in parts) else ("valid",)
    retained = all(part.retained for part in files)
    return Evaluation(
        text, "published", pd.concat(parts, ignore_index=True), outcomes, files[0].k, retained, files=files
    )


def refuse_one_under_two_names(a: Evaluation, b: Evaluation) -> None:
    """Raises DataError where b holds rollouts of a: a sample twice, a repetition of equal seeds, the same transcripts.

    Two runs share their seeds on purpose, and are no such thing.
    """
    if a.samples is not None and b.samples is not None:
        refuse_repeats(pd.concat([a.samples, b.samples], ignore_index=True))
    refuse_same_traces([*a.files, *b.files])


def refuse_unlike(a: Evaluation, b: Evaluation) -> None:
    """Raises DataError where two evaluations are not of the same cases, each sampled k times."""
    both = pd.concat([part.table.assign(run=part.name) for part in (a, b)], ignore_index=True)
    refuse_unequal_cases(both)
    refuse_unequal_k(both)
