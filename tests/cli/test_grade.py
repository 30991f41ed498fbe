"""`tiebreak grade`, with real verdicts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tiebreak.cli import main
from tiebreak.domains.rust.blueprints import Blueprint, to_line
from tiebreak.domains.rust.crate import split_tests
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.grading import reference

REPO = Path(__file__).resolve().parents[2]
SPECS = REPO.parent / "shared" / "data" / "glyph" / "specs.jsonl"


@pytest.fixture(scope="module")
def case() -> Blueprint:
    """A case with a library to repair."""
    return generate("all", 1, 5, {"patch_test_pass": 1.0})[0]


@pytest.fixture
def spec(case: Blueprint, tmp_path: Path) -> str:
    """The case as a file."""
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(json.loads(to_line(case)), indent=2), encoding="utf-8")
    return str(path)


@pytest.fixture
def crate(case: Blueprint, tmp_path: Path) -> Path:
    """The case's crate, repaired."""
    return write(tmp_path / "crate", reference(case))


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def graded(capsys: pytest.CaptureFixture[str], spec: str, folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    status = main(["grade", "--blueprint", spec, "--crate", str(folder), "--json", *more])
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == ["case_id", "graded", "reasons"]
    return status, found


def failure(capsys: pytest.CaptureFixture[str], spec: str, folder: Path, *more: str) -> str:
    assert main(["grade", "--blueprint", spec, "--crate", str(folder), *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_the_reference_is_graded(case: Blueprint, spec: str, crate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert graded(capsys, spec, crate) == (0, {"case_id": case.case_id, "graded": True, "reasons": []})
    assert main(["grade", "--blueprint", spec, "--crate", str(crate)]) == 0
    assert capsys.readouterr().out == "graded: true\n"


def test_the_bug_is_not_graded_and_the_reasons_are_said(
    case: Blueprint, spec: str, crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(crate, case.files)
    status, found = graded(capsys, spec, crate)
    assert (status, found["graded"]) == (1, False)
    assert found["reasons"]
    assert main(["grade", "--blueprint", spec, "--crate", str(crate)]) == 1
    assert capsys.readouterr().out.splitlines() == ["graded: false", *(f"  {reason}" for reason in found["reasons"])]


def test_nothing_but_the_code_reaches_the_grade(
    case: Blueprint, spec: str, crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, tests = split_tests(reference(case)[case.source_path])
    assert tests
    write(
        crate,
        {
            case.source_path: code,
            "build.rs": 'fn main() { panic!("never") }\n',
            "src/main.rs": "no Rust at all",
            ".cargo/config.toml": "nonsense",
        },
    )
    (crate / "Cargo.toml").unlink()
    os.mkfifo(crate / "Cargo.toml")
    before = sorted(crate.rglob("*"))
    assert graded(capsys, spec, crate)[0] == 0
    assert sorted(crate.rglob("*")) == before


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.touch, None),
        (lambda path: path.write_bytes(b"\xff\xfe"), "byte 0 is no UTF-8"),
        (lambda path: path.write_bytes(b"//" * 25_000_000), "50,000,000 bytes"),
        (lambda path: path.write_bytes(b"fn f() {}\0"), None),
        (lambda path: path.write_bytes(b"(" * 49_000), None),
        (lambda path: path.symlink_to("/dev/zero"), "is a symbolic link"),
        (Path.mkdir, "is a folder"),
        (lambda path: None, "is gone"),
    ],
)
def test_a_source_of_any_kind_has_a_grade(
    make: Callable[[Path], object],
    reason: str | None,
    case: Blueprint,
    spec: str,
    crate: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (crate / case.source_path).unlink()
    make(crate / case.source_path)
    status, found = graded(capsys, spec, crate)
    assert (status, found["graded"]) == (1, False)
    assert (reason or "it does not compile") in found["reasons"][0]
    assert reason is None or case.source_path in found["reasons"][0]


def test_a_fifo_does_not_hang_the_command(case: Blueprint, spec: str, crate: Path) -> None:
    (crate / case.source_path).unlink()
    os.mkfifo(crate / case.source_path)
    done = subprocess.run(
        [sys.executable, "-m", "tiebreak.cli", "grade", "--blueprint", spec, "--crate", str(crate)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPO / "src"), "PYTHONIOENCODING": "ascii"},
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{case.source_path} is a FIFO" in done.stdout


def test_a_folder_without_a_crate_is_an_error(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    said = failure(capsys, spec, tmp_path / "empty")
    assert said == (f"tiebreak: {tmp_path}/empty holds no Cargo.toml; the final files of a rollout are expected\n")
    assert "No such file" in failure(capsys, spec, tmp_path / "none")
    assert "Not a directory" in failure(capsys, spec, Path(spec))


def test_one_of_several_blueprints_is_chosen(
    case: Blueprint, crate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = case.model_copy(update={"case_id": "another_one"})
    published = {"custom_id": "scale-7", "text": to_line(case.model_copy(update={"case_id": "published"}))}
    lines = [to_line(other), to_line(case), "", json.dumps(published), to_line(other)]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for wanted, found in ((case.case_id, case.case_id), ("scale-7", "published"), ("published", "published")):
        status, answer = graded(capsys, str(path), crate, "--case", wanted)
        assert (status, answer["case_id"]) == (0, found)
    assert f"holds 4 blueprints (another_one, {case.case_id}, published, another_one); choose one with --case" in (
        failure(capsys, str(path), crate)
    )
    assert "--case nobody: no such blueprint; there are another_one" in (
        failure(capsys, str(path), crate, "--case", "nobody")
    )
    assert "--case another_one: found 2 times (line 1 and line 5)" in (
        failure(capsys, str(path), crate, "--case", "another_one")
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no JSON"),
        (b"{", "spec.json: no JSON"),
        (b"[" * 200_000, "spec.json: no JSON"),
        (b'{"seed": 1' + b"0" * 5000 + b"}", "spec.json: no JSON"),
        (b"[1]", "spec.json: found a list"),
        (b'{"case_id": "x"}', "spec.json: family: Field required"),
        (b'{"case_id": "x"}\n{"case_id": \n', "spec.json: line 2: no JSON"),
        (b'{"custom_id": "x", "text": "{"}', "spec.json: no JSON"),
        (b'{"custom_id": "x", "text": "[1]"}', "spec.json: found a list"),
        (b'{"case_id": "\xe9"}', "spec.json: line 1: byte 13 is no UTF-8"),
    ],
)
def test_a_bad_blueprint_is_named(
    content: bytes, complaint: str, crate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.json").write_bytes(content)
    more = ["--case", "x"] if b"\n" in content else []
    assert complaint in failure(capsys, str(tmp_path / "spec.json"), crate, *more)


def test_files_that_are_none_are_named(crate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in failure(capsys, str(tmp_path / "none.json"), crate)
    assert "--cores all data, with" in failure(capsys, "results/none/data/cases.jsonl", crate)
    assert "Is a directory" in failure(capsys, str(tmp_path), crate)
    (tmp_path / "none.jsonl").write_text("\n")
    assert "holds no blueprint" in failure(capsys, str(tmp_path / "none.jsonl"), crate)


def test_a_case_that_can_grade_nobody_is_an_error(
    case: Blueprint, crate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [step for step in case.steps if step.tool != "apply_patch"]
    sequence = [step.tool for step in steps]
    path = tmp_path / "unsound.json"
    unsound = case.model_copy(update={"steps": steps, "expected_tool_sequence": sequence})
    path.write_text(to_line(unsound), encoding="utf-8")
    said = failure(capsys, str(path), crate)
    assert f"unsound.json: {case.case_id}: the reference fix does not pass its exam" in said


def test_a_published_spec_grades_its_own_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not SPECS.is_file():
        pytest.skip(f"the published specs are not at {SPECS}")
    row = next(json.loads(line) for line in SPECS.open() if json.loads(line)["published_outcome"] == "accepted")
    files = json.loads(row["text"])["files"]
    folder = write(tmp_path / "published", files)
    status, _ = graded(capsys, str(SPECS), folder, "--case", row["custom_id"])
    assert status == 1
    for step in json.loads(row["text"])["steps"]:
        if step["tool"] == "apply_patch":
            path = folder / step["file_path"]
            path.write_text(path.read_text().replace(step["find"], step["replace"]))
    status, found = graded(capsys, str(SPECS), folder, "--case", row["custom_id"])
    assert (status, found["reasons"]) == (0, [])
