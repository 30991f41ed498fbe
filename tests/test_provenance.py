"""A record names the pinned versions and the locks of the environment that it was made in."""

import tomllib
from pathlib import Path

import pytest

from tiebreak.digest import file_digest
from tiebreak.provenance import surroundings

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("torch", "locks"), [("cpu", ["project.txt"]), ("cuda", ["project.txt", "cuda.txt"])])
def test_a_record_says_what_was_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str, locks: list[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TIEBREAK_TORCH", torch)
    found = surroundings(tmp_path)
    names = [*(f"requirements/{name}" for name in locks), "flake.lock", "pyproject.toml"]
    assert found["locks"] == {name: file_digest(ROOT / name) for name in names}
    assert found["pinned"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["tiebreak"]


def test_outside_of_the_project_nothing_is_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = surroundings(tmp_path)
    assert (found["locks"], found["pinned"]) == ({}, {})
