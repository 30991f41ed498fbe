from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak import tables
from tiebreak.errors import DataError

PROMPT = {"case_id": "a", "family": "f", "template": "t", "difficulty": "easy", "prompt": "p"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def prompts(draw: st.DrawFn) -> list[dict[str, str]]:
    ids = draw(st.sets(TEXTS, max_size=12))
    return [PROMPT | {"case_id": name, "prompt": draw(TEXTS)} for name in sorted(ids)]


@settings(max_examples=40)
@given(rows=prompts(), order=st.randoms(use_true_random=False))
def test_rows_come_back_sorted_and_their_bytes_do_not_depend_on_their_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], order: Random
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    tables.write_table(folder / "one.parquet", rows, tables.PROMPTS)
    shuffled = list(rows)
    order.shuffle(shuffled)
    tables.write_table(folder / "two.parquet", shuffled, tables.PROMPTS)
    assert (folder / "one.parquet").read_bytes() == (folder / "two.parquet").read_bytes()
    found = tables.read_table(folder / "one.parquet").to_pylist()
    assert found == sorted(rows, key=lambda row: row["case_id"].encode())
    assert [path.name for path in sorted(folder.iterdir())] == ["one.parquet", "two.parquet"]


def rollout(**changes: Any) -> dict[str, Any]:
    turn = {"role": "assistant", "content": "FINAL: x", "tokens": 3, "sampling_seed": 2**63 - 1}
    row = {
        "case_id": "a",
        "family": "f",
        "difficulty": "easy",
        "template": "t",
        "arm": "dense",
        "training_seed": 0,
        "repetition": 0,
        "sample": 0,
        "root_seed": 7,
        "turns": [{"role": "user", "content": "u", "tokens": None, "sampling_seed": None}, turn],
        "stop": "final",
        "valid": True,
        "success": True,
        "graded": False,
        "facts": {"n": 1},
        "rewards": [("dense", 1.5)],
        "new_tokens": 3,
        "truncated": False,
    }
    return row | changes


def test_a_rollout_comes_back(tmp_path: Path) -> None:
    path, schema = tmp_path / "deep" / "rollouts.parquet", tables.rollouts(pa.struct({"n": pa.int32()}))
    rows = [rollout(sample=1), rollout(arm="sft", training_seed=None, rewards=[]), rollout(case_id="A")]
    tables.write_table(path, rows, schema)
    assert tables.read_table(path).to_pylist() == [rows[2], rows[1], rows[0]]
    assert tables.read_table(path, ["sample"]).column_names == ["sample"]


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    schema = tables.rollouts(pa.struct({"n": pa.int32()}))
    tables.write_table(tmp_path / "x.parquet", [], schema)
    assert tables.read_table(tmp_path / "x.parquet").schema.names == schema.names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"valid": None}, "row 1: valid is null; a value .bool. is expected"),
        ({"sample": "x"}, "row 1: sample is 'x'; int32 is expected"),
        ({"sample": 2**40}, f"row 1: sample is {2**40}; int32 is expected"),
        ({"other": 1}, r"row 1: missing \[\], unknown \['other'\]"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "rollouts.parquet"
    with pytest.raises(DataError, match=f"rollouts.parquet: {message}"):
        tables.write_table(path, [rollout(), rollout(**change)], tables.rollouts(pa.struct({"n": pa.int32()})))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_column_a_missing_file_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with pytest.raises(DataError, match="x.parquet: cannot be read"):
        tables.read_table(path)
    tables.write_table(path, [PROMPT], tables.PROMPTS)
    with pytest.raises(DataError, match="x.parquet: has no column nothing; it has case_id"):
        tables.read_table(path, ["nothing"])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="x.parquet: cannot be read as Parquet"):
        tables.read_table(path)
