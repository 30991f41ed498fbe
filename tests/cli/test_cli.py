import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tiebreak import cli
from tiebreak.cli import doctor
from tiebreak.errors import ConfigError

REPO = Path(__file__).resolve().parents[2]
GIB = 1 << 30


def tiebreak(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(REPO / "src")} | environment
    command = [sys.executable, "-m", "tiebreak.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def path_without(folder: Path, *absent: str) -> str:
    """A PATH of the tools that doctor asks for, but the `absent`."""
    for name in {"true", "cc", "cargo", "rustc", "bwrap", "prlimit"} - set(absent):
        (folder / name).symlink_to(shutil.which(name) or f"/missing/{name}")
    return str(folder)


def test_help_lists_every_command() -> None:
    done = tiebreak("--help")
    assert done.returncode == 0
    assert [
        command for command in cli.COMMANDS if f"\n  {command}" not in f"\n{done.stdout}".replace("    ", "  ")
    ] == []


def test_no_command_and_unknown_command_are_usage_errors() -> None:
    for arguments in ((), ("nonsense",)):
        done = tiebreak(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("usage: tiebreak")


def test_a_command_imports_no_other() -> None:
    code = (
        "import sys\nfrom tiebreak import cli\ntry:\n    cli.main(['doctor', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('tiebreak.cli.') or name in ('torch', 'pandas')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPO / "src")}
    )
    assert done.stdout.splitlines()[-1] == "['tiebreak.cli.doctor']"


def test_an_error_of_ours_is_its_text_alone() -> None:
    done = tiebreak("doctor", "--study", "no-such-study")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("tiebreak: ")
    assert "no-such-study" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error_message() -> None:
    read, write = os.pipe()
    os.close(read)
    environment = os.environ | {"PYTHONPATH": str(REPO / "src")}
    command = [sys.executable, "-m", "tiebreak.cli", "doctor"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_doctor_on_this_machine() -> None:
    done = tiebreak("doctor", "--json")
    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)}
    assert {"python", "torch", "gpus", "rustc", "cargo", "linker", "sandbox", "cores", "memory", "disk"} <= set(
        findings
    )
    assert done.returncode == int(any(finding["state"] == "missing" for finding in findings.values()))
    assert findings["python"]["found"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert all(
        finding["mend"] or finding["state"] == "ok" for finding in findings.values() if finding["subject"] != "sandbox"
    )


def test_doctor_misses_what_is_not_there(tmp_path: Path) -> None:
    done = tiebreak("doctor", "--json", PATH=path_without(tmp_path, "cargo", "bwrap"))
    states = {finding["subject"]: finding["state"] for finding in json.loads(done.stdout)}
    assert done.returncode == 1
    assert (states["cargo"], states["sandbox"]) == ("missing", "missing")
    assert (states["linker"], states["torch"]) == ("ok", "ok")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("rustc 1.95.0 (59807616e 2026-04-14)", "ok"),
        ("rustc 1.95.3", "ok"),
        ("rustc 1.63.0", "warning"),
        ("rustc 2.0.0-nightly (abc 2027-01-01)", "warning"),
        ("rustc 1.55.0", "missing"),
        ("error: no default toolchain", "missing"),
    ],
)
def test_rust_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, state: str) -> None:
    program = tmp_path / "rustc"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.look_at_rust("rustc").state == state


def test_memory_and_disk_below_what_the_laptop_study_takes() -> None:
    assert [doctor.look_at_memory(size * GIB).state for size in (2, 8)] == ["warning", "ok"]
    assert [doctor.look_at_disk(size * GIB).state for size in (1, 80)] == ["warning", "ok"]


def test_too_few_gpus_are_missing() -> None:
    findings = {finding.subject: finding for finding in doctor.look_at_torch(gpus_needed=1000)}
    assert findings["gpus"].state == "missing"
    assert "1000" in findings["gpus"].mend


def test_rendering_shows_state_found_and_mend() -> None:
    text = doctor.render(doctor.Finding("disk", "warning", "1.0 GiB free", "make room"))
    first, second = text.splitlines()
    assert first.split(maxsplit=2) == ["warning", "disk", "1.0 GiB free"]
    assert second.strip() == "make room"


def test_main_returns_what_run_returns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(arguments: argparse.Namespace) -> int:
        raise ConfigError("x.yaml: y is 1; expected 2")

    monkeypatch.setattr(doctor, "run", lambda arguments: 1)
    assert cli.main(["doctor"]) == 1
    monkeypatch.setattr(doctor, "run", refuse)
    assert cli.main(["doctor"]) == 2
    assert capsys.readouterr().err == "tiebreak: x.yaml: y is 1; expected 2\n"
