"""Threads and processes are counted, also those below others, and no further than needed."""

import subprocess
import sys
import time

from tiebreak.sandbox.census import Census, count

THREADS = """
import subprocess, sys, threading, time
for _ in range(5):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
sys.stdin.read()
child.kill()
"""


def test_threads_and_children_are_counted() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", THREADS], stdin=pipe, stdout=pipe) as top:
        assert top.stdin is not None and top.stdout is not None and top.stdout.readline() == b"ready\n"
        counts = [count(top.pid, most) for most in (100, 7, 3)]
        top.stdin.close()
    assert counts[0] == 7  # six threads, one child
    assert counts[1] == 7
    assert counts[2] > 3


def test_what_has_ended_counts_nothing() -> None:
    with subprocess.Popen(["true"]) as top:
        pass
    assert count(top.pid, 10) == 0


def test_a_crowd_is_seen_after_a_moment_and_not_at_once() -> None:
    with subprocess.Popen(["sleep", "60"]) as top:
        census, calm = Census(top.pid, 0), Census(top.pid, 1)
        assert not census.crowded()
        deadline = time.monotonic() + 30
        while not census.crowded() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert time.monotonic() < deadline
        assert not calm.crowded()
        top.kill()
