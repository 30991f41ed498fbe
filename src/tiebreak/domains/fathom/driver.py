"""The program inside the sandbox that runs a model's code, block after block, with its names kept.

It stands alone (nothing of tiebreak is visible in there). The model's code shares its process and can do to it what it
likes; what must hold (counts, budgets, limits, the answer) is therefore kept outside.
"""

import json
import os
import struct
import sys
from _thread import allocate_lock
from types import TracebackType
from typing import Any

SOURCE = "<repl>"
HEAD = struct.Struct(">I")


class Wire:
    """The two pipes; one thread at a time asks and reads."""

    def __init__(self, requests: int, events: int) -> None:
        self.requests, self.events, self.lock = requests, events, allocate_lock()

    def read(self) -> Any:
        """The next frame; ends the program where there is none."""
        (length,) = HEAD.unpack(self._bytes(HEAD.size))
        return json.loads(self._bytes(length))

    def _bytes(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = os.read(self.requests, count - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return data

    def write(self, frame: Any) -> None:
        """Send a frame."""
        text = json.dumps(frame).encode()
        data = HEAD.pack(len(text)) + text
        while data:
            data = data[os.write(self.events, data) :]


def main() -> None:
    """Take `ctx`, then code until there is no more."""
    wire = Wire(int(os.environ.pop("TIEBREAK_REQUESTS")), int(os.environ.pop("TIEBREAK_EVENTS")))
    os.dup2(1, 2)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=False)  # type: ignore[union-attr]

    def llm(prompt: object, chunk: object = "") -> str:
        """Ask a language model about a chunk of text."""
        with wire.lock:
            wire.write({"llm": [str(prompt), str(chunk)]})
            reply = wire.read()
        if "refused" in reply:
            raise RuntimeError(reply["refused"])
        return str(reply["text"])

    names: dict[str, Any] = {"__name__": "__main__", "ctx": wire.read()["ctx"], "llm": llm}
    streams = sys.stdout, sys.stderr
    while True:
        with wire.lock:
            frame = wire.read()
        done = run(frame["code"], names)
        sys.stdout, sys.stderr = streams
        for stream in streams:
            try:
                stream.flush()
            except (OSError, ValueError):
                done = False
        wire.write({"done": frame["number"], "ok": done})


def run(code: str, names: dict[str, Any]) -> bool:
    """Run a block; its error is printed as Python does, as far as it concerns the block."""
    try:
        exec(compile(code, SOURCE, "exec"), names)
    except SystemExit:
        return True
    except BaseException as error:
        show(error)
        return False
    return True


def show(error: BaseException) -> None:
    """Print an error; only lines of the block are named, so that the text is the same on every machine."""
    lines: list[str] = []
    trace: TracebackType | None = error.__traceback__
    while trace is not None and len(lines) < 20:
        if trace.tb_frame.f_code.co_filename == SOURCE:
            lines.append(f"  line {trace.tb_lineno}, in {trace.tb_frame.f_code.co_name}\n")
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == SOURCE:
        lines.append(f"  line {error.lineno}\n")
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    head = "Traceback (most recent call last):\n" if lines else ""
    try:
        sys.stderr.write(f"{head}{''.join(lines)}{type(error).__name__}: {said}\n")
    except BaseException:  # the model's code put something else there
        os.write(2, f"{type(error).__name__}\n".encode())


if __name__ == "__main__":
    main()
