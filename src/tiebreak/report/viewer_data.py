"""The rollout viewer's data: an index of all rollouts, and their conversations in chunks that load when looked at.

Each file is a script with one call, `tiebreak.take(NAME, TEXT)`, since a page opened from a disk may add scripts and
may not read files. TEXT is base64 of gzip of JSON: what a model wrote has no way to be read as script or as HTML.
"""

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tiebreak.errors import DataError
from tiebreak.paths import parse_run
from tiebreak.report.rollouts import Stored, read
from tiebreak.stats.counts import run_of

CHUNK = 256
INDEX = "index"
STOPS = ("final", "malformed", "budget", "tokens", "error")
FLAGS = ("valid", "success", "graded", "truncated")
TOLERANCE = 1e-9
Terms = Callable[[Stored], Mapping[str, Mapping[str, float]]]


@dataclass
class Index:
    """What the viewer knows of every rollout before it loads any: columns of small numbers, a table an evaluation.

    flags: bits of FLAGS in their order, then the place in STOPS. reward: the stored one under the arm's own shape, None
    where there is none. unlike: rollouts whose stored reward is not the sum of the terms, of `scored` that have one.
    """

    study: str
    cases: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)
    scored: int = 0
    unlike: int = 0
    tokens: int = 0

    @property
    def rollouts(self) -> int:
        """How many there are."""
        return sum(len(table["case"]) for table in self.tables)

    def open_table(self, run: str, arm: str, repetition: int) -> None:
        """Begin the table of an evaluation."""
        columns: dict[str, list[Any]] = {name: [] for name in ("case", "sample", "flags", "tokens", "reward")}
        self.tables.append({"run": run, "arm": arm, "rep": repetition, **columns})

    def add(self, stored: Stored, terms: Mapping[str, Mapping[str, float]]) -> None:
        """Add a rollout to the last table."""
        row, table = stored.row, self.tables[-1]
        case = row["case_id"]
        if case not in self.cases:
            self.places[case] = len(self.cases)
            self.cases[case] = [row["family"], row["difficulty"], row["template"]]
        reward = dict(row["rewards"] or ()).get(row["arm"])
        if reward is not None and row["arm"] in terms:
            self.scored += 1
            self.unlike += abs(sum(terms[row["arm"]].values()) - reward) > TOLERANCE
        self.tokens += row["new_tokens"]
        table["case"].append(self.places[case])
        table["sample"].append(row["sample"])
        table["flags"].append(flags(row))
        table["tokens"].append(row["new_tokens"])
        table["reward"].append(reward)

    def plain(self) -> dict[str, Any]:
        """The index as JSON values."""
        cases = [[case, *labels] for case, labels in self.cases.items()]
        return {"study": self.study, "chunk": CHUNK, "stops": STOPS, "cases": cases, "tables": self.tables}


def flags(row: Mapping[str, Any]) -> int:
    """A rollout's outcomes as one number."""
    marks = sum(bool(row[name]) << place for place, name in enumerate(FLAGS))
    return marks | STOPS.index(row["stop"]) << len(FLAGS)


def write_data(paths: Iterable[Path], terms: Terms, folder: Path, study: str) -> Index:
    """Write the data of these tables of rollouts into `folder` (index.js and <run>-rep<r>-<n>.js); returns the index.

    terms: the reward of a stored rollout under each shape, term by term. One table is held in memory at a time. The
    same inputs give the same bytes. Raises DataError, naming the file, for what is no table of one evaluation.
    """
    index = Index(study)
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        write_table(path, terms, folder, index)
    write_script(folder, INDEX, index.plain())
    return index


def write_table(path: Path, terms: Terms, folder: Path, index: Index) -> None:
    """Write the chunks of one table and add it to the index; an empty one (of a stopped run) has none."""
    name = None
    for number, chunk in enumerate(chunks(read(path))):
        for stored in chunk:
            if name is None:
                name = evaluation_of(stored.row, path)
                index.open_table(name[0], stored.row["arm"], name[1])
            elif evaluation_of(stored.row, path) != name:
                raise DataError(f"{path}: rollouts of {name} and {evaluation_of(stored.row, path)}; one is expected")
        assert name is not None
        write_script(folder, f"{name[0]}-rep{name[1]}-{number}", [entry(stored, terms, index) for stored in chunk])


def chunks(rollouts: Iterator[Stored]) -> Iterator[list[Stored]]:
    """The rollouts in lists of at most CHUNK."""
    while chunk := list(islice(rollouts, CHUNK)):
        yield chunk


def evaluation_of(row: Mapping[str, Any], path: Path) -> tuple[str, int]:
    """The run and repetition of a rollout."""
    run = run_of(row["arm"], row["training_seed"])
    if parse_run(run)[0] != row["arm"]:
        raise DataError(f"{path}: {run!r} is no run's name")
    return run, row["repetition"]


def entry(stored: Stored, terms: Terms, index: Index) -> dict[str, Any]:
    """One rollout of a chunk: its turns (role, text, tokens), its facts, and the terms of its rewards but zeros."""
    paid = terms(stored)
    index.add(stored, paid)
    turns = zip(stored.turns, stored.tokens, strict=True)
    return {
        "turns": [[turn["role"], turn["content"], tokens] for turn, tokens in turns],
        "facts": stored.row["facts"],
        "terms": {shape: {term: value for term, value in parts.items() if value} for shape, parts in paid.items()},
    }


def write_script(folder: Path, name: str, value: Any) -> None:
    """Write a data script."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
    (folder / f"{name}.js").write_text(f'tiebreak.take("{name}","{packed}");\n', encoding="ascii")
