"""`tiebreak replay`, with real verdicts: what it shows is what an episode of a study answers."""

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tiebreak.cli import main
from tiebreak.cli.replay import split_turns
from tiebreak.cli.texts import show
from tiebreak.domains.base import TraceTurn
from tiebreak.domains.rust.blueprints import Blueprint, to_line
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.protocol import format_call
from tiebreak.domains.rust.traces import trace
from tiebreak.domains.rust.verdicts import Judge

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(None)


@pytest.fixture(scope="module")
def case() -> Blueprint:
    """A case that a first fix does not mend: its replies are of every kind."""
    return generate("all", 1, 5, {"patch_test_recover": 1.0})[0]


@pytest.fixture(scope="module")
def turns(case: Blueprint, judge: Judge) -> list[TraceTurn]:
    """Its demonstration."""
    return trace(case, Random(1), judge, detours=0.0)


@pytest.fixture
def spec(case: Blueprint, tmp_path: Path) -> str:
    path = tmp_path / "spec.json"
    path.write_text(to_line(case), encoding="utf-8")
    return str(path)


def written(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "calls.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def of(turns: list[TraceTurn], role: str) -> list[str]:
    return [turn["content"] for turn in turns if turn["role"] == role]


def replayed(capsys: pytest.CaptureFixture[str], spec: str, calls: str, *more: str) -> dict[str, Any]:
    assert main(["replay", "--blueprint", spec, calls, "--json", *more]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == [*"case_id replies stop valid success played left graded reasons".split()]
    return dict(found)


def failure(capsys: pytest.CaptureFixture[str], spec: str, calls: str) -> str:
    assert main(["replay", "--blueprint", spec, calls]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def call(case: Blueprint, tool: str, number: int, **params: str) -> str:
    root = f"crates/{case.case_id}"
    where = {"project_path": root} if tool.startswith("cargo") else {"file_path": f"{root}/{case.source_path}"}
    return format_call(tool, f"c{number}", {**where, **params})


@pytest.mark.parametrize("between", ["\n", "\n\n", "\r\n", "\n---\n", "\n\n---\nI think it is this.\n"])
def test_a_demonstration_gets_the_replies_of_a_study(
    between: str,
    case: Blueprint,
    turns: list[TraceTurn],
    spec: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoken = of(turns, "assistant")
    calls = between.join(spoken[:-1]) + ("\n---\n" if "---" in between else between) + spoken[-1] + "\n"
    found = replayed(capsys, spec, written(tmp_path, calls))
    assert found.pop("replies") == of(turns, "tool")
    assert found == {
        "case_id": case.case_id,
        "stop": "final",
        "valid": True,
        "success": True,
        "played": len(spoken),
        "left": 0,
        "graded": True,
        "reasons": [],
    }


def test_people_see_the_replies_and_how_it_ended(
    turns: list[TraceTurn],
    spec: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = "\n".join(of(turns, "assistant"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(calls.encode())))
    assert main(["replay", "--blueprint", spec, "-"]) == 0
    replies = "".join(f"{reply}\n\n" for reply in of(turns, "tool"))
    assert capsys.readouterr().out == f"{replies}stop: final\nvalid: true\nsuccess: true\ngraded: true\n"


def test_calls_that_end_before_the_episode_are_graded_as_they_stand(
    case: Blueprint, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = written(tmp_path, call(case, "read_file", 1))
    found = replayed(capsys, spec, calls)
    assert (found["stop"], found["valid"], found["success"], found["graded"]) == (None, False, False, False)
    assert found["reasons"]
    main(["replay", "--blueprint", spec, calls])
    said = capsys.readouterr().out
    assert "\nstop: none (the calls ended before the episode did)\nvalid: false\n" in said
    assert said.endswith("\ngraded: false\n" + "".join(f"  {reason}\n" for reason in found["reasons"]))


def test_a_malformed_call_ends_it_and_nothing_of_its_turn_or_after_it_runs(
    case: Blueprint, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [call(case, "read_file", 1), "---", call(case, "read_file", 2), "CALL read_file {", "---", "FINAL: done"]
    calls = written(tmp_path, "\n".join(lines))
    found = replayed(capsys, spec, calls)
    assert (found["stop"], len(found["replies"]), found["played"], found["left"]) == ("malformed", 1, 2, 1)
    main(["replay", "--blueprint", spec, calls])
    assert "\nnot played: 1 of 3 turns, which follow the end of the episode\n" in capsys.readouterr().out


def test_calls_of_any_size_and_kind_are_answered(
    case: Blueprint, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = case.files[case.source_path]
    tricks = ["../spec.json", "src/../src/lib.rs", "/etc/passwd", "src\u2215lib.rs", "src/lib.rs\0", "src/\uff4cib.rs"]
    paths = [f"crates/{case.case_id}/{path}" for path in tricks]
    lines = [
        call(case, "apply_patch", 1, find=source, replace="x" * 1_000_000),
        call(case, "read_file", 2, file_path="y" * 1_000_000),
        *(call(case, "read_file", number, file_path=path) for number, path in enumerate(paths[:5], 3)),
        call(case, "cargo_test", 8),
    ]
    found = replayed(capsys, spec, written(tmp_path, "\n".join(lines)))
    assert found["stop"] is None
    assert [reply.split("\n")[1] for reply in found["replies"]] == ["status: failed"] * 8
    assert "the file would have 1000000 characters, at most 200000 are allowed" in found["replies"][0]
    assert all(len(reply) < 9000 for reply in found["replies"])
    last = replayed(capsys, spec, written(tmp_path, call(case, "read_file", 1, file_path=paths[5])))
    assert "no file at" in last["replies"][0]


def test_the_budget_and_the_toolbox_are_those_of_a_study(
    case: Blueprint, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first_line = case.files[case.source_path].split("\n")[0]
    patch = call(case, "apply_patch", 1, find=first_line, replace="fn (")
    lines = [patch, call(case, "cargo_test", 2), call(case, "cargo_test", 3)]
    calls = written(tmp_path, "\n".join(lines))
    study = str(REPO / "config" / "test" / "minute.yaml")  # two rounds, short diagnostics
    short, full = replayed(capsys, spec, calls, "--study", study), replayed(capsys, spec, calls)
    assert (short["stop"], len(short["replies"])) == ("budget", 2)
    assert (full["stop"], len(full["replies"])) == (None, 3)
    assert short["replies"][0] == full["replies"][0]
    assert len(short["replies"][1]) < len(full["replies"][1])


@pytest.mark.parametrize("family", ["test_only", "run_only"])
def test_where_the_task_is_a_call_the_grade_is_the_rollouts(
    family: str, judge: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (case,) = generate("all", 1, 5, {family: 1.0})  # type: ignore[dict-item]
    spec = tmp_path / "spec.json"
    spec.write_text(to_line(case), encoding="utf-8")
    domain = RustDomain(judge)
    for calls in ("FINAL: done", f"{call(case, case.cargo_tool, 1)}\nFINAL: done"):
        found = replayed(capsys, str(spec), written(tmp_path, calls))
        episode = domain.episode(case, domain.prompt(case), tool_rounds=8)
        for turn in calls.split("\n"):
            episode.act(turn)
            domain.answer([episode])
        (outcome,) = domain.outcomes([episode])
        assert [found["graded"]] == domain.grades([episode])
        assert (found["stop"], found["valid"], found["success"]) == (
            outcome["stop"],
            outcome["valid"],
            outcome["success"],
        )
        assert found["graded"] is found["success"] is not bool(found["reasons"])


def test_files_that_cannot_be_played_are_named(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "calls.txt: line 2: byte 10 is no UTF-8" in failure(capsys, spec, written(tmp_path, b"FINAL: ok\n\xff\n"))
    assert "calls.txt: holds no turn" in failure(capsys, spec, written(tmp_path, "\n---\n \n"))
    assert "No such file" in failure(capsys, spec, str(tmp_path / "none.txt"))
    assert "Is a directory" in failure(capsys, spec, str(tmp_path))


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "shown"),
    [(Terminal, b"a\\x1b]0;x\\x07\tb\\x0d\n\\u03b4\n"), (io.TextIOWrapper, b"a\x1b]0;x\x07\tb\r\n\\u03b4\n")],
)
def test_a_program_cannot_command_the_terminal(
    kind: type[io.TextIOWrapper], shown: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", kind(out, encoding="ascii"))
    show("a\x1b]0;x\x07\tb\r\nδ")
    assert out.getvalue() == shown


READ, TEST = 'CALL read_file {"id":"c1"}', 'CALL cargo_test {"id":"c2"}'


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (f"{READ}\n{TEST}\nFINAL: done\n", [READ, TEST, "FINAL: done"]),
        (f"\n\n{READ}\n\n\n{TEST}\n", [READ, TEST]),
        (f"First I read.\n{READ}\nNow I test.\n{TEST}", [f"First I read.\n{READ}\nNow I test.", TEST]),
        ("FINAL: it was\n\nthe sign.\n", ["FINAL: it was\n\nthe sign."]),
        ("FINAL: a\nFINAL: b", ["FINAL: a", "FINAL: b"]),
        ("I give up.\n", ["I give up."]),
        (f"{READ}\n{TEST}\n---\n\nFINAL: done\n---\n", [f"{READ}\n{TEST}", "FINAL: done"]),
        (f"---\n{READ} \n---  \r\n{TEST}", [f"{READ} ", TEST]),
        (" CALL x\nCALLY\n", [" CALL x\nCALLY"]),
        ("\n \n", []),
        ("", []),
    ],
)
def test_turns_are_separated_as_the_help_says(text: str, turns: list[str]) -> None:
    assert split_turns(text) == turns
