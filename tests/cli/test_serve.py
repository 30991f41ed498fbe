"""`tiebreak serve`: keeping episodes, and what it starts. The server itself is tested in tests/environments/fathom."""

import sys
from pathlib import Path

import pytest

from tiebreak import cli
from tiebreak.cli import serve
from tiebreak.errors import ConfigError


def test_scripted_episodes_are_kept_and_kept_again_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    assert cli.main(["serve", "--scripted", "--keep", str(first)]) == 0
    assert capsys.readouterr().out == f"{first}: 8 episodes\n"
    assert cli.main(["serve", "--demo", str(first), "--keep", str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()


def test_what_holds_no_episodes_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--demo", str(tmp_path), "--keep", str(tmp_path / "x")]) == 2
    assert "no evaluation with episodes in it" in capsys.readouterr().err
    assert cli.main(["serve", "--scripted"]) == 2
    assert cli.main(["serve", "--python", str(tmp_path / "none")]) == 2
    assert "cannot be run (No such file or directory); name another with --python" in capsys.readouterr().err


def test_a_python_without_the_packages_and_a_port_that_is_none_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--python", "/bin/false"]) == 2
    assert "/bin/false has no openenv; install requirements/openenv.txt there" in capsys.readouterr().err
    assert cli.main(["serve", "--port", "0"]) == 2
    assert "--port 0: is no port" in capsys.readouterr().err


def test_the_server_is_started_by_the_python_that_was_named(tmp_path: Path) -> None:
    """A stand-in for Python writes down how it was called; it is executed in place of the command."""
    import subprocess

    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$PYTHONPATH" "$TIEBREAK_DEMO"\n')
    python.chmod(0o755)
    command = [sys.executable, "-m", "tiebreak.cli", "serve", "--python", str(python), "--port", "81", "--demo", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    *words, paths, demo = done.stdout.splitlines()
    assert words == ["-m", "fathom_env.server.app", "--host", "127.0.0.1", "--port", "81"]
    assert demo == str(tmp_path)
    assert all(
        (Path(folder) / name).is_dir()
        for folder, name in zip(paths.split(":"), ("tiebreak", "fathom_env"), strict=True)
    )


def test_an_environment_is_made_anew_for_another_lock_and_a_failure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements" / "openenv.txt"
    lock.parent.mkdir()
    lock.write_text("# nothing is needed\n")
    monkeypatch.setattr(serve, "ROOT", tmp_path)
    python = serve.environment(tmp_path / ".venv-openenv")
    made = python.stat().st_mtime_ns
    assert serve.environment(tmp_path / ".venv-openenv").stat().st_mtime_ns == made
    lock.write_text("no-such-package==1 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ConfigError, match=r"\.venv-openenv cannot be made: .*no-such-package"):
        serve.environment(tmp_path / ".venv-openenv")
    assert not (tmp_path / ".venv-openenv" / "stamp").exists()
