"""How much memory a process and all that it starts hold at once, sampled from /proc."""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

SECONDS = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch(threading.Thread):
    """Samples while it is open. peak: bytes of the resident sets of all descendants together, at their largest.

    What several of them share (the compiler's own libraries) counts for each, so it is an upper bound.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(SECONDS):
            self.peak = max(self.peak, sum(map(resident, descendants(os.getpid()))))


def descendants(process: int) -> Iterator[int]:
    """The ids of all that a process started and that still run."""
    for task in listed(f"/proc/{process}/task"):
        with contextlib.suppress(OSError):
            for child in map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split()):
                yield child
                yield from descendants(child)


def listed(folder: str) -> list[str]:
    """The names in a folder; none where it is gone."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def resident(process: int) -> int:
    """Bytes of a process's resident set; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
