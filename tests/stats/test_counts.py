import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tiebreak import tables
from tiebreak.errors import DataError
from tiebreak.stats.counts import COLUMNS, check, counts, run_of

SCHEMA = tables.rollouts(pa.struct({"compiled": pa.bool_()}))
LOOSE = pa.schema([field.with_nullable(True) for field in SCHEMA])


def rollout(sample, **changes):
    """A rollout row; its seed follows repetition and sample."""
    row = {
        "case_id": "case_001",
        "family": "patch_test_pass",
        "difficulty": "easy",
        "template": "sum",
        "arm": "sparse",
        "training_seed": 0,
        "repetition": 0,
        "sample": sample,
        "root_seed": 1,
        "stop": "final",
        "valid": True,
        "success": True,
        "graded": sample % 2 == 0,
        "facts": {"compiled": True},
        "rewards": [("sparse", 10.0)],
        "new_tokens": 9,
        "truncated": False,
    } | changes
    seed = 1000 + 100 * row["repetition"] + sample
    row["turns"] = [
        {"role": "system", "content": "s", "tokens": 1, "sampling_seed": None},
        {"role": "assistant", "content": "FINAL: x", "tokens": 3, "sampling_seed": changes.get("seed", seed)},
    ]
    row.pop("seed", None)
    return row


@pytest.fixture
def stored(tmp_path):
    """Writes rollouts and gives the path."""

    def write(rows, name="rollouts.parquet", schema=SCHEMA):
        path = tmp_path / name
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
        return path

    return write


def test_counts_by_run_case_and_repetition(stored):
    first = stored([rollout(s) for s in range(4)] + [rollout(0, case_id="case_002", graded=False)], "a.parquet")
    second = stored([rollout(s, repetition=1, valid=False) for s in range(4)], "b.parquet")
    table = counts([first, second])
    assert list(table.columns) == COLUMNS
    assert table[["run", "case_id", "repetition", "n", "graded", "valid"]].to_numpy().tolist() == [
        ["sparse-seed0", "case_001", 0, 4, 2, 4],
        ["sparse-seed0", "case_001", 1, 4, 2, 0],
        ["sparse-seed0", "case_002", 0, 1, 0, 1],
    ]


def test_errors_are_counted_apart_and_never_as_failures(stored):
    table = counts([stored([rollout(0), rollout(1, stop="error", graded=None, valid=False)], schema=LOOSE)])
    assert table.loc[0, ["n", "graded", "valid", "errors"]].tolist() == [1, 1, 1, 1]


def test_the_table_that_sampling_writes_is_read_with_its_errors(tmp_path):
    path = tmp_path / "rollouts.parquet"
    lost = {"stop": "error", "graded": None, "valid": False, "success": False, "facts": None}
    rows = [rollout(0), rollout(1), rollout(2, **lost)] + [rollout(n, case_id="case_002", **lost) for n in range(3)]
    tables.write_table(path, rows, SCHEMA)
    table = counts([path])
    columns = ["case_id", "n", "graded", "valid", "success", "errors"]
    assert table[columns].to_numpy().tolist() == [["case_001", 2, 1, 2, 2, 1], ["case_002", 0, 0, 0, 0, 3]]
    assert check(table).equals(table)


def test_a_graded_error_is_not_counted_as_solved(stored):
    table = counts([stored([rollout(0, stop="error", graded=True)])])
    assert table.loc[0, ["n", "graded", "errors"]].tolist() == [0, 0, 1]


def test_the_sft_run_has_no_training_seed(stored):
    assert counts([stored([rollout(0, arm="sft", training_seed=None)])])["run"].tolist() == ["sft"]
    assert (run_of("sft", None), run_of("sft", 1), run_of("dense", 0)) == ("sft", "sft-seed1", "dense-seed0")


def test_empty_tables_of_stopped_runs_add_nothing(stored):
    empty = stored([], "empty.parquet")
    assert counts([empty]).empty
    assert len(counts([empty, stored([rollout(0)])])) == 1


def test_families_can_come_from_outside(tmp_path):
    path = tmp_path / "old.parquet"
    pq.write_table(pa.Table.from_pylist([rollout(0)], schema=SCHEMA).drop_columns(["family"]), path)
    assert counts([path], families={"case_001": "run_only"})["family"].tolist() == ["run_only"]
    with pytest.raises(DataError, match="family of case case_001 is empty"):
        counts([path])


def test_a_repetition_under_another_name_is_refused(stored):
    rows = [rollout(s) for s in range(2)] + [rollout(s, repetition=1, seed=1000 + s) for s in range(2)]
    with pytest.raises(
        DataError, match=r"run sparse-seed0: repetitions \[0, 1\] drew case case_001 from the same seed"
    ):
        counts([stored(rows)])


def test_seed_zero_is_a_seed(stored):
    """The published repetitions all drew from seed 0."""
    rows = [rollout(0, seed=0), rollout(0, repetition=1, seed=0)]
    with pytest.raises(DataError, match="from the same seed"):
        counts([stored(rows)])


def test_what_is_no_table_is_named(tmp_path):
    (tmp_path / "odd.parquet").write_text("no table")
    for name in ("odd", "none"):
        with pytest.raises(DataError, match=rf"{name}\.parquet: cannot be read as Parquet"):
            counts([tmp_path / f"{name}.parquet"])


def test_two_runs_share_their_seeds_by_design(stored):
    assert len(counts([stored([rollout(0), rollout(0, training_seed=1)])])) == 2


def test_a_sample_stored_twice_is_refused(stored):
    with pytest.raises(DataError, match="run sparse-seed0, case case_001, repetition 0: sample 3 is stored twice"):
        counts([stored([rollout(3), rollout(3)])])


def test_a_missing_grade_is_refused(stored):
    with pytest.raises(DataError, match="graded of case case_001 is empty"):
        counts([stored([rollout(0, graded=None)], schema=LOOSE)])


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"case_id": ["a"]}), path)
    with pytest.raises(DataError, match=r"damaged\.parquet: no column 'template'"):
        counts([path])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"graded": 9}, "graded is 9"),
        ({"graded": -1}, "graded is -1"),
        ({"graded": float("nan")}, "empty 'graded'"),
        ({"graded": 0.5}, "impossible"),
        ({"case_id": "case_001"}, "two rows"),
        (
            {"case_id": "case_999"},
            "case case_000 is in run dense-seed0, repetition 1 but not in run dense-seed0, repetition 0",
        ),
    ],
)
def test_damaged_counts_are_refused(counts_table, change, says):
    table = counts_table().sort_values(["run", "repetition", "case_id"], ignore_index=True)
    table = table.astype({"graded": object})
    for column, value in change.items():
        table.loc[0, column] = value
    with pytest.raises(DataError, match=says):
        check(table)


def test_a_missing_count_column_is_named(counts_table):
    with pytest.raises(DataError, match="no column 'valid'"):
        check(counts_table().drop(columns="valid"))


def test_check_sorts_and_changes_nothing_else(counts_table):
    table = counts_table()
    shuffled = table.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(check(shuffled), check(table))


def test_a_success_without_a_grade_is_counted_rollout_by_rollout(stored):
    """A grade without a success beside it must not cancel the finding."""
    rows = [
        rollout(0, success=True, graded=False),
        rollout(1, success=False, graded=True),
        rollout(2, success=True, graded=True),
        rollout(3, success=False, graded=False),
    ]
    assert counts([stored(rows)])["success_not_graded"].tolist() == [1]
