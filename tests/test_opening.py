"""An environment from plain arguments: what a study gives, what is made where nothing is given, what is refused."""

from pathlib import Path
from typing import Any

import pytest

from tiebreak import chat, opening, tables
from tiebreak.domains.rust.blueprints import dump_blueprints
from tiebreak.domains.rust.episode import prompt
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.errors import ConfigError, DataError
from tiebreak.opening import environment
from tiebreak.prompts import prompt_rows


@pytest.fixture
def files(cases: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Cases, and a table of prompts of two of them, with a system message of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    dump_blueprints(tmp_path / "cases.jsonl", cases)
    domain = environment(cases=str(tmp_path / "cases.jsonl")).domain
    tables.write_table(tmp_path / "pool.parquet", prompt_rows(domain, cases[1:3], "Be brief."), tables.PROMPTS)
    return {"cases": str(tmp_path / "cases.jsonl"), "prompts": str(tmp_path / "pool.parquet")}


def test_a_studys_arguments_are_taken_as_they_stand(files: dict[str, str], cases: list[Any]) -> None:
    toolbox = {"read_limit": 900, "output_limit": 500, "diagnostics": "short"}
    reward = {"compiled": 1.5, "profile": "published"}
    found = environment(**files, timeout=30, max_tool_rounds=4, seed=9, arm="mine", reward=reward, toolbox=toolbox)
    assert set(found.tasks) == {case.case_id for case in cases[1:3]}, "the prompts say which cases"
    (row,) = (row for row in found.rows() if row["info"]["case_id"] == cases[1].case_id)
    assert chat.prompt(row["prompt"]) == chat.prompt(prompt(cases[1], "Be brief."))
    domain, played = found.domain, found.open(cases[1].case_id)
    assert (domain.read_limit, domain.output_limit, domain.judge.diagnostics) == (900, 500, "short")
    assert domain.judge.limits.wall_seconds == 30, "time on the wall is what the argument bounds"
    assert domain.judge.limits.cpu_seconds == opening.Limits().cpu_seconds, "CPU time is every stage's"
    assert domain.tables["mine"].compiled == 1.5 and domain.tables["mine"].profile == "published"
    for number in range(5):
        played.episode.act(f'CALL read_file {{"id":"{number}","file_path":"x"}}')
        domain.answer([played.episode] if played.episode.stop is None else [])
    assert played.episode.stop == "budget"


def test_without_prompts_every_case_has_the_domains_own(files: dict[str, str], cases: list[Any]) -> None:
    found = environment(cases=files["cases"])
    assert [row["prompt"] for row in found.rows()] == [prompt(case) for case in cases]
    assert found.arm == "sparse" and found.domain.tables["sparse"] == PUBLISHED_TABLES["sparse"]


def test_without_cases_some_are_generated_and_played_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "CASES", 3)
    found = environment(seed=3)
    assert 1 <= len(found.tasks) <= 3
    assert list(environment(seed=3).tasks) == list(found.tasks) != list(environment(seed=4).tasks)
    assert (tmp_path / "tiebreak" / "verdicts").is_dir() and not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"arm": "mine"}, "arm mine has no reward table; give reward, or one of sparse, dense, compiler"),
        ({"reward": {"compild": 1}}, "argument reward.compild is 1"),
        ({"reward": {"phase": "lots"}}, "argument reward.phase is 'lots'"),
        ({"toolbox": {"read_limit": 5}}, "argument toolbox.read_limit is 5"),
    ],
)
def test_wrong_arguments_are_named(files: dict[str, str], arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        environment(**{"cases": files["cases"], **arguments})


def test_files_that_do_not_fit_are_named(files: dict[str, str], cases: list[Any], tmp_path: Path) -> None:
    for name in ("cases", "prompts"):
        with pytest.raises(ConfigError, match=f"argument {name} is 'nowhere': there is no such file"):
            environment(**{**files, name: "nowhere"})
    dump_blueprints(tmp_path / "few.jsonl", cases[:2])
    with pytest.raises(DataError, match=f"case {cases[2].case_id} is not among the cases"):
        environment(cases=str(tmp_path / "few.jsonl"), prompts=files["prompts"])
