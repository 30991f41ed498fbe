import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from audits.readings import WordReader, row

from tiebreak import tables
from tiebreak.audits.stored import PLACE, evaluated, json_lines, stored, study_parts, trained
from tiebreak.errors import DataError
from tiebreak.paths import Paths

FACTS = pa.struct({"compiled": pa.bool_()})


def rollout(**labels: object) -> dict[str, object]:
    """A row of a rollouts table."""
    return {
        "case_id": "a",
        "family": "f",
        "difficulty": "easy",
        "template": "t",
        "arm": "dense",
        "training_seed": 1,
        "repetition": 2,
        "sample": 0,
        "root_seed": 7,
        "turns": [{"role": "assistant", "content": "reach:ran pay:3", "tokens": 5, "sampling_seed": 1}],
        "stop": "final",
        "valid": True,
        "success": True,
        "graded": False,
        "facts": {"compiled": True},
        "rewards": [("dense", 3.0)],
        "new_tokens": 5,
        "truncated": False,
    } | labels


def write(path: Path, rows: list[dict[str, object]]) -> None:
    tables.write_table(path, rows, tables.rollouts(FACTS))


def group(**labels: object) -> dict[str, object]:
    """A record of a group of two."""
    return {
        "step": 3,
        "group": 1,
        "case_id": "b",
        "family": "f",
        "template": "t",
        "rewards": [1.0, None],
        "stop": ["final", "error"],
        "valid": [True, False],
        "success": [True, False],
        "graded": [True, False],
        "new_tokens": [4, 0],
        "turns": [[{"role": "assistant", "content": "reach:success"}], []],
    } | labels


def study(folder: Path) -> Paths:
    """A folder of results with a rollout of each source, and a run that a gate stopped."""
    paths = Paths("tiny", folder)
    write(paths.rollouts("dense-seed1", 2), [rollout()])
    write(paths.rollouts("dense-seed2", 0), [])
    write(paths.probe("sft"), [rollout(arm="sft", training_seed=None, repetition=0, rewards=[])])
    paths.groups("dense-seed1").parent.mkdir(parents=True)
    paths.groups("dense-seed1").write_text(json.dumps(group()) + "\n")
    return paths


def test_a_study_becomes_one_table(tmp_path: Path) -> None:
    found = stored(study_parts(study(tmp_path)), WordReader()).rollouts
    place = found[PLACE].astype(object)
    assert place.where(found[PLACE].notna(), None).to_numpy().tolist() == [
        ["evaluation", "dense-seed1", 2.0, None, None, "a", 0],
        ["probe", "sft", 0.0, None, None, "a", 0],
        ["training", "dense-seed1", None, 3.0, 1.0, "b", 0],
        ["training", "dense-seed1", None, 3.0, 1.0, "b", 1],
    ]
    assert found["arm"].tolist() == ["dense", "sft", "dense", "dense"]
    assert found["reward"].fillna(-1).tolist() == [3.0, -1, 1.0, -1]
    assert found["reward.dense"].fillna(-1).tolist() == [3.0, 3.0, -1, -1]
    assert found["reached"].tolist() == ["ran", "ran", "success", "nothing"]
    assert found["turns"].tolist() == [1, 1, 1, 0]


def test_equal_conversations_are_read_once() -> None:
    reader = WordReader()
    rows = [row("reach:ran", sample=0), row("reach:ran", sample=1), row("reach:ran", sample=2, stop="budget")]
    found = stored([rows[:1], rows[1:]], reader)
    seeded = [turn | {"sampling_seed": 5} for turn in rows[0].stored.turns]
    stored([rows, [replace(rows[0], stored=rows[0].stored._replace(turns=seeded))]], other := WordReader())
    assert other.reads == 2, "seeds are no part of what is read"
    assert reader.reads == 2 and found.rollouts["reached"].tolist() == ["ran"] * 3


def test_calls_know_their_rollout() -> None:
    parts = [[row("call:peek/failed")], [row("", sample=1), row("call:peek/failed call:read/succeeded", sample=2)]]
    found = stored(parts, WordReader())
    assert found.calls[["rollout", "kind"]].to_numpy().tolist() == [[0, "peek"], [2, "peek"], [2, "read"]]


def test_nothing_stored_is_said() -> None:
    with pytest.raises(DataError, match="no rollouts are stored"):
        stored([[], []], WordReader())


def test_a_limit_cut_what_stopped_with_tokens() -> None:
    rows = list(trained("dense-seed0", [group(stop=["tokens", "final"])]))
    assert [item.core["truncated"] for item in rows] == [True, False]


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    tables.write_table(tmp_path / "t.parquet", [], tables.TIMINGS)
    with pytest.raises(DataError, match="has no column"):
        list(evaluated(tmp_path / "t.parquet"))
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a"\n')
    with pytest.raises(DataError, match="line 2: no JSON"):
        json_lines(tmp_path / "x.jsonl")
