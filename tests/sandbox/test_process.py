"""The sandbox holds: what a program inside can see, use and leave behind."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.errors import SandboxError
from tiebreak.sandbox import bubblewrap, host, probe
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.process import Result, run

LIMITS = Limits(cpu_seconds=2, wall_seconds=20, memory_bytes=256 * MIB, file_bytes=MIB, tmpfs_bytes=4 * MIB)
SHELL = Box(environment=(("PATH", "/usr/bin:/bin"),))


def shell(script: str, box: Box = SHELL, limits: Limits = LIMITS) -> Result:
    return run(["/bin/bash", "-c", script], box, limits)


def command_lines() -> list[str]:
    """The command lines of all processes of this machine."""
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                lines.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue  # it ended meanwhile
    return lines


def test_output_and_exit_status_come_back() -> None:
    result = shell("echo out; echo err >&2; exit 3")
    assert (result.code, result.stdout, result.stderr, result.ok) == (3, b"out\n", b"err\n", False)


def test_a_signal_is_told_from_an_exit_status() -> None:
    assert (shell("kill -ABRT $$").code, shell("kill -ABRT $$").signal) == (None, 6)


def test_nothing_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-token")
    assert b"secret-token" not in shell("env").stdout


def test_no_descriptor_is_inherited(tmp_path: Path) -> None:
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        listed = shell("ls /proc/self/fd", replace(SHELL, proc=True)).stdout.split()
        assert str(file.fileno()).encode() not in [name for name in listed if int(name) > 3]


@pytest.mark.parametrize("path", ["/etc/passwd", "/root", "/home", "/work", "/var", "/sys", "/proc/self"])
def test_the_hosts_files_are_not_there(path: str) -> None:
    assert shell(f"test -e {path}").code == 1


def test_there_is_no_network() -> None:
    script = "cat /proc/net/dev; exec 3<>/dev/tcp/127.0.0.1/1 || exit 7"
    result = shell(script, replace(SHELL, proc=True))
    interfaces = [line.split(b":")[0].strip() for line in result.stdout.splitlines() if b":" in line]
    assert interfaces in ([b"lo"], [])
    assert result.code != 0


def test_user_namespaces_do_not_nest() -> None:
    assert shell("unshare --user true").code != 0


def test_there_are_no_capabilities() -> None:
    result = shell("grep CapEff /proc/self/status", replace(SHELL, proc=True))
    assert result.stdout.split() == [b"CapEff:", b"0000000000000000"]


def test_the_system_is_read_only() -> None:
    assert shell("touch /usr/x || touch /x || mkdir /y").code != 0


def test_the_one_writable_place_is_small() -> None:
    result = shell("for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero >/tmp/$i || exit 9; done")
    assert result.code == 9


def test_a_file_has_a_largest_size() -> None:
    assert not shell("head -c 2000000 /dev/zero >/tmp/large").ok


def test_a_flood_is_capped_and_flagged() -> None:
    result = shell("yes")
    assert result.truncated and not result.ok
    assert len(result.stdout) == LIMITS.output_bytes


def test_a_loop_ends_by_its_cpu_time() -> None:
    result = shell("while :; do :; done", limits=replace(LIMITS, cpu_seconds=1))
    assert result.timed_out and not result.ok


def test_a_sleeper_ends_by_the_wall_limit() -> None:
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


def test_a_program_that_closes_its_output_may_go_on() -> None:
    assert shell("exec >&- 2>&-; sleep 0.3; exit 5").code == 5


def test_output_that_no_pipe_holds_comes_whole() -> None:
    result = shell("head -c 200000 /dev/zero | tr '\\0' a; head -c 200000 /dev/zero | tr '\\0' b >&2")
    assert (result.ok, result.stdout, result.stderr) == (True, b"a" * 200000, b"b" * 200000)


@pytest.mark.parametrize("ending", ["sleep 1234567", "exit 0"])
def test_a_daemon_does_not_outlive_the_call(ending: str) -> None:
    mark = f"98765{os.getpid()}"
    result = shell(
        f"setsid -f sleep {mark} </dev/null >/dev/null 2>&1; {ending}", limits=replace(LIMITS, wall_seconds=1)
    )
    assert result.timed_out == (ending != "exit 0")
    assert not [line for line in command_lines() if mark in line]


def test_a_memory_bomb_fails_alone() -> None:
    result = shell("x=$(head -c 600000000 /dev/zero | tr '\\0' a); echo ${#x}")
    assert b"600000000" not in result.stdout


def test_a_program_without_forks_starts_no_process() -> None:
    result = shell("(echo child)", replace(SHELL, forks=False))
    assert b"child" not in result.stdout and not result.ok


def test_a_fork_bomb_is_over_with_the_call() -> None:
    mark = f"bomb{os.getpid()}"
    script = f"f() {{ : {mark}; f | f & }}; f; sleep 30"
    shell(script, replace(SHELL, forks=False), replace(LIMITS, wall_seconds=1))
    assert not [line for line in command_lines() if mark in line]


def test_many_children_are_over_with_the_call() -> None:
    mark = f"98764{os.getpid()}"
    result = shell(f"for i in $(seq 50); do sleep {mark} & done; sleep 30", limits=replace(LIMITS, wall_seconds=2))
    assert result.timed_out
    assert not [line for line in command_lines() if mark in line]


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


def test_the_probe_finds_what_holds_here() -> None:
    found = {entry.name: entry.holds for entry in probe.probe()}
    assert all(found[name] for name in ("confinement", "no network", "CPU time", "file size and tmpfs", "output"))
