"""Runs a command for as long as its starter lives: `python -I keeper.py COMMAND…`, standard input a pipe from it.

The kernel closes that pipe however the starter ends, kill -9 included. Then, or when the command ends, everything that
is left of its process group is ended. Standard library alone, as it runs without our packages.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

GRACE = 10.0  # seconds between asking and killing
PARENT_DIED = 1  # PR_SET_PDEATHSIG


def keep(command: list[str]) -> int:
    """Run `command` until it ends or standard input is closed; returns its exit status."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=dies_with_us)
    ended = os.pidfd_open(child.pid)
    signal.signal(signal.SIGTERM, lambda *_: os.close(0))
    with contextlib.suppress(OSError):  # closed by the signal
        select.select([0, ended], [], [])
    end(child, ended)
    return child.returncode


def end(child: subprocess.Popen[bytes], ended: int) -> None:
    """End the command's process group: ask, wait, kill. Its leader is reaped last, so that the number stays its own."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, sign)
        if sign is signal.SIGTERM:
            select.select([ended], [], [], GRACE)
            time.sleep(0.2)
    child.wait()


def dies_with_us() -> None:
    """In the child, before it starts: should this keeper itself be killed, the command is asked to end (Linux)."""
    ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
