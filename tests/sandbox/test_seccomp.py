"""The system call filter, run by a small interpreter of its instructions, for both architectures."""

import platform
import struct
from collections.abc import Iterator

import pytest

from tiebreak.sandbox import seccomp
from tiebreak.sandbox.seccomp import ALLOW, EAFNOSUPPORT, ENOSYS, EPERM, ERRNO, MACHINES, REFUSED

CLONE_THREAD_LIBC = 0x3D0F00  # what pthread_create passes
SIGCHLD, VFORK = 17, 0x4000 | 0x100 | 17
X86_64 = {"read": 0, "write": 1, "mmap": 9, "futex": 202, "execve": 59, "exit_group": 231, "prlimit64": 302}
AARCH64 = {"read": 63, "write": 64, "mmap": 222, "futex": 98, "execve": 221, "exit_group": 94, "prlimit64": 261}


def interpret(program: bytes, call: bytes) -> int:
    """What a filter returns for a call (number, architecture, instruction pointer, six arguments)."""
    loaded, at = 0, 0
    while True:
        code, if_true, if_false, k = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == seccomp.RETURN:
            return int(k)
        if code == seccomp.LOAD:
            (loaded,) = struct.unpack_from("=I", call, k)
            continue
        tests = {seccomp.JUMP_EQUAL: loaded == k, seccomp.JUMP_AT_LEAST: loaded >= k}
        at += if_true if tests.get(code, bool(loaded & k)) else if_false


class Filter:
    """A filter of one architecture."""

    def __init__(self, machine: str, forks: bool) -> None:
        program = seccomp.program(forks=forks)
        assert program is not None
        self.machine, self.forks, self.program = MACHINES[machine], forks, program
        self.column = self.machine.column

    def __call__(self, number: int, first: int = 0, audit: int | None = None) -> int:
        audit = self.machine.audit if audit is None else audit
        return interpret(self.program, struct.pack("=IIQ6Q", number, audit, 0, first, 0, 0, 0, 0, 0))


@pytest.fixture(params=[("x86_64", True), ("x86_64", False), ("aarch64", True), ("aarch64", False)])
def judge(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filter]:
    machine, forks = request.param
    monkeypatch.setattr(platform, "machine", lambda: machine)
    seccomp.program.cache_clear()
    yield Filter(machine, forks)
    seccomp.program.cache_clear()


def test_every_listed_call_is_refused(judge: Filter) -> None:
    found = {name: judge(numbers[judge.column]) for name, numbers in REFUSED.items()}
    assert found == dict.fromkeys(REFUSED, ERRNO | EPERM)


def test_ordinary_calls_are_allowed(judge: Filter) -> None:
    known = AARCH64 if judge.column else X86_64
    assert {name: judge(number) for name, number in known.items()} == dict.fromkeys(known, ALLOW)


def test_threads_are_allowed_and_processes_only_where_a_box_forks(judge: Filter) -> None:
    assert judge(judge.machine.clone, CLONE_THREAD_LIBC) == ALLOW
    expected = ALLOW if judge.forks else ERRNO | EPERM
    assert judge(judge.machine.clone, SIGCHLD) == expected
    assert judge(judge.machine.clone, VFORK) == expected
    assert {judge(number) for number in judge.machine.forks} <= {expected}
    assert judge(judge.machine.clone3) == ERRNO | ENOSYS


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_no_namespace_is_made_by_clone(judge: Filter, flag: int) -> None:
    assert judge(judge.machine.clone, flag | SIGCHLD) == ERRNO | EPERM
    assert judge(judge.machine.clone, flag | CLONE_THREAD_LIBC) == ERRNO | EPERM


def test_only_families_that_a_network_namespace_divides(judge: Filter) -> None:
    allowed = [family for family in range(64) if judge(judge.machine.socket, family) == ALLOW]
    assert allowed == [1, 2, 10]
    assert judge(judge.machine.socket, 40) == ERRNO | EAFNOSUPPORT
    assert judge(judge.machine.socket, 40 | 1 << 32) == ERRNO | EAFNOSUPPORT  # the kernel sees the low half alone


def test_other_calling_conventions_are_refused(judge: Filter) -> None:
    assert judge(0, audit=0x40000003) == ERRNO | EPERM
    assert judge(seccomp.X32 | 1) == ERRNO | EPERM


def test_an_unknown_architecture_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    seccomp.program.cache_clear()
    assert seccomp.program(forks=True) is None
    seccomp.program.cache_clear()
