"""`tiebreak score --domain fathom`, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main

SHAPES = ("--domain", "fathom", "--shapes", "v1_gate,v2_soft,v3_recursion")
GOOD: dict[str, Any] = {
    "id": "one",
    "completion": "```python\nprint(llm('who?', ctx))\n```\n<answer> Blue </answer>",
    "gold_answer": "blue",
    "prompt_tokens": 100,
    "completion_tokens": 150,
}


def write(folder: Path, *lines: Any) -> str:
    path = folder / "completions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["score", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["score", *arguments]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


def test_a_completion_under_three_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [GOOD, GOOD | {"id": "two", "completion": "blue"}, GOOD | {"id": "three", "calls": 3}]
    first, bare, three = scored(capsys, write(tmp_path, *lines), *SHAPES)
    assert set(first) == {"id", "reward", "terms", "valid", "calls", "components"}
    assert first["reward"] == pytest.approx({"v1_gate": 0.98, "v2_soft": 1.08, "v3_recursion": 1.0475})
    assert (first["id"], first["valid"], first["calls"]) == ("one", True, 1)
    assert first["components"]["v3_recursion"] == pytest.approx(
        {"correctness": 1.0, "token_budget": 0.9, "recursion": 0.75, "present": 1.0}
    )
    assert sum(first["terms"]["v2_soft"].values()) == pytest.approx(first["reward"]["v2_soft"])
    assert (bare["valid"], bare["reward"]["v1_gate"]) == (False, 0.0)
    assert three["reward"]["v3_recursion"] == pytest.approx(1.0475 - 2 * 0.25 * 0.15)


def test_all_published_shapes_and_tables_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, GOOD)
    (row,) = scored(capsys, file, "--domain", "fathom", "--table", "dear=call_cost:1")
    assert list(row["reward"]) == ["v1_gate", "v2_soft", "v3_recursion", "dear"]
    assert row["reward"]["dear"] == pytest.approx(0.75 + 0.18)
    assert main(["score", file, *SHAPES]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["one", "yes", "0.980", "1.080", "1.048"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (7, "found a number (7), a JSON object with id, completion, gold_answer, prompt_tokens and completion_tokens"),
        ({"id": "x"}, "completion: found nothing, expected a string"),
        (GOOD | {"gold_answer": 42}, "gold_answer: found a number (42), expected a string"),
        (GOOD | {"gold_answer": " "}, 'gold_answer: found a string (" "), expected a string that is not blank'),
        (GOOD | {"prompt_tokens": 0}, "prompt_tokens: found a number (0), expected a whole number, at least 1"),
        (GOOD | {"prompt_tokens": True}, "prompt_tokens: found a boolean (true), expected a whole number"),
        (GOOD | {"completion_tokens": 1.5}, "completion_tokens: found a number (1.5), expected a whole number"),
        (GOOD | {"completion_tokens": -1}, "completion_tokens: found a number (-1)"),
        (GOOD | {"calls": None}, "calls: found null (null), expected a whole number, at least 0"),
    ],
)
def test_a_bad_line_is_named(line: Any, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = failure(capsys, write(tmp_path, GOOD, line), "--json", "--domain", "fathom")
    assert "completions.jsonl:2: " in said
    assert complaint in said


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--shapes", "sparse"], "no shape 'sparse'; known are v1_gate, v2_soft, v3_recursion"),
        (["--profile", "true"], "--profile: only the Rust domain"),
        (["--table", "mine=phase:1"], "numbers for correctness, token_budget, recursion"),
        (["--study", "laptop"], "--study laptop: its domain is rust; add --domain rust"),
    ],
)
def test_bad_shapes_are_named(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint in failure(capsys, write(tmp_path, GOOD), "--domain", "fathom", *arguments)


def test_an_odd_completion_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "```python\n" + "(" * 100_000 + "\ud800\x00llm(\n```<answer>\ud800"
    (row,) = scored(capsys, write(tmp_path, GOOD | {"completion": odd}), *SHAPES)
    assert (row["reward"]["v1_gate"], row["calls"]) == (0.0, 1)
