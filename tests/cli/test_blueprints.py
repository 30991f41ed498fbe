"""`tiebreak blueprints`, as a process: exit statuses, both forms of output, errors in words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from domains.rust.imports.specs import GLYPH, patched, reply, spec

REPO = Path(__file__).resolve().parents[2]


def blueprints(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tiebreak.cli", "blueprints", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPO / "src")})


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "file.jsonl"
    path.write_text(text)
    return str(path)


def test_all_accepted_is_status_0(tmp_path: Path) -> None:
    done = blueprints("check", written(tmp_path, reply("a-1", spec())))
    assert (done.returncode, done.stdout) == (0, "accepted  a-1\n")
    assert done.stderr.endswith("1 accepted, 0 rejected\n")


def test_some_rejected_is_status_1_and_each_line_says_why(tmp_path: Path) -> None:
    lines = reply("a-1", spec()) + reply("b-2", patched(replace="n + 3")) + "{\n"
    path = written(tmp_path, lines)
    done = blueprints("check", path, "--json")
    assert done.returncode == 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(row) for row in rows] == [["custom_id", "outcome", "step", "errors"]] * 3
    assert [(row["custom_id"], row["outcome"], row["step"]) for row in rows] == [
        ("a-1", "accepted", None),
        ("b-2", "rejected", 3),
        ("line 3", "rejected", 0),
    ]
    text = blueprints("check", path).stdout.splitlines()
    assert text[1] == "rejected  b-2  step 3  step 3 cargo_test status failed != success"
    assert text[2].startswith("rejected  line 3  step 0  no JSON")


@pytest.mark.parametrize("command", ["check", "replay"])
@pytest.mark.parametrize(
    ("text", "says"), [(None, "cannot be read"), ("", "holds no line"), ("[]\n[]\n", "none of its 2 lines is a ")]
)
def test_a_file_that_cannot_be_used_is_status_2(tmp_path: Path, command: str, text: str | None, says: str) -> None:
    path = str(tmp_path / "none.jsonl") if text is None else written(tmp_path, text)
    done = blueprints(command, path)
    assert (done.returncode, done.stdout) == (2, "")
    errors = [line for line in done.stderr.splitlines() if line.startswith("tiebreak: ")]
    assert len(errors) == 1 and errors[0].startswith(f"tiebreak: {path}: ") and says in errors[0]
    assert "Traceback" not in done.stderr


def test_no_part_is_a_usage_error() -> None:
    assert blueprints().returncode == 2
    assert "check" in blueprints("--help").stdout and "exit status" in blueprints("check", "--help").stdout


@pytest.mark.slow
@pytest.mark.skipif(not GLYPH.is_dir(), reason="the published data (../shared/data) is absent")
def test_the_published_traces_are_summed_up() -> None:
    done = blueprints("replay", str(GLYPH / "heldout_traces.jsonl"), "--json")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 75
    assert done.stderr.splitlines()[-1] == (
        "61 of 75 replay (skipped: 10 because no read of the source comes first, 4 because the read of the source was "
        "cut), 285 calls, none with another status or other test counts"
    )
