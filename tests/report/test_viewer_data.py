"""The viewer's data: every rollout is in it once, whole, and in a form that nothing can break out of."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.stored import stored_terms
from tiebreak.errors import DataError
from tiebreak.report import viewer_data
from tiebreak.report.rollouts import Stored, read
from tiebreak.report.viewer_data import write_data, write_script
from tiebreak.tables import write_table


def terms(stored: Stored) -> dict[str, dict[str, float]]:
    return stored_terms(stored.turns, stored.row["stop"], stored.row["facts"], PUBLISHED_TABLES)


def unpacked(path: Path) -> Any:
    """The value of a data script, read as the browser does."""
    name, text = re.fullmatch(r'tiebreak\.take\("([a-z0-9-]+)","([A-Za-z0-9+/=]*)"\);\n', path.read_text()).groups()
    assert name == path.stem
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_every_rollout_is_kept_whole(rollout_tables: list[Path], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(viewer_data, "CHUNK", 5)
    written = write_data(rollout_tables, terms, tmp_path, "tiny")
    index = unpacked(tmp_path / "index.js")
    assert index == json.loads(json.dumps(written.plain()))
    seen = 0
    for path, table in zip(rollout_tables, index["tables"], strict=False):
        for place, row in enumerate(pq.read_table(path).to_pylist()):
            chunk = unpacked(tmp_path / f"{table['run']}-rep{table['rep']}-{place // 5}.js")
            found = chunk[place % 5]
            assert found["turns"] == [[turn["role"], turn["content"], turn["tokens"]] for turn in row["turns"]]
            assert index["cases"][table["case"][place]] == [
                row["case_id"], row["family"], row["difficulty"], row["template"],
            ]  # fmt: skip
            bits = table["flags"][place]
            marks = [bool(row[name]) for name in ("valid", "success", "graded", "truncated")]
            assert [bool(bits >> bit & 1) for bit in range(4)] == marks and index["stops"][bits >> 4] == row["stop"]
            assert table["reward"][place] == dict(row["rewards"]).get(row["arm"])
            seen += 1
    assert seen == written.rollouts == 72 and written.tokens == 72 * 21
    assert (written.scored, written.unlike) == (47, 0), "sft has no reward of its own, and an error none at all"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_and_its_file_is_plain(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    write_script(folder, "any", {"text": text})
    assert unpacked(folder / "any.js") == {"text": text}, "the pattern of `unpacked` leaves no room for markup"


def test_an_error_has_no_terms_and_zeros_are_left_out(rollout_tables: list[Path], tmp_path: Path) -> None:
    write_data(rollout_tables, terms, tmp_path, "tiny")
    chunk = unpacked(tmp_path / "dense-seed1-rep1-0.js")
    assert chunk[-1]["terms"] == {} and chunk[-1]["facts"] is None
    assert chunk[0]["terms"]["sparse"] == {"valid": 10.0}


def test_a_stored_reward_that_is_not_the_sum_is_counted(rollout_tables: list[Path], tmp_path: Path) -> None:
    table = pq.read_table(rollout_tables[2])
    rows = table.to_pylist()
    rows[3]["rewards"] = [("dense", 99.0)]
    write_table(tmp_path / "other.parquet", rows, table.schema)
    assert write_data([tmp_path / "other.parquet"], terms, tmp_path / "out", "tiny").unlike == 1


def test_the_same_tables_give_the_same_bytes(rollout_tables: list[Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_data(rollout_tables, terms, tmp_path / name, "tiny")
    a, b = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("a", "b"))
    assert len(a) == 7 and a == b


def test_two_evaluations_in_one_table_are_refused(rollout_tables: list[Path], tmp_path: Path) -> None:
    tables = [pq.read_table(path) for path in rollout_tables[:2]]
    rows = [row for table in tables for row in table.to_pylist()]
    write_table(tmp_path / "both.parquet", rows, tables[0].schema)
    with pytest.raises(DataError, match=r"both\.parquet: rollouts of .* one is expected"):
        write_data([tmp_path / "both.parquet"], terms, tmp_path / "out", "tiny")


def test_what_is_no_table_of_rollouts_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"torn\.parquet: cannot be read as Parquet"):
        list(read(tmp_path / "torn.parquet"))
