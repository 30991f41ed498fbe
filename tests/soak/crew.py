"""The soak's workers: processes with a judge each, and what is seen of them in /proc."""

import contextlib
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from programs import programs

from tiebreak.domains.rust import scratch
from tiebreak.domains.rust.verdicts import Judge, Verdict
from tiebreak.errors import SandboxError
from tiebreak.sandbox.limits import Limits

LIMITS = replace(Limits(), cpu_seconds=1, wall_seconds=5)
SUBREAPER = 36
REPOSITORY = Path(__file__).resolve().parents[2]

Call = tuple[str, int]
"""A program's name and the number of its variant."""


@dataclass
class Answer:
    """Verdicts on the calls of one job, and what the worker's judge has counted so far."""

    verdicts: Sequence[Verdict]
    hits: int
    ran: int
    problem: str = ""


@dataclass
class Worker:
    """A worker process, the end of its pipe, and the job that it has."""

    process: subprocess.Popen[bytes]
    connection: Connection
    job: Sequence[Call] = ()

    @classmethod
    def start(cls, cache: Path | None, folder: Path) -> "Worker":
        """Start a worker that keeps verdicts in `cache` and its scratch folders in `folder`."""
        ours, theirs = Pipe()
        words = [sys.executable, str(Path(__file__).with_name("soak.py")), "--serve", str(theirs.fileno())]
        words += ["--folder", str(folder), *(["--cache", str(cache)] if cache else [])]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src"), "TMPDIR": str(folder)}
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        return cls(process, ours)

    def give(self, job: Sequence[Call]) -> None:
        """Send it a job; the answer comes by its connection."""
        self.job = job
        self.connection.send(list(job))

    def ask(self, job: Sequence[Call]) -> Answer:
        """Send it a job and wait."""
        self.give(job)
        answer: Answer = self.connection.recv()
        self.job = ()
        return answer

    def end(self) -> int:
        """Let it end by itself; its exit status."""
        with contextlib.suppress(OSError):
            self.connection.send(None)
        status = self.process.wait()
        self.connection.close()
        return status


def serve(descriptor: int, cache: Path | None, folder: Path) -> None:
    """The life of a worker: jobs in, answers out."""
    scratch.home = lambda: folder
    connection, judge = Connection(descriptor), Judge(cache, limits=LIMITS)
    with contextlib.suppress(EOFError):
        while (job := connection.recv()) is not None:
            asks = [programs()[name].salted(salt) for name, salt in job]
            try:
                answer = Answer(judge(asks), judge.hits, judge.ran)
            except SandboxError as problem:
                answer = Answer([], judge.hits, judge.ran, str(problem))
            connection.send(answer)


def adopt_orphans() -> None:
    """Become the parent of whatever descendants lose theirs, so that none can hide."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this kernel has no subreapers")


def strays(seconds: float) -> list[str]:
    """What of our own descendants still runs after so many seconds, or nothing as soon as nothing does."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        running = descendants(os.getpid())
        if not running or time.monotonic() > deadline:
            return running
        time.sleep(0.1)


def descendants(ancestor: int) -> list[str]:
    """Id and command line of each process below `ancestor`."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it ended meanwhile
            if entry.name.isdigit():
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found, waiting = [], [ancestor]
    while waiting:
        parent = waiting.pop()
        below = [process for process, its_parent in parents.items() if its_parent == parent]
        found, waiting = found + below, waiting + below
    return [f"{process} {_words(process)}" for process in found]


def _words(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return "(ended)"
