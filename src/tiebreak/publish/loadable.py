"""Two tables of a release in a form that `datasets.load_dataset` reads.

It knows no maps, so a rollout's rewards become a list of {shape, reward}. A case is a domain's own, so only what all
domains have are columns, and `case` is the whole of it as JSON.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.audits.stored import json_lines
from tiebreak.tables import TEXT, read_table, schema, write_table

ROLLOUTS, CASES = "rollouts.parquet", "cases.parquet"
CASE = schema(
    {"case_id": TEXT, "family": TEXT, "template": TEXT, "split": TEXT, "case": TEXT}, ("case_id",), optional=("split",)
)
"""One case a row; split is null for a case that stands in none."""


def write_loadable(folder: Path, rollouts: Iterable[Path], cases: Path, splits: Path) -> None:
    """Write both tables into `folder`: rollouts of all evaluations in the order of `rollouts`, and the cases."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rollouts(folder / ROLLOUTS, rollouts)
    write_table(folder / CASES, case_rows(cases, splits), CASE)


def write_rollouts(path: Path, sources: Iterable[Path]) -> None:
    """Write the rollouts of all evaluations as one table, whole or not at all, one source in memory at a time."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    writer: pq.ParquetWriter | None = None
    try:
        for source in sources:
            table = without_maps(read_table(source))
            writer = writer or pq.ParquetWriter(unfinished, table.schema, compression="zstd", version="2.6")
            writer.write_table(table, row_group_size=1 << 14)
    finally:
        if writer is not None:
            writer.close()
    os.replace(unfinished, path)


def without_maps(table: pa.Table) -> pa.Table:
    """A table of rollouts with its rewards as a list of {shape, reward}, in the stored order."""
    place, rewards = table.schema.get_field_index("rewards"), table.column("rewards").combine_chunks()
    pairs = pa.StructArray.from_arrays([rewards.keys, rewards.items], ["shape", "reward"])
    listed = pa.ListArray.from_arrays(rewards.offsets, pairs)
    return table.set_column(place, "rewards", listed).replace_schema_metadata()


def case_rows(cases: Path, splits: Path) -> Iterator[dict[str, Any]]:
    """The rows of CASE."""
    told = json.loads(splits.read_text(encoding="utf-8"))
    split_of = {case: name for name in ("sft", "pool", "holdout") for case in told[name]}
    for case in json_lines(cases):
        text = json.dumps(case, ensure_ascii=False, sort_keys=True)
        shared = {name: case.get(name, "") for name in ("case_id", "family", "template")}
        yield shared | {"split": split_of.get(case["case_id"]), "case": text}
