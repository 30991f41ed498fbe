"""A confined program: what comes back of it, and that it never runs without its limits. Escapes: conformance/."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.errors import SandboxError
from tiebreak.sandbox import bubblewrap, host
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.process import Result, run

REPOSITORY = Path(__file__).parents[2]
LIMITS = Limits(cpu_seconds=2, wall_seconds=20, memory_bytes=256 * MIB, file_bytes=MIB, tmpfs_bytes=4 * MIB)
SHELL = Box(environment=(("PATH", "/usr/bin:/bin"),))


def shell(script: str, box: Box = SHELL, limits: Limits = LIMITS) -> Result:
    return run(["/bin/bash", "-c", script], box, limits)


def test_output_and_exit_status_come_back() -> None:
    result = shell("echo out; echo err >&2; exit 3")
    assert (result.code, result.stdout, result.stderr, result.ok) == (3, b"out\n", b"err\n", False)


def test_a_signal_is_told_from_an_exit_status() -> None:
    assert (shell("kill -ABRT $$").code, shell("kill -ABRT $$").signal) == (None, 6)


def test_a_kill_is_not_the_programs_own_ending() -> None:
    result = shell("kill -KILL $$")
    assert (result.signal, result.timed_out, result.late) == (9, False, True)


def test_a_report_comes_back_beside_the_output() -> None:
    result = shell("echo out; echo told >&$TIEBREAK_REPORT", replace(SHELL, report=True))
    assert (result.stdout, result.report) == (b"out\n", b"told\n")
    assert shell("echo ${TIEBREAK_REPORT-none}").stdout == b"none\n"


def test_a_sleeper_keeps_what_it_printed() -> None:
    result = shell("echo begun; sleep 60", limits=replace(LIMITS, wall_seconds=1))
    assert result.timed_out and result.stdout == b"begun\n"


def test_a_program_has_its_limits_from_its_start() -> None:
    kinds = "Hc Sc Hf Sf Hn Sn St Ht Sv Hv"
    result = shell(f"for kind in {kinds}; do ulimit -$kind; done")
    blocks, kib = LIMITS.file_bytes // 1024, LIMITS.memory_bytes // 1024
    expected = [0, 0, blocks, blocks, LIMITS.open_files, LIMITS.open_files]
    expected += [LIMITS.cpu_seconds, LIMITS.cpu_seconds + 1, kib, kib]
    assert [int(line) for line in result.stdout.split()] == expected


def test_nothing_runs_without_its_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(limits: Limits, process: int) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Limits, "apply", refuse)
    box = replace(SHELL, writable=((str(tmp_path), "/mnt"),))
    with pytest.raises(SandboxError, match="limits of a sandbox cannot be set"):
        shell("touch /mnt/ran", box)
    assert not (tmp_path / "ran").exists()


def test_output_that_no_pipe_holds_comes_whole() -> None:
    result = shell("head -c 200000 /dev/zero | tr '\\0' a; head -c 200000 /dev/zero | tr '\\0' b >&2")
    assert (result.ok, result.stdout, result.stderr) == (True, b"a" * 200000, b"b" * 200000)


JUDGE = """
import sys
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import Limits
from tiebreak.sandbox.process import run
box = Box(writable=((sys.argv[1], "/mnt"),), environment=(("PATH", "/usr/bin:/bin"),))
script = "echo begun >/mnt/begun; setsid -f sleep 60." + sys.argv[2] + "; sleep 60." + sys.argv[2]
run(["/bin/bash", "-c", script], box, Limits())
"""


def test_a_sandbox_ends_with_its_judge(tmp_path: Path) -> None:
    mark = f"{os.getpid():09}"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
    judge = subprocess.Popen([sys.executable, "-c", JUDGE, str(tmp_path), mark], env=environment)
    while not (tmp_path / "begun").exists():
        assert judge.poll() is None
        time.sleep(0.02)
    judge.kill()
    judge.wait()
    deadline = time.monotonic() + 30
    while (left := carrying(f"60.{mark}")) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


def carrying(mark: str) -> list[int]:
    """The processes of this machine whose command lines hold `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # it ended meanwhile
    return found


def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap.executable.cache_clear()
    try:
        with pytest.raises(SandboxError, match="apt install bubblewrap.*TIEBREAK_SANDBOX=host and TIEBREAK_I_KNOW"):
            run(["/bin/true"], SHELL, LIMITS)
    finally:
        bubblewrap.executable.cache_clear()


def test_a_sandbox_that_cannot_be_made_is_an_error_and_no_result() -> None:
    with pytest.raises(SandboxError, match="cannot make its sandbox"):
        run(["/bin/true"], Box(read_only=(("/no/such/folder", "/x"),)), LIMITS)


def test_the_host_needs_both_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.CHOICE, "host")
    assert not host.allowed()
    monkeypatch.setenv(host.OATH, "1")
    assert host.allowed()
    assert f"{host.CHOICE}=host" in bubblewrap.ON_THE_HOST and f"{host.OATH}=1" in bubblewrap.ON_THE_HOST
    assert shell("echo $HOME:$PATH").stdout == b":/usr/bin:/bin\n"
