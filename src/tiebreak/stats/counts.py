"""From stored rollouts to the counts table that every statistic reads.

One row per (run, case, repetition): run, arm, training_seed, repetition, case_id, template, family, n, graded, valid,
success, success_not_graded, errors. A rollout that ended in `stop = error` is an infrastructure failure: it counts in
`errors`, not in `n`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tiebreak.errors import DataError
from tiebreak.paths import run_name

KEYS = ["run", "case_id", "repetition"]
LABELS = ["arm", "training_seed", "template", "family"]
MEASURES = ["n", "graded", "valid", "success", "success_not_graded", "errors"]
COLUMNS = ["run", "arm", "training_seed", "repetition", "case_id", "template", "family", *MEASURES]
CORE = ["case_id", "template", "arm", "training_seed", "repetition", "sample", "stop", "valid", "success", "graded"]
SEEDS = "turns.list.element.sampling_seed"


def run_of(arm: str, training_seed: int | None) -> str:
    """The name of a run: `<arm>-seed<i>`, and the arm's own for the one model without a training seed (`sft`)."""
    return arm if training_seed is None else run_name(arm, training_seed)


def read_rollouts(path: Path, families: Mapping[str, str] | None) -> pd.DataFrame:
    """The columns of one rollouts table that statistics need, with `run`, `family` and a digest of each one's seeds."""
    try:
        file = pq.ParquetFile(path)
        names = set(file.schema_arrow.names)
        missing = [name for name in CORE if name not in names]
        if missing:
            raise DataError(f"{path}: no column {missing[0]!r}; a rollouts table has {', '.join(CORE)}")
        frame = file.read(columns=CORE + (["family"] if families is None and "family" in names else [])).to_pandas()
        frame["seeds"] = sampling_seeds(file) if "turns" in names else None
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}); name a table of rollouts") from None
    return complete(frame, path, families)


def complete(frame: pd.DataFrame, path: Path, families: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The rollouts of `frame` with their families; raises DataError where a rollout that ended lacks a value.

    Only `training_seed` may be empty, and the outcomes of a rollout that ended in an infrastructure error.
    """
    if "family" not in frame:
        frame["family"] = frame["case_id"].map(dict(families or {}))
    for column in [*CORE, "family"]:
        empty = frame[column].isna() & ((frame["stop"] != "error") | (column not in ("graded", "valid", "success")))
        if column != "training_seed" and empty.any():
            case = frame["case_id"][empty].iloc[0]
            raise DataError(f"{path}: {column} of case {case} is empty; every rollout that ended needs one")
    return frame


def sampling_seeds(file: pq.ParquetFile) -> list[int | None]:
    """The first sampling seed of each rollout, None where it has no sampled turn."""
    try:
        turns = file.read(columns=[SEEDS])["turns"].combine_chunks()
        seeds = pc.struct_field(pc.list_flatten(turns), "sampling_seed").to_pylist()
        lengths = pc.list_value_length(turns).to_pylist()
    except (pa.ArrowInvalid, KeyError, TypeError):
        return [None] * file.metadata.num_rows
    firsts: list[int | None] = []
    at = 0
    for length in lengths:
        firsts.append(next((seed for seed in seeds[at : at + (length or 0)] if seed is not None), None))
        at += length or 0
    return firsts


def counts(paths: Iterable[Path], *, families: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The counts table of these rollouts tables (empty ones, of stopped runs, add nothing), sorted by its keys.

    families: the family of each case, for tables that do not carry a `family` column.
    Raises DataError for missing columns or values, for a sample stored twice and for two repetitions of one run that
    drew from the same seeds (then they are one repetition under two names).
    """
    return counted(read_rollouts(Path(path), families) for path in paths)


def counted(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The counts table of rollouts that were read (see `counts`)."""
    filled = [named(frame) for frame in frames if len(frame)]
    if not filled:
        return pd.DataFrame(columns=COLUMNS)
    rollouts = pd.concat(filled, ignore_index=True)
    refuse_repeats(rollouts)
    return tally(rollouts)


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Rollouts with the name of their run."""
    runs = [
        run_of(arm, None if pd.isna(seed) else int(seed))
        for arm, seed in zip(frame["arm"], frame["training_seed"], strict=True)
    ]
    return frame.assign(run=runs)


def refuse_repeats(rollouts: pd.DataFrame) -> None:
    """Raises DataError for a sample that is stored twice, or for repetitions of a run that share their seeds."""
    twice = rollouts.duplicated([*KEYS, "sample"])
    if twice.any():
        row = rollouts[twice].iloc[0]
        raise DataError(f"{place(row)}: sample {row['sample']} is stored twice")
    seeded = rollouts[rollouts["seeds"].notna()]
    shared = seeded[seeded.duplicated(["run", "case_id", "seeds"], keep=False)]
    if len(shared):
        first = shared.iloc[0]
        alike = shared[(shared["run"] == first["run"]) & (shared["case_id"] == first["case_id"])]
        repetitions = sorted(set(alike["repetition"]))
        who = "repetitions" if len(repetitions) > 1 else "samples of repetition"
        raise DataError(
            f"run {first['run']}: {who} {repetitions} drew case {first['case_id']} from the same seed; "
            "each sample needs seeds of its own, evaluate it again"
        )


def tally(rollouts: pd.DataFrame) -> pd.DataFrame:
    """Rollouts summed to counts; `training_seed` of a run without one is 0."""
    ended = rollouts["stop"] != "error"
    marked = rollouts.assign(n=ended, errors=~ended, training_seed=rollouts["training_seed"].fillna(0).astype(int))
    for outcome in ("graded", "valid", "success"):
        marked[outcome] = marked[outcome].eq(True) & ended
    marked["success_not_graded"] = marked["success"] & ~marked["graded"]  # a finding, so counted rollout by rollout
    labels = dict.fromkeys(LABELS, "first")
    table = marked.groupby(KEYS, as_index=False, sort=True).agg(labels | dict.fromkeys(MEASURES, "sum"))
    return table[COLUMNS].astype(dict.fromkeys(MEASURES, int))


def check(table: pd.DataFrame) -> pd.DataFrame:
    """The same table, sorted by its keys, after refusing what no statistic may be computed from.

    Raises DataError for missing columns, NaN, negative or impossible counts, duplicate rows, and for runs or
    repetitions whose cases (a comparison would then be one of cases) or numbers of rollouts differ.
    """
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise DataError(f"the counts table has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
    if table[COLUMNS].isna().any(axis=None):
        column = next(name for name in COLUMNS if table[name].isna().any())
        raise DataError(f"the counts table has an empty {column!r}; every row needs a value")
    for measure in MEASURES:
        wrong = (table[measure] < 0) | (table[measure] != table[measure].round())
        if measure not in ("n", "errors"):
            wrong |= table[measure] > table["n"]
        if wrong.any():
            raise DataError(f"{place(table[wrong].iloc[0])}: {measure} is {table[wrong].iloc[0][measure]}; impossible")
    twice = table.duplicated(KEYS)
    if twice.any():
        raise DataError(f"{place(table[twice].iloc[0])}: two rows; a case stands once in a repetition")
    refuse_unequal_cases(table)
    refuse_unequal_k(table)
    return table[COLUMNS].sort_values(KEYS, ignore_index=True).astype(dict.fromkeys(MEASURES, int))


def place(row: pd.Series) -> str:
    """Where a row of the counts table stands, in words."""
    return f"run {row['run']}, case {row['case_id']}, repetition {row['repetition']}"


def refuse_unequal_cases(table: pd.DataFrame) -> None:
    """Raises DataError where two repetitions (of any runs) do not hold the same cases."""
    first: tuple[str, set[str]] | None = None
    for (run, repetition), part in table.groupby(["run", "repetition"], sort=True):
        name, cases = f"run {run}, repetition {repetition}", set(part["case_id"])
        if first is None:
            first = (name, cases)
        elif cases != first[1]:
            case = sorted(cases ^ first[1])[0]
            holder, other = (name, first[0]) if case in cases else (first[0], name)
            raise DataError(f"case {case} is in {holder} but not in {other}; only equal case sets are compared")


def refuse_unequal_k(table: pd.DataFrame) -> None:
    """Raises DataError where cases of a counts table were not all sampled k times, infrastructure errors included.

    A case that was sampled more often is solved more often, and no estimator of solved cases would say so.
    """
    sampled = table["n"] + table["errors"]
    other = sampled != sampled.mode().max() if len(table) else sampled.astype(bool)
    if other.any():
        usual = table[~other].iloc[0]
        odd = table[other].iloc[0]
        raise DataError(
            f"{place(odd)}: {odd['n'] + odd['errors']} rollouts, but {usual['n'] + usual['errors']} in {place(usual)}; "
            "only evaluations with the same k are compared"
        )
