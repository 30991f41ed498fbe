"""Start a confined program, feed its limits, collect its output, and leave nothing of it behind.

bubblewrap makes the sandbox and then waits at a gate, before anything of the program is started, until its limits are
on it (and it is in its cgroup, where there are any): that costs less than a `prlimit` program in front of each.
"""

import contextlib
import io
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tiebreak.errors import SandboxError
from tiebreak.sandbox import bubblewrap, cgroups, host, seccomp
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.census import Census
from tiebreak.sandbox.limits import Limits

CHUNK = 1 << 16
MOMENT_SECONDS = 0.01
GRACE_SECONDS = 60.0
REPORT = "TIEBREAK_REPORT"
_FIRST = re.compile(rb'"child-pid": (\d+)')  # bubblewrap writes this in one piece

Pipe = tuple[io.FileIO, io.FileIO]  # the reading and the writing end


@dataclass(frozen=True)
class Result:
    """How a confined program ended. `code` is its exit status, or None where `signal` ended it.

    timed_out: a limit on its time ended it, or that on its threads where they are counted while it runs.
    late: its end is not its own, and may be another one the next time: the wall limit, that count, or a kill by the
    kernel (for want of memory, or for the CPU time of a program that ignores the signal for it).
    report: what it wrote to the box's report pipe.
    """

    code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    late: bool = False
    report: bytes = b""

    @property
    def ok(self) -> bool:
        """Exit status zero, in time, with all of its output kept."""
        return self.code == 0 and not self.timed_out and not self.truncated


def run(argv: Sequence[str], box: Box, limits: Limits) -> Result:
    """Run `argv` in `box` under `limits`; its whole process tree is gone when this returns, however it ended.

    SandboxError where the sandbox itself cannot be made; a program that fails, floods or hangs is a Result.
    """
    if not box.report:
        return _run(argv, box, limits, None)
    with _pipe() as pipe:
        told = (*box.environment, (REPORT, str(pipe[1].fileno())))
        return _run(argv, replace(box, environment=told), limits, pipe)


@dataclass(frozen=True)
class Started:
    """A confined program that runs. top: its first process, for a `Census`; told: what bubblewrap says of it."""

    child: subprocess.Popen[bytes]
    top: int
    told: io.FileIO | None

    def check(self, code: int | None, stderr: bytes) -> None:
        """SandboxError if what ended with `code` was bubblewrap itself, before there was a program."""
        # it tells an exit status only of a program that it started; what a program prints is no proof
        refused = code == 1 and stderr.startswith(b"bwrap: ")
        if refused and self.told is not None and b"exit-code" not in self.told.readall():
            raise SandboxError(bubblewrap.refusal(stderr.decode(errors="replace")))


def _run(argv: Sequence[str], box: Box, limits: Limits, report: Pipe | None) -> Result:
    with started(argv, box, limits, [] if report is None else [report[1].fileno()]) as running:
        result = _result(running.child, running.top, limits, report)
        running.check(result.code, result.stderr)
        return result


@contextlib.contextmanager
def started(argv: Sequence[str], box: Box, limits: Limits, given: Sequence[int] = ()) -> Iterator[Started]:
    """Start `argv` in `box` under `limits`, with the descriptors `given`; its whole tree is gone at the end.

    Linux ends a sandbox with the *thread* that started it: one that outlives a `with` needs a thread that does as well.
    """
    with (_on_host if host.allowed() else _confined)(argv, box, limits, given) as running:
        yield running


@contextlib.contextmanager
def _on_host(argv: Sequence[str], box: Box, limits: Limits, given: Sequence[int]) -> Iterator[Started]:
    child = _start(host.command(argv, box, limits), {**host.options(box), "pass_fds": given})
    try:
        yield Started(child, child.pid, None)
    finally:
        _end(child)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def _confined(argv: Sequence[str], box: Box, limits: Limits, given: Sequence[int]) -> Iterator[Started]:
    with cgroups.group(limits) as group, _pipe() as (info, told), _pipe() as (gate, opener), _filter(box) as filter_fd:
        inner = [*_process_limit(limits), *argv] if box.forks else list(argv)
        words = bubblewrap.command(inner, box, limits.tmpfs_bytes, filter_fd)
        words[1:1] = ["--json-status-fd", str(told.fileno()), "--block-fd", str(gate.fileno())]
        passed = [told.fileno(), gate.fileno(), *([] if filter_fd is None else [filter_fd]), *given]
        # the first process inside shows its environment in /proc
        child = _start(words, {"pass_fds": passed, "env": {}})
        first: tuple[int, int] | None = None
        try:
            told.close()
            gate.close()
            _limit(child.pid, limits)  # should this process be killed now, the sandbox goes on under limits
            first = _first_process(info)
            if first is not None:  # else bubblewrap has failed and says why
                _limit(first[0], limits)
                cgroups.enter(group, first[0])
                with contextlib.suppress(BrokenPipeError):
                    opener.write(b"1")
            yield Started(child, child.pid if first is None else first[0], info)
        finally:
            _end(child)
            _end_sandbox(_first_process(info) if first is None else first)


@contextlib.contextmanager
def _pipe() -> Iterator[Pipe]:
    reading, writing = os.pipe()
    with io.FileIO(reading, "r") as reader, io.FileIO(writing, "w") as writer:
        yield reader, writer


@contextlib.contextmanager
def _filter(box: Box) -> Iterator[int | None]:
    """A descriptor of the system call filter of its own (a shared one shares its read position), where there is one."""
    shared = seccomp.filter_descriptor(forks=box.forks)
    if shared is None:
        yield None
        return
    descriptor = os.open(f"/proc/self/fd/{shared}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _process_limit(limits: Limits) -> list[str]:
    return ["/usr/bin/prlimit", f"--nproc={limits.processes}"] if os.path.exists("/usr/bin/prlimit") else []


def _limit(process: int, limits: Limits) -> None:
    try:
        limits.apply(process)
    except ProcessLookupError:
        return  # bubblewrap failed meanwhile
    except (OSError, ValueError) as problem:
        raise SandboxError(
            f"the limits of a sandbox cannot be set ({problem}); compare `ulimit -Ha` with {limits}, and use a bwrap "
            "that is not setuid"
        ) from problem


def _start(words: Sequence[str], options: dict[str, object]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,  # type: ignore[call-overload]
        )
    except OSError as problem:
        raise SandboxError(
            f"cannot start {words[0]} ({problem.strerror}); install util-linux and bubblewrap"
        ) from problem


def _result(child: subprocess.Popen[bytes], top: int, limits: Limits, report: Pipe | None) -> Result:
    """Follow it to its end, to the wall limit or to the output limit, whichever is first. top: see `Census`."""
    (out, err, *rest), late, truncated = _follow(child, top, limits, report)
    _end(child)
    code, number = _status(child.returncode)
    timed_out = late or number == signal.SIGXCPU
    late |= number == signal.SIGKILL and not truncated
    result = Result(code, number, out, err, timed_out, truncated, late, *rest)
    return replace(result, code=None, signal=signal.SIGKILL) if truncated or timed_out else result


def _status(returncode: int) -> tuple[int | None, int | None]:
    """(exit status, signal): bubblewrap reports the signal that ended its program as 128 + number."""
    if returncode < 0:
        return None, -returncode
    if 128 < returncode <= 128 + 64:
        return None, returncode - 128
    return returncode, None


def _follow(
    child: subprocess.Popen[bytes], top: int, limits: Limits, report: Pipe | None
) -> tuple[list[bytes], bool, bool]:
    """stdout, stderr and the report (where there is one); whether it was ended for its wall time or its crowd of
    threads, and whether for its output.

    What is printed waits in the pipes until the end, or for a moment: to wake at every line costs more than a short
    program does.
    """
    assert child.stdout is not None and child.stderr is not None
    streams = [child.stdout, child.stderr, *([] if report is None else [report[0]])]
    kept = {stream.fileno(): bytearray() for stream in streams}
    for descriptor in kept:
        os.set_blocking(descriptor, False)
    deadline = time.monotonic() + limits.wall_seconds
    census = Census(top, limits.processes + cgroups.BESIDES_PROCESSES)
    ended = late = truncated = False
    with _descriptor_of(child.pid) as process:
        while not (ended or late or truncated):
            ended = _readable(process, MOMENT_SECONDS)
            for stream in streams:
                over = _drain(stream.fileno(), kept[stream.fileno()], limits.output_bytes)
                if report is not None and stream is not report[0]:
                    del kept[stream.fileno()][limits.output_bytes :]  # beside a report, nobody asks what was printed
                else:
                    truncated |= over
            late = not ended and (time.monotonic() > deadline or census.crowded())
    return [bytes(text[: limits.output_bytes]) for text in kept.values()], late, truncated


def _drain(descriptor: int, text: bytearray, most: int) -> bool:
    """Add what there is to read; whether that makes it more than `most`."""
    with contextlib.suppress(BlockingIOError):
        while len(text) <= most and (piece := os.read(descriptor, CHUNK)):
            text += piece
    return len(text) > most


@contextlib.contextmanager
def _descriptor_of(process: int) -> Iterator[int]:
    descriptor = os.pidfd_open(process)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _readable(descriptor: int, seconds: float) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill it if it still runs, and close what is ours of it."""
    child.kill()  # nothing happens where it has ended
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _first_process(info: io.FileIO) -> tuple[int, int] | None:
    """(id, descriptor) of pid 1 of the sandbox, once bubblewrap has said which it is; None where there was none."""
    said = b""
    while (found := _FIRST.search(said)) is None:
        piece = info.read(CHUNK)
        if not piece:
            return None
        said += piece
    try:
        process = int(found.group(1))
        return process, os.pidfd_open(process)
    except ProcessLookupError:
        return None


def _end_sandbox(first: tuple[int, int] | None) -> None:
    """Kill pid 1 of the sandbox and wait for it; the kernel lets it end only after all others in there."""
    if first is None:
        return
    try:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(first[1], signal.SIGKILL)
        if not _readable(first[1], GRACE_SECONDS):
            raise SandboxError("a sandbox did not end within a minute of its kill; look for bwrap processes")
    finally:
        os.close(first[1])
