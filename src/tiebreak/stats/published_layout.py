"""Where the evaluations of the published glyph study lie in its dataset, and how other folders are read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tiebreak.errors import DataError
from tiebreak.stats.published_rows import Published, looks_published, read_json, read_published, refuse_same_traces

FOLDERS = {
    "sft": "SFT_HALF_A_V8",
    "sparse": "RLVR_POOL_B_V8_STEP10",
    "dense": "RLVR_VFINAL_STEP10",
    "compiler": "RLVR_VFINAL2_STEP10",
}
FILES = {
    "sft": ("passk8_heldout150", "seeds/sft_seed1", "seeds/sft_seedB"),
    "sparse": ("passk8_heldout150_run1", "passk8_heldout150_run2", "passk8_heldout150_run3"),
    "dense": ("passk8_heldout150", "seeds/step10_seedB", "seeds/step10_seedC"),
    "compiler": ("passk8_heldout150", "seeds/step10_seedB", "seeds/step10_seedC"),
}
REPETITION = re.compile(r"(?P<arm>.+?)[-_/](?:run|rep|seed)[-_]?[0-9A-Za-z]{1,2}")


@dataclass(frozen=True)
class Repetition:
    """One repetition of an arm: its file, the name of it in the table, and its counts sorted by case."""

    arm: str
    name: str
    file: Published

    @property
    def valid(self) -> pd.Series:
        """Valid rollouts by case name, sorted."""
        return self.file.table.set_index("case_id")["valid"].sort_index()


Arms = Mapping[str, Sequence[Repetition]]


@dataclass(frozen=True)
class Found:
    """The repetitions of each arm below a folder, and whether they lie at the published paths."""

    arms: Arms
    published: bool


def find(folder: Path) -> Found:
    """The repetitions of each arm below a folder.

    At the published paths (with or without their `evals` folder) where there are any; else every JSON file of the
    layout, its arm being its name without a trailing run, rep or seed. Raises DataError for a folder without
    evaluations, for unequal case sets or k, and for two files that keep the same rollouts.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; name one in the layout of the published dataset")
    placed = at_published_paths(folder)
    arms = placed or by_file_name(folder)
    files = [repetition.file for repetitions in arms.values() for repetition in repetitions]
    if not files:
        raise DataError(f"{folder}: no evaluation below it; JSON lists of rows with name, k and valid_trace_solves")
    refuse_same_traces(files)
    for file in files[1:]:
        refuse_other_cases(files[0], file)
    return Found(arms, bool(placed))


def at_published_paths(folder: Path) -> dict[str, list[Repetition]]:
    """The evaluations at the paths of the published dataset; those that are not there are left out."""
    arms: dict[str, list[Repetition]] = {}
    for arm, stems in FILES.items():
        for stem in stems:
            inside = folder / FOLDERS[arm]
            path = next((p for p in (inside / "evals" / f"{stem}.json", inside / f"{stem}.json") if p.is_file()), None)
            if path is not None:
                arms.setdefault(arm, []).append(Repetition(arm, Path(stem).name, read_published(path)))
    return arms


def by_file_name(folder: Path) -> dict[str, list[Repetition]]:
    """Every evaluation below the folder, arms and repetitions read from its path; other JSON is passed over."""
    arms: dict[str, list[Repetition]] = {}
    for path in sorted(folder.rglob("*.json")):
        if looks_published(read_json(path)):
            place = path.relative_to(folder).with_suffix("").as_posix()
            match = REPETITION.fullmatch(place)
            arm, name = (match["arm"], Path(place).name) if match else (place, Path(place).name)
            arms.setdefault(arm, []).append(Repetition(arm, name, read_published(path)))
    return arms


def refuse_other_cases(first: Published, other: Published) -> None:
    """Raises DataError where two files differ in k or in their cases."""
    if other.k != first.k:
        raise DataError(f"{other.path}: k is {other.k}, and {first.k} in {first.path}; only equal k is compared")
    odd = sorted(set(first.table["case_id"]) ^ set(other.table["case_id"]))
    if odd:
        raise DataError(f"case {odd[0]} is in only one of {first.path} and {other.path}; only equal cases are compared")


def missing(arms: Arms) -> list[str]:
    """The published evaluations that are not among the arms."""
    names = {arm: {repetition.name for repetition in repetitions} for arm, repetitions in arms.items()}
    return [
        f"{FOLDERS[arm]}/evals/{stem}.json"
        for arm, stems in FILES.items()
        for stem in stems
        if Path(stem).name not in names.get(arm, set())
    ]
