"""A Python REPL for one episode: confined, its names kept between blocks, its `llm()` answered and counted outside."""

import re
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.domains.fathom import driver
from tiebreak.errors import SandboxError
from tiebreak.sandbox.bubblewrap import SYSTEM_FOLDERS, Box
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.session import Session

LIMITS = Limits(cpu_seconds=5, wall_seconds=60, memory_bytes=512 * MIB, processes=16, output_bytes=MIB)
"""CPU time is that of a session as a whole, wall time that of a turn, without what `llm()` takes."""
DRIVER, PYTHON = "/driver.py", "/python"
MOST_ASKED = 500  # calls of llm() in a turn, refused ones among them: each takes our own time
OPTIONS = ("-s", "-S", "-P", "-B", "-X", "utf8")
ENDINGS = {
    "exit": "the program ended",
    "limit": "it was killed for its CPU time or memory",
    "time": "it was killed for its time",
    "crowd": "it was killed for its threads",
    "output": "it was killed for printing too much",
    "frame": "it was killed for writing to the channel of llm()",
    "calls": "it was killed for calling llm() without end",
}
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,16}\b")

Ask = Callable[[str, str], dict[str, str]]
"""What answers `llm(prompt, chunk)`: {"text": …}, or {"refused": why}, which is raised inside."""


@dataclass
class Ran:
    """What the blocks of a turn came to. output: what they printed; ended: why the session is over, if it is."""

    output: str = ""
    ok: bool = True
    ended: str | None = None


@dataclass
class Repl:
    """The REPL over one text. It starts with the first block, and anew (names lost) after one that was killed."""

    ctx: str
    ask: Ask
    limits: Limits = LIMITS
    _session: Session | None = field(default=None, repr=False)
    _number: int = 0
    _abandoned: bool = False

    def run(self, blocks: list[str]) -> Ran:
        """Run blocks in order, up to the first that fails. SandboxError where there is no sandbox."""
        ran = Ran()
        for block in blocks:
            if ran.ok:
                self._block(block, ran)
        return ran

    def close(self) -> None:
        """End the program, if there is one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def abandon(self) -> None:
        """Have the program ended soon by the thread that runs a block, now or later; for any other thread."""
        self._abandoned = True
        if (session := self._session) is not None:
            session.abandoned = True

    def _block(self, code: str, ran: Ran) -> None:
        session = self._session or self._start()
        self._number += 1
        session.send({"code": code, "number": self._number})
        ran.ok = self._follow(session)
        ran.output += canonical(session.printed())
        if session.end is not None:
            ran.ended, ran.ok = ENDINGS[session.end], False
            self.close()

    def _start(self) -> Session:
        python, box = python_box()
        self._session = Session([python, *OPTIONS, DRIVER], box, self.limits)
        self._session.abandoned = self._abandoned
        self._session.send({"ctx": self.ctx})
        return self._session

    def _follow(self, session: Session) -> bool:
        """Answer what the block asks until it is done; whether it went well. Frames without sense are passed over."""
        deadline, count = time.monotonic() + self.limits.wall_seconds, 0
        while (frame := session.receive(deadline)) is not None or session.end is None:
            asked = question(frame)
            if asked is not None:
                count += 1
                before = time.monotonic()
                if count > MOST_ASKED:
                    session.close("calls")
                else:
                    session.send(self.ask(*asked))
                deadline += time.monotonic() - before
            elif isinstance(frame, dict) and frame.get("done") == self._number:
                return frame.get("ok") is True
        return False


def question(frame: Any) -> tuple[str, str] | None:
    """What a frame asks of `llm`, if it does; the program inside can send anything."""
    match frame:
        case {"llm": [str(prompt), str(chunk)]}:
            return prompt, chunk
    return None


def canonical(printed: bytes) -> str:
    """What was printed as text, addresses of objects taken out: they differ from run to run."""
    return _ADDRESS.sub("at 0x…", printed.decode("utf-8", errors="replace"))


@cache
def python_box() -> tuple[str, Box]:
    """The path inside of the Python that runs us, and a box with it, its library and the driver alone."""
    program, prefix = Path(sys._base_executable).resolve(), Path(sys.base_prefix).resolve()  # type: ignore[attr-defined]
    here = ((str(Path(driver.__file__)), DRIVER),)
    environment: tuple[tuple[str, str], ...] = (("PYTHONHASHSEED", "0"), ("HOME", "/tmp"))
    if not program.is_relative_to(prefix):
        raise SandboxError(f"Python runs as {program}, outside of its own {prefix}; use another Python for the REPL")
    if any(prefix.is_relative_to(folder) for folder in SYSTEM_FOLDERS):
        return str(program), Box(read_only=here, environment=environment, folder="/tmp", forks=False, dev=False)
    environment += (("LD_LIBRARY_PATH", f"{PYTHON}/lib"),)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(prefix)}))
    hidden = (f"{PYTHON}/{packages.relative_to(prefix)}",) if packages.is_dir() else ()
    shown = ((str(prefix), PYTHON), *here)
    inside = f"{PYTHON}/{program.relative_to(prefix)}"
    box = Box(read_only=shown, environment=environment, folder="/tmp", forks=False, dev=False, hidden=hidden)
    return inside, box
