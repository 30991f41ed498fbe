"""The first place where two files part, by kind; rounding is told from another value."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.publish.differences import compared
from tiebreak.tables import COUNT, REAL, TEXT, schema, write_table

LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
)
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)


def pair(folder: Path, name: str, found: str, expected: str) -> tuple[Path, Path]:
    for part, text in (("found", found), ("expected", expected)):
        (folder / part).mkdir(exist_ok=True)
        (folder / part / name).write_text(text, encoding="utf-8")
    return folder / "found" / name, folder / "expected" / name


@given(VALUE, VALUE)
def test_json_values_are_the_same_or_a_difference_is_named(
    tmp_path_factory: pytest.TempPathFactory, one: Any, other: Any
) -> None:
    paths = pair(tmp_path_factory.mktemp("json"), "a.json", json.dumps(one), json.dumps(other))
    verdict = compared(*paths, "a.json")
    same = json.dumps(one) == json.dumps(other)
    assert (verdict.state == "bit-exact") == same
    assert verdict.fails == (verdict.difference is not None)


@pytest.mark.parametrize(
    ("name", "found", "expected", "said"),
    [
        ("a.json", '{"x": {"y": [1, 2]}}', '{"x": {"y": [1, 3]}}', "a.json: x.y[1] is 2, expected 3"),
        ("a.json", '{"x": 1}', '{"x": true}', "a.json: x is 1, expected True"),
        ("a.json", '{"x": 1}', "{}", "a.json: x is 1, expected nothing"),
        ("a.jsonl", '{"s": 1}\n{"s": 2}\n', '{"s": 1}\n{"s": 4}\n', "a.jsonl: line 2: s is 2, expected 4"),
        ("a.csv", "p,q\n1,2\n", "p,q\n1,3\n", "a.csv: line 2: q is '2', expected '3'"),
        ("a.csv", "p,q\n1,2\n", "p,q\n1,2\n4,5\n", "a.csv: line 3: p is nothing, expected '4'"),
        ("a.html", "one\nprice 2\n", "one\nprice 3\n", "a.html: line 2: 'price 2', expected 'price 3'"),
        ("a.html", "one\ntwo\n", "one\n", "a.html: line 2: 'two', expected nothing"),
    ],
)
def test_a_difference_is_named_where_it_is(tmp_path: Path, name: str, found: str, expected: str, said: str) -> None:
    verdict = compared(*pair(tmp_path, name, found, expected), name)
    assert verdict.state == "differs" and verdict.detail == said


def test_rounding_is_no_difference_and_is_told(tmp_path: Path) -> None:
    verdict = compared(*pair(tmp_path, "a.json", '{"x": 0.1}', '{"x": 0.10000000000000002}'), "a.json")
    assert verdict.state == "rounding" and verdict.count == 1
    assert compared(*pair(tmp_path, "a.json", '{"x": 0.1}', '{"x": 0.1000001}'), "a.json").fails
    assert compared(*pair(tmp_path, "a.csv", "x\n0.25\n", "x\n0.2500000000000001\n"), "a.csv").state == "rounding"
    assert compared(*pair(tmp_path, "a.csv", "x\n12345678901\n", "x\n12345678902\n"), "a.csv").fails


def test_a_table_is_compared_row_by_row(tmp_path: Path) -> None:
    kind = schema({"case_id": TEXT, "sample": COUNT, "value": REAL}, ("case_id", "sample"))
    rows = [{"case_id": "a", "sample": n, "value": n / 2} for n in range(4)]
    write_table(tmp_path / "one.parquet", rows, kind)
    write_table(tmp_path / "other.parquet", [*rows[:2], rows[2] | {"value": 7.0}, rows[3]], kind)
    write_table(tmp_path / "fewer.parquet", rows[:3], kind)
    found = compared(tmp_path / "one.parquet", tmp_path / "other.parquet", "t")
    assert found.detail == "t: case_id a, sample 2: value is 1.0, expected 7.0"
    assert compared(tmp_path / "one.parquet", tmp_path / "fewer.parquet", "t").detail == "t: rows is 4, expected 3"
    assert compared(tmp_path / "gone.parquet", tmp_path / "one.parquet", "t").detail == "t: nothing, expected 'there'"


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("a.json", '{"p": 1e-300}', '{"p": 9e-13}'),
        ("a.json", '{"p": 0.0}', '{"p": 1e-13}'),
        ("a.json", '{"p": 0.0001, "p": 0.33, "x": 0.30000000000000004}', '{"p": 0.33, "x": 0.3}'),
        ("a.json", '{"p": 0.0001, "p": 0.33}', '{"p": 0.33}'),
        ("a.json", '{"x": 0.30000000000000004, "note": "nothing"}', '{"x": 0.3}'),
        ("a.json", '{"x": 0.30000000000000004,  "y": 1}', '{"x": 0.3, "y": 1}'),
        ("a.json", '{"x": NaN}', '{"x": 0.3}'),
        ("a.json", "[" * 200_000, '{"x": 0.3}'),
        ("a.json", "\udcff", '{"x": 0.3}'),
        ("a.jsonl", '{"x": 0.30000000000000004}\n\n', '{"x": 0.3}\n'),
        ("a.csv", "x\n0.30000000000000004\n\n", "x\n0.3\n"),
        ("a.csv", 'x,y\n0.30000000000000004,"b"\n', "x,y\n0.3,b\n"),
        ("a.csv", "x\n1e999\n", "x\n1e400\n"),
        ("a.parquet", "PAR1", "no table"),
    ],
)
def test_rounding_pardons_nothing_else_in_a_file(tmp_path: Path, name: str, found: str, expected: str) -> None:
    paths = [tmp_path / side / name for side in ("found", "expected")]
    for path, text in zip(paths, (found, expected), strict=True):
        path.parent.mkdir()
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert compared(*paths, name).state == "differs"


def test_a_list_that_ends_in_the_word_for_nothing_is_longer(tmp_path: Path) -> None:
    found = compared(*pair(tmp_path, "a.json", '[1, "nothing"]', "[1]"), "a.json")
    assert found.detail == "a.json: [1] is 'nothing', expected nothing"


def test_metadata_of_a_table_is_compared(tmp_path: Path) -> None:
    kind = schema({"case_id": TEXT, "value": REAL}, ("case_id",))
    write_table(tmp_path / "one.parquet", [{"case_id": "a", "value": 0.3}], kind)
    table = pq.read_table(tmp_path / "one.parquet").to_pylist()[0] | {"value": 0.30000000000000004}
    write_table(tmp_path / "near.parquet", [table], kind)
    assert compared(tmp_path / "near.parquet", tmp_path / "one.parquet", "t").state == "rounding"
    near = pq.read_table(tmp_path / "near.parquet")
    pq.write_table(near.replace_schema_metadata({"huggingface": "{}"}), tmp_path / "told.parquet")
    assert compared(tmp_path / "told.parquet", tmp_path / "one.parquet", "t").detail.startswith("t: metadata is [")
