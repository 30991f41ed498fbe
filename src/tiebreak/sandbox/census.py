"""How many threads and processes a sandbox has: counted while it runs, which stops bombs where no cgroup does."""

import contextlib
import os
import time

EVERY_SECONDS = 0.05


class Census:
    """Counts now and then what the process `top` and all below it have. most: how many tasks are allowed."""

    def __init__(self, top: int, most: int) -> None:
        self._top, self._most = top, most
        self._next = time.monotonic() + EVERY_SECONDS

    def crowded(self) -> bool:
        """Whether it is time to count, and there are too many."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + EVERY_SECONDS
        return count(self._top, self._most) > self._most


def count(top: int, most: int) -> int:
    """Threads of the process `top` and of all processes below it; counting ends above `most`."""
    found, waiting = 0, [top]
    while waiting and found <= most:
        folder = f"/proc/{waiting.pop()}/task"
        with contextlib.suppress(OSError):  # it ended meanwhile
            found += os.stat(folder).st_nlink - 2
            if found <= most:
                waiting += children(folder)
    return found


def children(folder: str) -> list[int]:
    """The processes that the threads in `folder` (a /proc/…/task) have started and that still run."""
    started: list[int] = []
    for task in os.listdir(folder):
        with contextlib.suppress(OSError), open(f"{folder}/{task}/children", "rb", buffering=0) as file:
            started += map(int, file.read().split())
    return started
