"""The confined REPL against hostile code: contained, told, and never believed."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.domains.fathom.calls import Budget, answer, stub
from tiebreak.domains.fathom.episode import FathomEpisode
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.prompts import opening
from tiebreak.domains.fathom.repl import LIMITS, MOST_ASKED, Ran, Repl
from tiebreak.sandbox.limits import MIB

QUICK = replace(LIMITS, cpu_seconds=1, wall_seconds=20, memory_bytes=256 * MIB)


class Asked:
    """A REPL with its budget outside."""

    def __init__(self) -> None:
        self.budget = Budget(most_calls=3)
        self.repl = Repl(
            "A text. Nothing else.", lambda prompt, chunk: answer(stub, self.budget, 1, prompt, chunk), QUICK
        )

    def run(self, code: str) -> Ran:
        return self.repl.run([code])


@pytest.fixture
def asked() -> Iterator[Asked]:
    one = Asked()
    yield one
    one.repl.close()


def goes_on(asked: Asked) -> None:
    """A REPL that answers, whatever was done to the one before."""
    assert asked.run("print(len(ctx))") == Ran("21\n")


def test_a_loop_that_never_ends(asked: Asked) -> None:
    ran = asked.run("kept = 1\nprint('before', flush=True)\nwhile True: pass")
    assert (ran.output, ran.ok) == ("before\n", False)
    assert ran.ended == "it was killed for its CPU time or memory"
    assert "NameError" in asked.run("print(kept)").output
    goes_on(asked)


def test_a_loop_that_ignores_every_error_and_signal(asked: Asked) -> None:
    code = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
    code += "while True:\n  try:\n    while True: pass\n  except BaseException: pass"
    assert asked.run(code).ended == "it was killed for its CPU time or memory"
    goes_on(asked)


def test_a_sleep_is_ended_by_wall_time() -> None:
    repl = Repl("text", lambda prompt, chunk: {"text": ""}, replace(QUICK, wall_seconds=1))
    assert repl.run(["import time\ntime.sleep(1000)"]).ended == "it was killed for its time"
    assert repl.run(["print(1)"]) == Ran("1\n")
    repl.close()


def test_slow_answers_of_llm_are_not_the_codes_time() -> None:
    def slow(prompt: str, chunk: str) -> dict[str, str]:
        time.sleep(1.5)
        return {"text": "late"}

    repl = Repl("text", slow, replace(QUICK, wall_seconds=1))
    assert repl.run(["print(llm('a'))"]) == Ran("late\n")
    repl.close()


@pytest.mark.parametrize(
    "code",
    [
        "import os\nwhile True: os.fork()",
        "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'echo started'])",
        "import multiprocessing as m\nm.Process(target=print).start()",
        "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    ],
)
def test_no_process_is_started(asked: Asked, code: str) -> None:
    ran = asked.run(code)
    assert (ran.ok, ran.ended) == (False, None)
    assert "started" not in ran.output
    goes_on(asked)


def test_a_bomb_of_threads(asked: Asked) -> None:
    code = "import threading, time\nfor i in range(5000): threading.Thread(target=time.sleep, args=(60,)).start()"
    assert not asked.run(code + "\ntime.sleep(5)").ok
    asked.repl.close()
    goes_on(asked)


def test_memory_is_bounded(asked: Asked) -> None:
    ran = asked.run("x = []\nwhile True: x.append(bytearray(10_000_000))")
    assert not ran.ok
    assert "MemoryError" in ran.output or ran.ended is not None
    goes_on(asked)


@pytest.mark.parametrize(
    "code",
    [
        "import socket\nsocket.create_connection(('1.1.1.1', 53), 2)",
        "import socket\nsocket.getaddrinfo('example.org', 80)",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:80', timeout=2)",
    ],
)
def test_no_network(asked: Asked, code: str) -> None:
    assert not asked.run(code).ok
    goes_on(asked)


def test_huge_output_is_ended_and_bounded(asked: Asked) -> None:
    ran = asked.run("while True: print('x' * 10_000)")
    assert ran.ended == "it was killed for printing too much"
    assert len(ran.output) == QUICK.output_bytes
    goes_on(asked)


def test_files_are_bounded_and_only_in_tmp(asked: Asked) -> None:
    assert "OSError" in asked.run("f = open('/tmp/x', 'wb')\nwhile True: f.write(bytes(1_000_000))").output
    assert "Read-only file system" in asked.run("open('/usr/x', 'w')").output
    assert "FileNotFoundError" in asked.run("open('/etc/passwd')").output


READERS = """
import gc, os, select, sys
found = [repr(thing)[:3000] for thing in gc.get_objects() if isinstance(thing, (str, dict, list, tuple))]
found += [repr(sys._getframe(1).f_locals), repr(dict(os.environ)), repr(sys.argv)]
for folder, _, files in os.walk('/tmp'): found += files
for fd in range(64):
    try: found.append(repr(os.read(fd, 100) if select.select([fd], [], [], 0)[0] else fd))
    except OSError: pass
text = '\\n'.join(found)
print(ctx[:50], len(text) > 1000, 'DIGEST' in text)
import hashlib
words = set(text.replace('"', ' ').replace("'", ' ').split())
print(any(hashlib.sha256(word.encode()).hexdigest() == 'DIGEST' for word in words))
"""


def test_the_answer_is_not_in_there_to_be_read() -> None:
    """The joined gold answer stands nowhere in the document, so any copy of it inside would be a leak."""
    task = next(task for task in generate(4, 40, {2_000: 1.0}) if task.template == "route")
    with_digest = READERS.replace("DIGEST", hashlib.sha256(task.answer.encode()).hexdigest())
    live = FathomEpisode(task.document, opening(task.question, task.document), tool_rounds=3)
    for code, said in (
        (with_digest, f"{task.document[:50]} True True\nFalse"),
        (f"secret = {task.answer!r}", "(no output)"),
        (with_digest, f"{task.document[:50]} True True\nTrue"),  # the search does find what is there
    ):
        live.act(f"```python\n{code}\n```")
        live.run()
        assert live.messages[-1]["content"] == said
    live.halt("final")


def test_neither_the_project_nor_memory_of_others_is_in_reach(asked: Asked) -> None:
    assert asked.run("import ctypes\nprint(ctypes.CDLL(None).ptrace(16, 1, 0, 0))").output == "-1\n"
    system = "{'usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'nix', 'gnu', 'python'}"
    seen = asked.run(f"import os\nprint(sorted(set(os.listdir('/')) - {system}), os.listdir('/tmp'))").output
    assert seen == "['driver.py', 'tmp'] []\n"
    assert (
        asked.run("import os\nprint(*map(os.path.exists, ['/root', '/proc/1', '/dev/shm']))").output
        == "False False False\n"
    )
    assert not asked.run("import sys\nsys.path += [p + '/site-packages' for p in sys.path]\nimport pip").ok


def test_the_counter_is_out_of_reach(asked: Asked) -> None:
    asked.run("real = llm\ndef llm(*a): return 'forged'\nprint(llm('a'))")
    assert asked.budget.calls == 0
    asked.run(
        "wire = real.__closure__[0].cell_contents\nwire.lock = type('L', (), {'__enter__': print, '__exit__': print})()"
    )
    asked.run("real('a', ctx)")
    assert asked.budget.calls == 1
    code = "for _ in range(9):\n  wire.write({'llm': ['a', ctx]})\n  print(wire.read())"
    assert "refused" in asked.run(code).output
    assert (asked.budget.calls, asked.budget.refused) == (3, 7)


FORGED = [
    json.dumps(frame)
    for frame in (None, 1, [], {}, {"llm": 1}, {"llm": ["a"]}, {"llm": [1, 2]}, {"done": 99, "ok": True}, {"calls": -5})
]


@pytest.mark.parametrize("frame", FORGED)
def test_forged_frames_change_nothing(asked: Asked, frame: str) -> None:
    code = f"import json\nwire = llm.__closure__[0].cell_contents\nwire.write(json.loads({frame!r}))\nprint('on')"
    assert asked.run(code) == Ran("on\n")
    assert asked.budget.calls == 0
    goes_on(asked)


def test_a_forged_end_of_a_block_only_cuts_its_own_output(asked: Asked) -> None:
    asked.run("wire = llm.__closure__[0].cell_contents\nfor n in (1, 2): wire.write({'done': n, 'ok': True})")
    asked.run("pass")
    asked.run("llm('a', ctx)")
    asked.run("llm('a', ctx)")
    assert asked.budget.calls <= 2


@pytest.mark.parametrize(
    "data", ["b'garbage!!'", "b'\\xff\\xff\\xff\\xff'", "b'\\0\\0\\0\\1{'", "b'\\0\\0\\x27\\x10' + b'[' * 10_000"]
)
def test_garbage_in_the_channel_ends_the_session(asked: Asked, data: str) -> None:
    ran = asked.run(
        f"import os\nos.write(llm.__closure__[0].cell_contents.events, {data})\nimport time\ntime.sleep(30)"
    )
    assert ran.ended == "it was killed for writing to the channel of llm()"
    goes_on(asked)


def test_requests_whose_replies_nobody_reads(asked: Asked) -> None:
    ran = asked.run("wire = llm.__closure__[0].cell_contents\nwhile True: wire.write({'llm': ['a', ctx]})")
    assert ran.ended is not None
    assert asked.budget.calls == 3
    goes_on(asked)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)",
        "import os\nos.closerange(0, 64)",
        "import os\nos.kill(os.getpid(), 9)",
        "import os\nos.execv('/bin/true', ['true'])",
    ],
)
def test_a_program_that_ends_itself(asked: Asked, code: str) -> None:
    assert asked.run(code).ended is not None
    goes_on(asked)


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.stdout = None\nsys.stderr = 5\n1 / 0",
        "import sys\nsys.stdout.close()\n1 / 0",
        "raise SystemExit",
        "def f(): f()\nf()",
        "class E(BaseException):\n  def __str__(self): raise E\nraise E",
    ],
)
def test_odd_endings_of_a_block(asked: Asked, code: str) -> None:
    asked.run(code)
    asked.repl.close()
    goes_on(asked)


def test_the_pipes_hold_a_long_text_both_ways() -> None:
    text = "wörd " * 400_000
    repl = Repl(text, lambda prompt, chunk: {"text": chunk[::-1]})
    assert repl.run(["back = llm('turn', ctx)\nprint(len(back), back == ctx[::-1])"]) == Ran("2000000 True\n")
    repl.close()


def test_nothing_is_left_behind() -> None:
    marker = "remember-me-77193"
    repls = [Repl(marker, lambda prompt, chunk: {"text": ""}) for _ in range(3)]
    pids = [repl.run(["print(1)"]).output for repl in repls]
    running = [repl._session._running.child.pid for repl in repls if repl._session is not None]
    assert pids == ["1\n"] * 3
    repls[0].close()
    del repls
    for pid in running:
        assert not Path(f"/proc/{pid}").exists()


def test_calls_without_end_are_ended_by_their_number(asked: Asked) -> None:
    ran = asked.run("print('a', flush=True)\nwhile True:\n  try: llm('a')\n  except Exception: pass")
    assert (ran.output, ran.ended) == ("a\n", "it was killed for calling llm() without end")
    assert (asked.budget.calls, asked.budget.refused) == (3, MOST_ASKED - 3)
    goes_on(asked)
