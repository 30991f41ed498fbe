"""The schemas of all shared tables, and the one way to write and read them.

A schema names the columns that order its rows (metadata `sort`); with fixed options the same rows give the same bytes.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.errors import DataError

TEXT, FLAG, COUNT, SEED, REAL = pa.string(), pa.bool_(), pa.int32(), pa.int64(), pa.float64()


def schema(columns: Mapping[str, pa.DataType], sort: Sequence[str], optional: Sequence[str] = ()) -> pa.Schema:
    """A schema of columns that are never null unless `optional`, with the columns that order its rows."""
    fields = [pa.field(name, kind, nullable=name in optional) for name, kind in columns.items()]
    return pa.schema(fields, metadata={"sort": ",".join(sort)})


TURN = pa.struct({"role": TEXT, "content": TEXT, "tokens": COUNT, "sampling_seed": SEED})
TRACE_TURN = pa.struct({"role": TEXT, "content": TEXT, "loss": FLAG})


def rollouts(facts: pa.StructType) -> pa.Schema:
    """One sampled episode a row; `facts` is the domain's own.

    training_seed is null for `sft`; graded and facts may be where stop is error. A turn's tokens are a count;
    sampling_seed is set on the turns that the model wrote. rewards holds the reward under each of the job's shapes.
    """
    columns = {
        "case_id": TEXT,
        "family": TEXT,
        "difficulty": TEXT,
        "template": TEXT,
        "arm": TEXT,
        "training_seed": COUNT,
        "repetition": COUNT,
        "sample": COUNT,
        "root_seed": SEED,
        "turns": pa.list_(TURN),
        "stop": TEXT,
        "valid": FLAG,
        "success": FLAG,
        "graded": FLAG,
        "facts": facts,
        "rewards": pa.map_(TEXT, REAL),
        "new_tokens": COUNT,
        "truncated": FLAG,
    }
    return schema(columns, ("case_id", "sample"), optional=("training_seed", "graded", "facts"))


TIMINGS = schema(
    {
        "case_id": TEXT,
        "sample": COUNT,
        "block": COUNT,
        "seconds": REAL,
        "attempts": COUNT,
        "asked": COUNT,
        "cache_hits": COUNT,
        "host": TEXT,
    },
    ("case_id", "sample"),
)
"""What depends on the machine or the moment; seconds are wall time of the rollout's share of its block."""

SFT = schema(
    {"case_id": TEXT, "family": TEXT, "template": TEXT, "difficulty": TEXT, "turns": pa.list_(TRACE_TURN)}, ("case_id",)
)
"""One trace a row; loss says which turns the model is to learn to write."""

BANDS = schema(
    {
        "case_id": TEXT,
        "family": TEXT,
        "template": TEXT,
        "difficulty": TEXT,
        "graded": COUNT,
        "samples": COUNT,
        "band": TEXT,
    },
    ("case_id",),
)
"""What the SFT model made of each prompt of the pool; samples that ended in an infrastructure error are not counted."""

PROMPTS = schema({"case_id": TEXT, "family": TEXT, "template": TEXT, "difficulty": TEXT, "prompt": TEXT}, ("case_id",))
"""The bytes that RL and evaluation show, opening of the assistant's turn included."""


def to_table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table, in the schema's order. Raises DataError naming the row of a missing, unknown or wrong column."""
    listed = list(rows)
    for number, row in enumerate(listed):
        missing, unknown = set(schema.names) - set(row), set(row) - set(schema.names)
        if missing or unknown:
            raise DataError(f"row {number}: missing {sorted(missing)}, unknown {sorted(unknown)}; want {schema.names}")
    columns = [column(listed, field) for field in schema]
    return ordered(pa.Table.from_arrays(columns, schema=schema))


def column(rows: Sequence[Mapping[str, Any]], field: pa.Field) -> pa.Array:
    """One column of the rows. Raises DataError naming the first row that does not fit."""
    values = [row[field.name] for row in rows]
    if not field.nullable and None in values:
        raise DataError(f"row {values.index(None)}: {field.name} is null; a value ({field.type}) is expected")
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, OverflowError):
        number = next(index for index, value in enumerate(values) if not fits(value, field.type))
        raise DataError(f"row {number}: {field.name} is {values[number]!r}; {field.type} is expected") from None


def fits(value: Any, kind: pa.DataType) -> bool:
    """Whether a value can be held by a type."""
    try:
        pa.array([value], kind)
    except (pa.ArrowException, TypeError, OverflowError):
        return False
    return True


def ordered(table: pa.Table) -> pa.Table:
    """The table sorted by its schema's `sort` columns."""
    names = (table.schema.metadata or {}).get(b"sort", b"").decode()
    return table.sort_by([(name, "ascending") for name in names.split(",")]) if names else table


def write_table(path: Path, rows: Iterable[Mapping[str, Any]] | pa.Table, schema: pa.Schema) -> None:
    """Write rows as Parquet: sorted, zstd, whole or not at all. Raises DataError, naming the file, for a bad row."""
    try:
        table = ordered(rows.cast(schema)) if isinstance(rows, pa.Table) else to_table(rows, schema)
    except (DataError, pa.ArrowException, ValueError) as error:
        raise DataError(f"{path}: {error}") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(table, unfinished, compression="zstd", version="2.6", row_group_size=1 << 14)
    os.replace(unfinished, path)


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A table, or some of its columns. Raises DataError for a file that is missing, damaged or lacks a column."""
    try:
        found = pq.read_schema(path)
        lacking = sorted(set(columns or ()) - set(found.names))
        if lacking:
            raise DataError(f"{path}: has no column {', '.join(lacking)}; it has {', '.join(found.names)}")
        return pq.read_table(path, columns=list(columns) if columns else None)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error}); remake it with its rule") from None
