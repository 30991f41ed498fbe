"""Start a confined program, feed its limits, collect its output, and leave nothing of it behind."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiebreak.errors import SandboxError
from tiebreak.sandbox import bubblewrap, host, seccomp
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import Limits

CHUNK = 1 << 16
GRACE_SECONDS = 60.0


@dataclass(frozen=True)
class Result:
    """How a confined program ended. `code` is its exit status, or None where `signal` ended it."""

    code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False

    @property
    def ok(self) -> bool:
        """Exit status zero, in time, with all of its output kept."""
        return self.code == 0 and not self.timed_out and not self.truncated


def run(argv: Sequence[str], box: Box, limits: Limits) -> Result:
    """Run `argv` in `box` under `limits`; its whole process tree is gone when this returns, however it ended.

    SandboxError where the sandbox itself cannot be made; a program that fails, floods or hangs is a Result.
    """
    if host.allowed():
        return _watch(host.command(argv, box, limits), limits, host.options(box), None)
    filter_fd = None if box.forks else _open_filter()
    info, told = os.pipe()  # bubblewrap says here which process is pid 1 of the sandbox
    try:
        inner = [*_process_limit(limits), *argv] if box.forks else list(argv)
        words = bubblewrap.command(inner, box, limits.tmpfs_bytes, filter_fd)
        words[1:1] = ["--info-fd", str(told)]
        options: dict[str, object] = {"pass_fds": [told] if filter_fd is None else [told, filter_fd]}
        result = _watch([*limits.prlimit(), *words], limits, options, (info, told))
    finally:
        for descriptor in (info, filter_fd):
            if descriptor is not None:
                os.close(descriptor)
    if result.code == 1 and result.stderr.startswith(b"bwrap: "):
        raise SandboxError(bubblewrap.refusal(result.stderr.decode(errors="replace")))
    return result


def _process_limit(limits: Limits) -> list[str]:
    return ["/usr/bin/prlimit", f"--nproc={limits.processes}"] if os.path.exists("/usr/bin/prlimit") else []


def _open_filter() -> int | None:
    """A descriptor of its own: a shared one shares its read position."""
    descriptor = seccomp.filter_descriptor()
    return None if descriptor is None else os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)


def _watch(words: Sequence[str], limits: Limits, options: dict[str, object], pipe: tuple[int, int] | None) -> Result:
    """Run to the end, to the wall limit or to the output limit, whichever is first."""
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,  # type: ignore[call-overload]
        )
    except OSError as problem:
        raise SandboxError(f"cannot start {words[0]}: {problem}; install util-linux and bubblewrap") from problem
    finally:
        if pipe is not None:
            os.close(pipe[1])
    try:
        out, err, timed_out, truncated = _collect(child, limits)
    finally:
        _end(child, None if pipe is None else pipe[0])
    code, number = _status(child.returncode)
    if number == signal.SIGXCPU:
        timed_out = True
    result = Result(code, number, out, err, timed_out, truncated)
    return replace(result, code=None, signal=signal.SIGKILL) if truncated or timed_out else result


def _status(returncode: int) -> tuple[int | None, int | None]:
    """(exit status, signal): bubblewrap reports the signal that ended its program as 128 + number."""
    if returncode < 0:
        return None, -returncode
    if 128 < returncode <= 128 + 64:
        return None, returncode - 128
    return returncode, None


def _collect(child: subprocess.Popen[bytes], limits: Limits) -> tuple[bytes, bytes, bool, bool]:
    """stdout, stderr, and whether the wall or the output limit was hit."""
    assert child.stdout is not None and child.stderr is not None
    kept = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    deadline = time.monotonic() + limits.wall_seconds
    timed_out = truncated = False
    with selectors.DefaultSelector() as selector:
        for descriptor in kept:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and not truncated:
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                timed_out = True
                break
            for key, _ in ready:
                piece = os.read(key.fd, CHUNK)
                if not piece:
                    selector.unregister(key.fd)
                kept[key.fd] += piece
                truncated = truncated or len(kept[key.fd]) > limits.output_bytes
    out, err = (bytes(text[: limits.output_bytes]) for text in kept.values())
    return out, err, timed_out, truncated


def _end(child: subprocess.Popen[bytes], info: int | None) -> None:
    """Kill what is left, and wait until every process of the sandbox is gone."""
    with contextlib.suppress(ProcessLookupError):
        if child.poll() is None:
            try:
                child.wait(0.05)
            except subprocess.TimeoutExpired:
                child.kill()
        if info is None:
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
    if info is not None:
        _wait_for_all(os.read(info, CHUNK))


def _wait_for_all(info: bytes) -> None:
    """Wait for pid 1 of the sandbox, which the kernel lets end only after all others in there."""
    try:
        first = os.pidfd_open(json.loads(info)["child-pid"])
    except (ValueError, KeyError, ProcessLookupError):
        return  # it never began, or is gone already
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(first, selectors.EVENT_READ)
            if not selector.select(GRACE_SECONDS):
                raise SandboxError("a sandbox did not end within a minute of its kill; look for bwrap processes")
    finally:
        os.close(first)
