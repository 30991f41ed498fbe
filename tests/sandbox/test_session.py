"""A confined program that stays: frames both ways, and every way in which it can end."""

import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Timer

import pytest

from tiebreak.domains.fathom.repl import python_box
from tiebreak.errors import SandboxError
from tiebreak.sandbox import bubblewrap
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import Limits
from tiebreak.sandbox.session import EVENTS, REQUESTS, Session

LIMITS = Limits(cpu_seconds=1, wall_seconds=10)


def shell(script: str, limits: Limits = LIMITS) -> Session:
    return Session(["/bin/sh", "-c", script], Box(environment=(("PATH", "/usr/bin:/bin"),)), limits)


def python(code: str) -> Session:
    program, box = python_box()
    given = f"import os, time\nasked, told = int(os.environ['{REQUESTS}']), int(os.environ['{EVENTS}'])\n"
    return Session([program, "-S", "-c", given + code], box, LIMITS)


def soon(seconds: float = 20) -> float:
    return time.monotonic() + seconds


def test_frames_come_back_as_they_went() -> None:
    session = python("while data := os.read(asked, 9999): os.write(told, data)")
    for frame in ({"a": "ä\ud800"}, [1, None], "x" * 300_000, None):
        session.send(frame)
        assert session.receive(soon()) == frame
        assert session.end is None
    session.close()
    assert session.receive(soon()) is None


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("exit 0", "exit"),
        ("exit 1", "exit"),
        ("kill -9 $$", "limit"),
        ("while :; do :; done", "limit"),
        ("sleep 60", "time"),
        ("yes", "output"),
    ],
)
def test_how_it_ends(script: str, end: str) -> None:
    session = shell(script)
    assert session.receive(soon(4)) is None
    assert session.end == end
    session.close()
    assert session.end == end


@pytest.mark.parametrize("data", [b"1234567890", b"\0\0\0\1{", b"\0\0\x27\x10" + b"[" * 10_000])
def test_what_is_no_frame_ends_it(data: bytes) -> None:
    session = python(f"os.write(told, {data!r})\ntime.sleep(60)")
    assert (session.receive(soon()), session.end) == (None, "frame")


def test_a_crowd_is_ended() -> None:
    session = shell("for i in $(seq 60); do sleep 60 & done; wait", replace(LIMITS, processes=8))
    assert session.receive(soon()) is None
    assert session.end in ("crowd", "exit", "limit")  # a cgroup or an rlimit stops it before it is counted


def test_what_it_printed_is_kept_up_to_the_limit_and_once() -> None:
    session = shell("echo out; echo err >&2; head -c 500000 /dev/zero", replace(LIMITS, output_bytes=1000))
    session.receive(soon())
    printed = session.printed()
    assert (printed[:4], len(printed), session.end) == (b"out\n", 1000, "output")
    assert session.printed() == b""


def test_a_program_that_reads_nothing_is_ended() -> None:
    session = shell("sleep 60")
    for _ in range(5):
        session.send("x" * (15 << 20))
    assert session.end == "frame"


def test_a_sandbox_that_cannot_be_made_is_no_end_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    command = bubblewrap.command

    def broken(argv: Sequence[str], box: Box, size: int, fd: int | None = None) -> list[str]:
        words = command(argv, box, size, fd)
        return [words[0], "--ro-bind", "/there/is/no/such/folder", "/x", *words[1:]]

    monkeypatch.setattr(bubblewrap, "command", broken)
    with pytest.raises(SandboxError, match="no/such/folder"):
        shell("echo").receive(soon())


def test_another_thread_can_have_it_ended() -> None:
    session = python("while True: time.sleep(1)")
    Timer(0.2, setattr, (session, "abandoned", True)).start()
    started = time.monotonic()
    assert session.receive(soon(60)) is None
    assert session.end == "time" and time.monotonic() - started < 30
