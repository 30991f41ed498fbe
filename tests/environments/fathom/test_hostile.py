"""Hostile code against the server: each is contained, and another session and the server go on as if nothing were."""

from hashlib import sha256

import pytest
from environments.fathom.serving import Server, dealt, serving
from fathom_env import FathomAction, FathomEnv

HUNT = """
import gc, hashlib, os, sys
WANTED = "%s"
texts, seen, stack = set(), set(), [*gc.get_objects(), sys._getframe(), dict(os.environ)]
while stack:
    item = stack.pop()
    if id(item) not in seen:
        seen.add(id(item))
        if isinstance(item, str):
            texts.add(item)
        stack += gc.get_referents(item)
for folder, _, names in os.walk("/"):
    if not folder.startswith(("/usr", "/lib", "/python", "/nix", "/gnu")):
        for name in names:
            try:
                texts.add(open(f"{folder}/{name}", errors="replace").read(100_000))
            except OSError:
                pass
parts = [part for text in texts for part in (text, *text.split())]
found = [part for part in parts if hashlib.sha256(part.encode()).hexdigest() == WANTED]
print(len(texts) > 100, len(found))
"""
PATCH = """
import sys
frame = sys._getframe()
while frame:
    for name in ("calls", "refused", "most_calls", "budget"):
        frame.f_globals[name] = frame.f_locals[name] = 0
    frame = frame.f_back
kept = llm
cells = {name: cell.cell_contents for name, cell in zip(llm.__code__.co_freevars, llm.__closure__)}
wire = cells["wire"]
for i in range(5):
    wire.write({"llm": ["a", ctx]})
    wire.read()
llm = lambda *a: "free"
print(llm("a"), kept("a", ctx) != "")
"""
CODES = {
    "fork bomb": ("import os\nwhile True: os.fork()", "Error"),
    "processes": ("import subprocess\nsubprocess.run(['/bin/sh', '-c', ':(){ :|:& };:'])", "Error"),
    "thread bomb": ("import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()", ""),
    "memory": ("x = []\nwhile True: x.append(bytearray(1 << 20))", "MemoryError"),
    "memory at once": ("x = bytearray(1 << 40)", "MemoryError"),
    "network": ("import socket\nsocket.create_connection(('127.0.0.1', PORT), 5)", "Error"),
    "network outside": ("import urllib.request\nurllib.request.urlopen('http://1.1.1.1', timeout=5)", "Error"),
    "never-ending loop": ("while True: pass", "it was killed for its CPU time or memory"),
    "a loop that catches all": (
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
        "it was killed for its CPU time or memory",
    ),
    "huge output": ("while True: print('x' * 99999)", "it was killed for printing too much"),
    "long output": ("print('x' * 100000)", "[cut at 2000 characters]"),
    "huge expression": ("print(9 ** 9 ** 9)", "the REPL is gone"),
    "deep recursion": ("def f(): f()\nf()", "RecursionError"),
    "exit": ("import os\nos._exit(7)", "the program ended"),
    "kill": ("import os, signal\nos.kill(-1, signal.SIGKILL)\nprint('alive')", ""),
    "forged frames": (
        "import os\nfor n in range(3, 64):\n  try: os.write(n, b'x' * 9)\n  except OSError: pass",
        "",
    ),
    "fill the disk": ("f = open('/tmp/x', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()", "Error"),
    "host files": ("print(open('/etc/passwd').read())", "FileNotFoundError"),
    "recursion spam": ("while True: llm('a', ctx)", "the budget of 16 calls is spent"),
    "calls that are caught": (
        "while True:\n  try: llm('a', ctx)\n  except Exception: pass",
        "it was killed for calling llm() without end",
    ),
    "large calls": ("llm('a' * 3_000_000, 'b' * 3_000_000)", "characters at most"),
}


def code(text: str) -> FathomAction:
    return FathomAction(act="code", text=text)


@pytest.mark.parametrize("name", CODES)
def test_contained(server: Server, name: str) -> None:
    text, words = CODES[name]
    text = text.replace("PORT", server.url.rpartition(":")[2])
    with FathomEnv(base_url=server.url).sync() as other, FathomEnv(base_url=server.url).sync() as env:
        other.reset()
        other.step(code("mine = 'kept'"))
        env.reset()
        told = env.step(code(text)).observation
        assert words in told.messages[0]["content"]
        assert len(told.messages[0]["content"]) < 2_200 and told.calls <= 16
        assert other.step(code("print(mine)")).observation.messages == [{"role": "tool", "content": "kept"}]
        assert server.get("healthz") == '{"status":"healthy"}'
        assert env.step(FathomAction(act="answer", text="x")).done
    assert server.gone()


def test_the_answer_is_nowhere_that_code_can_look(server: Server) -> None:
    seed = next(seed for seed in range(100) if "-" in dealt(kind="multi_needle", seed=seed).answer)
    gold = dealt(kind="multi_needle", seed=seed).answer
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset(kind="multi_needle", seed=seed)
        digest = sha256(gold.encode()).hexdigest()
        assert env.step(code(HUNT % digest)).observation.messages[0]["content"] == "True 0"
        known = f"found_me = '{gold[:3]}' + '{gold[3:]}'\n"
        assert env.step(code(known + HUNT % digest)).observation.messages[0]["content"] != "True 0", "the hunt finds"


def test_a_patched_counter_counts_nothing_away(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset()
        told = env.step(code(PATCH)).observation
        assert (told.messages[0]["content"].splitlines()[-1], told.calls) == ("free True", 6)


def test_a_sleeper_is_ended_by_the_clock(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("clock")
    with serving(folder, WALL_SECONDS="1") as short, FathomEnv(base_url=short.url).sync() as env:
        env.reset()
        told = env.step(code("import time\ntime.sleep(999)")).observation.messages[0]["content"]
        assert told == "[the REPL is gone, its names with it: it was killed for its time]"
