"""The installer's commands; what they do needs network and a machine with GPUs."""

import shutil
from pathlib import Path

import pytest

from tiebreak.errors import TrainingError
from tiebreak.installing import execute
from tiebreak.sections.prime_rl import COMMIT
from tiebreak.training.prime_rl.install import commands, install


def test_the_commit_and_its_lock_are_what_is_installed(tmp_path: Path) -> None:
    found = commands(tmp_path / "tool", COMMIT, tmp_path)
    assert found[1][-1] == COMMIT and "--detach" in found[1]
    sync = next(command for command in found if command[:2] == ["uv", "sync"])
    assert "--frozen" in sync and sync[sync.index("--python") + 1] == "3.12"
    ours = found[-2]
    assert "--no-deps" in ours and str(tmp_path / "environments/glyph") in ours
    assert found[-1] == [str(tmp_path / "tool/.venv/bin/rl"), "--help"], "it is tried before it counts as installed"


def test_a_machine_without_uv_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").symlink_to(shutil.which("true") or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TrainingError, match="uv is not on PATH, .* install uv"):
        install(tmp_path / "tool", COMMIT, tmp_path, tmp_path / "installed.json")
    assert not (tmp_path / "installed.json").exists()


def test_a_command_that_fails_is_named_with_its_last_words(capfd: pytest.CaptureFixture[str]) -> None:
    execute(["sh", "-c", "echo fine"], TrainingError)
    assert "fine" in capfd.readouterr().out
    with pytest.raises(TrainingError, match="sh -c .*: status 3: no such thing"):
        execute(["sh", "-c", "echo no such thing >&2; exit 3"], TrainingError)
