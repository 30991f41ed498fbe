"""A confined program that stays, and is talked to in frames over two pipes of its own, apart from what it prints.

A frame is four bytes of length (big-endian) and JSON. The program may write any bytes to its pipe: what comes out of it
is a request or a claim, never a proof, and at worst it ends the session.
"""

import contextlib
import json
import os
import select
import struct
import time
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from tiebreak.sandbox import cgroups
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.census import EVERY_SECONDS, Census
from tiebreak.sandbox.limits import Limits
from tiebreak.sandbox.process import CHUNK, started

REQUESTS, EVENTS = "TIEBREAK_REQUESTS", "TIEBREAK_EVENTS"
LARGEST = 16 << 20  # bytes of a frame
MOST_WAITING = 4 * LARGEST  # bytes of frames that are not read
_HEAD = struct.Struct(">I")

End = Literal["exit", "limit", "time", "crowd", "output", "frame", "calls"]


class Session:
    """One such program; `close` it, or drop it. `end` says why it is over, None while it goes on.

    exit: it ended or closed its pipe; limit: a signal (CPU time, memory) ended it; time: `receive` was not answered in
    time; crowd: too many threads; output: it printed more than `output_bytes` since the last `printed`; frame: what it
    wrote to its pipe is no frame, or it does not read what it is sent; calls: it asks without end, as who answers it
    says. The program is gone in each case.
    """

    def __init__(self, argv: Sequence[str], box: Box, limits: Limits) -> None:
        self.end: End | None = None
        self.abandoned = False  # may be set by any thread: the one that waits in `receive` then ends the program
        self._limits = limits
        self._stack = contextlib.ExitStack()
        self._kill = weakref.finalize(self, self._stack.close)
        self._outbox, self._inbox, self._printed = bytearray(), bytearray(), bytearray()
        try:
            self._open(argv, box, limits)
        except BaseException:
            self._kill()
            raise

    def _open(self, argv: Sequence[str], box: Box, limits: Limits) -> None:
        theirs_in, self._requests = os.pipe()
        self._events, theirs_out = os.pipe()
        for descriptor in (self._requests, self._events):
            self._stack.callback(os.close, descriptor)
        told = (*box.environment, (REQUESTS, str(theirs_in)), (EVENTS, str(theirs_out)))
        try:
            running = started(argv, replace(box, environment=told), limits, (theirs_in, theirs_out))
            self._running = self._stack.enter_context(running)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        child = self._running.child
        assert child.stdout is not None and child.stderr is not None
        self._streams = [child.stdout.fileno(), child.stderr.fileno()]
        for descriptor in (self._requests, self._events, *self._streams):
            os.set_blocking(descriptor, False)
        self._census = Census(self._running.top, limits.processes + cgroups.BESIDES_PROCESSES)

    def send(self, frame: Any) -> None:
        """Put a frame in the queue; it travels while `receive` waits. A program that reads none of many is ended."""
        data = json.dumps(frame).encode()
        self._outbox += _HEAD.pack(len(data)) + data
        if len(self._outbox) > MOST_WAITING:
            self._over("frame")

    def receive(self, deadline: float) -> Any:
        """The next frame, waited for until `deadline` (of time.monotonic); None when the session is over."""
        while self.end is None:
            found, frame = self._next_frame()
            if found and not self.abandoned:
                return frame
            if self.end is None and (self.abandoned or time.monotonic() > deadline):
                self._over("time")
            elif self.end is None and self._census.crowded():
                self._over("crowd")
            elif self.end is None:
                self._move(min(EVERY_SECONDS, max(0.0, deadline - time.monotonic())) + 0.001)
        return None

    def printed(self) -> bytes:
        """What it printed since the last call, stdout and stderr as they came, up to the limit on output."""
        if self.end is None:
            self._drain()
        text = bytes(self._printed[: self._limits.output_bytes])
        self._printed.clear()
        return text

    def close(self, end: End = "exit") -> None:
        """Kill the program; nothing of it is left when this returns. end: why, where it has not ended before."""
        if self.end is None:
            self._over(end)

    def _over(self, end: End) -> None:
        self._drain()
        self.end = self.end or end
        self._kill()

    def _next_frame(self) -> tuple[bool, Any]:
        if len(self._inbox) < _HEAD.size:
            return False, None
        (length,) = _HEAD.unpack_from(self._inbox)
        if length > LARGEST:
            self._over("frame")
        if self.end is not None or len(self._inbox) < _HEAD.size + length:
            return False, None
        data = bytes(self._inbox[_HEAD.size : _HEAD.size + length])
        del self._inbox[: _HEAD.size + length]
        try:
            return True, json.loads(data)
        except (ValueError, RecursionError):
            self._over("frame")
            return False, None

    def _move(self, seconds: float) -> None:
        """Wait for something to happen, and move what can be moved."""
        waiting = select.poll()
        for descriptor in (self._events, *self._streams):
            waiting.register(descriptor, select.POLLIN)
        if self._outbox:
            waiting.register(self._requests, select.POLLOUT)
        ready = {descriptor for descriptor, _ in waiting.poll(seconds * 1000)}
        if self._requests in ready:
            with contextlib.suppress(BlockingIOError, BrokenPipeError):
                del self._outbox[: os.write(self._requests, self._outbox[:CHUNK])]
        self._drain()
        if self._events in ready:
            self._read_events()

    def _read_events(self) -> None:
        try:
            piece = os.read(self._events, CHUNK)
        except BlockingIOError:
            return
        self._inbox += piece
        if not piece:
            self._ended()

    def _ended(self) -> None:
        """Its pipe is closed: of its own will, or by a signal."""
        child = self._running.child
        with contextlib.suppress(Exception):
            child.wait(timeout=1)
        self._drain()
        self._running.check(child.returncode, bytes(self._printed))
        by_signal = child.returncode is not None and (child.returncode < 0 or child.returncode > 128)
        self._over("limit" if by_signal else "exit")

    def _drain(self) -> None:
        """Take what was printed; more than the limit ends the session."""
        for stream in list(self._streams):
            with contextlib.suppress(BlockingIOError):
                while len(self._printed) <= self._limits.output_bytes:
                    piece = os.read(stream, CHUNK)
                    if not piece:
                        self._streams.remove(stream)
                        break
                    self._printed += piece
        if len(self._printed) > self._limits.output_bytes and self.end is None:
            self.end = "output"
            self._kill()
