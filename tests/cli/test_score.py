"""`tiebreak score`, from the command line."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main

CASES = Path(__file__).parents[3] / "shared" / "data" / "glyph" / "reward_cases.jsonl"
GOOD: dict[str, Any] = {
    "id": "one",
    "turns": [
        {"role": "assistant", "content": 'CALL cargo_test {"id":"c1","project_path":"crates/a"}'},
        {
            "role": "tool",
            "content": "RESULT c1:\nstatus: failed\nstderr:\nerror[E0106]: x\nerror: could not compile `a`",
        },
        {"role": "assistant", "content": "FINAL: no"},
    ],
    "tool_budget_exhausted": False,
}


def write(folder: Path, *lines: Any) -> str:
    path = folder / "rollouts.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(path)


def scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["score", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["score", *arguments]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


def test_the_published_cases_are_scored_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    if not CASES.is_file():
        pytest.skip(f"the published reward cases are not at {CASES}")
    wanted = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    rows = scored(capsys, str(CASES), "--shapes", "sparse,dense,compiler")
    assert [row["id"] for row in rows] == [row["id"] for row in wanted]
    for row, expected in zip(rows, wanted, strict=True):
        assert set(row) == {"id", "reward", "terms", "valid"}
        assert row["reward"] == pytest.approx(expected["reward"], abs=1e-9)
        assert {name: sum(parts.values()) for name, parts in row["terms"].items()} == row["reward"]
        if expected["mutation"] == "none":
            assert row["valid"]


def test_shapes_profiles_and_tables_are_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, GOOD, "", GOOD)
    first, second = scored(capsys, file, "--shapes", "compiler,sparse")
    assert first == second
    assert first["reward"] == {"compiler": -1 + 2.5 * 3 / 4, "sparse": -1.0}
    (true, _) = scored(capsys, file, "--shapes", "compiler", "--profile", "true")
    assert true["reward"] == {"compiler": -1 + 2.5 * 2 / 4}
    (own, _) = scored(capsys, file, "--table", "mine=phase:4,compiled:1", "--shapes", "mine")
    assert own["reward"] == {"mine": 2.0}
    (everything, _) = scored(capsys, file, "--table", "zero=")
    assert list(everything["reward"]) == ["sparse", "dense", "compiler", "zero"]


def test_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", write(tmp_path, GOOD), "--shapes", "sparse"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["id", "valid", "sparse"], ["one", "no", "-1.000"], ["mean", "0/1", "-1.000"]]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(GOOD).encode())))
    assert [row["id"] for row in scored(capsys, "-")] == ["one"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "rollouts.jsonl:2: no JSON"),
        ("[" * 200_000, "rollouts.jsonl:2: no JSON"),
        ("[1]", "rollouts.jsonl:2: found a list ([1]), a JSON object"),
        ({"turns": [], "tool_budget_exhausted": False}, "rollouts.jsonl:2: id: found nothing, expected a string"),
        (GOOD | {"id": 3}, "id: found a number (3), expected a string"),
        (GOOD | {"turns": "none"}, "turns: found a string"),
        (GOOD | {"turns": ["x"]}, "turns[0]: found a string"),
        (GOOD | {"turns": [{"role": "tool"}]}, "turns[0].content: found nothing, expected a string"),
        (GOOD | {"turns": [{"role": "tool", "content": None}]}, "turns[0].content: found null"),
        (GOOD | {"turns": [{"role": "judge", "content": ""}]}, "turns[0].role: found 'judge'"),
        (GOOD | {"tool_budget_exhausted": 0}, "tool_budget_exhausted: found a number (0), expected true or false"),
        ({"id": "x", "turns": []}, "tool_budget_exhausted: found nothing"),
    ],
)
def test_a_bad_line_is_named(line: Any, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint in failure(capsys, write(tmp_path, GOOD, line), "--json")


def test_bad_files_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in failure(capsys, str(tmp_path / "none.jsonl"))
    assert "cannot be read" in failure(capsys, str(tmp_path))
    assert "no transcripts" in failure(capsys, write(tmp_path, ""))
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}\n')
    assert "latin.jsonl:1: byte 8 is no UTF-8" in failure(capsys, str(tmp_path / "latin.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--shapes", "dense,best"], "no shape 'best'; known are sparse, dense, compiler"),
        (["--shapes", ""], "no shape ''"),
        (["--table", "mine"], "expected NAME=FIELD:VALUE"),
        (["--table", "=phase:1"], "expected NAME=FIELD:VALUE"),
        (["--table", "mine=bonus:1"], "--table mine: bonus"),
        (["--table", "mine=phase:much"], "--table mine: phase: found 'much'"),
        (["--table", "mine=phase:nan"], "--table mine: phase"),
        (["--study", "there_is_no_such_study"], "there_is_no_such_study"),
    ],
)
def test_bad_shapes_are_named(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint in failure(capsys, write(tmp_path, GOOD), *arguments)


def test_an_odd_transcript_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = [{"role": "assistant", "content": f"CALL {'[' * 100_000}\nFINAL: \ud800"}, {"role": "tool", "content": ""}]
    (row,) = scored(capsys, write(tmp_path, GOOD | {"turns": odd, "id": "\ud800"}))
    assert row["reward"]["sparse"] == -9
    assert main(["score", write(tmp_path, GOOD | {"id": "\ud800"})]) == 0
