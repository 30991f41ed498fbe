"""Rollouts that go on by themselves, against rounds in which all wait: first for every turn, then for every verdict.

    ./dev python benchmarks/engine.py --vllm PYTHON [--cases N] [--keep]

Both play the same conversations on the same running vLLM server and wait for the same tool latencies, so the figures
compare the two loops. The conversations are demonstrations of generated cases, with detours, so that they differ in
length; for each turn the server generates as many tokens as the turn has. The latencies are measured first: each turn's
cargo calls, alone, by a fresh verdict engine. Replayed, they wait for one of two threads, in the rounds as in the free
loop; in the rounds the slowest call ends the round, as in the published harness. Prints rollouts a minute and the
ratio; `--keep` writes docs/benchmarks/engine.json.
"""

import argparse
import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

from keeping import keep
from transformers import AutoTokenizer

from tiebreak.chat import prompt
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.vllm import Serving, VllmEngine, serve
from tiebreak.rollout import Attempt, Played, follow_up, take
from tiebreak.rollout_free import play_free

MODEL = Path("resources/base/model")
SAMPLES = 4
DETOURS = 0.6  # the chance of a wrong action
TOOL_THREADS = 2
TIMES = 3


@dataclass(frozen=True)
class Script:
    """A conversation as it goes: its opening, the turns with the seconds that their calls take, the tools' replies."""

    case_id: str
    opening: list[Any]
    turns: list[str]
    seconds: list[float]
    replies: list[list[Any]]


class Scripted:
    """An episode that goes by its script (`domains.base.Episode`)."""

    def __init__(self, script: Script) -> None:
        self.script, self.messages, self.stop, self.turn = script, list(script.opening), None, 0

    def act(self, content: str) -> None:
        """Take the next turn."""
        self.messages.append({"role": "assistant", "content": content})
        self.turn += 1
        self.stop = "final" if self.turn == len(self.script.turns) else None

    def halt(self, stop: Any) -> None:
        """End it."""
        self.stop = stop

    def meet(self, policy: Any) -> None:
        """It asks no policy."""

    def count(self, prompt_tokens: int, new_tokens: int) -> None:
        """Nothing to do."""


class Latencies:
    """The part of a domain that loops need; its answers take as long as they took."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(TOOL_THREADS)

    def episode(self, case: Script, messages: Any, *, tool_rounds: int) -> Scripted:
        """A fresh conversation."""
        return Scripted(case)

    def answer(self, live: Sequence[Any]) -> None:
        """Wait as long as the calls took, each on one of the threads, and reply."""
        list(self.threads.map(time.sleep, [item.script.seconds[item.turn - 1] for item in live]))
        for item in live:
            item.messages += item.script.replies[item.turn - 1]


class Planned:
    """The server as a `FreeEngine` that says what the scripts say, in the time that generating it takes."""

    def __init__(self, engine: VllmEngine, scripts: Sequence[Script]) -> None:
        self.engine, self.scripts, self.at_once = engine, scripts, engine.at_once
        self.encode = engine.encode

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """As the server's."""
        async with self.engine.connected():
            yield

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        """The turn that the seed names: script × 100 + turn."""
        ids = [*self.encode(self.scripts[seed // 100].turns[seed % 100]), self.engine.end_id]
        whole = {"stop_token_ids": [], "min_tokens": len(ids)}
        assert len((await self.engine.complete(context, seed, len(ids), **whole))["token_ids"]) == len(ids)
        return self.engine.turn(ids)


async def rounds(engine: Planned, domain: Latencies, attempts: Sequence[Attempt]) -> None:
    """All conversations in step: a round is every live one's turn, then every one's verdicts."""
    played = [Played(one, domain.episode(one.case, one.messages, tool_rounds=0)) for one in attempts]
    texts = {row: prompt(one.messages) for row, one in enumerate(attempts)}
    async with engine.connected():
        while texts:
            for row, text in texts.items():
                played[row].ids += engine.encode(text)
            seeds = {row: attempts[row].seed(len(played[row].replies)) for row in texts}
            replies = await asyncio.gather(*(engine.reply(played[row].ids, seed) for row, seed in seeds.items()))
            for (row, seed), reply in zip(seeds.items(), replies, strict=True):
                played[row].ids += reply.ids
                take(played[row], seed, reply)
            live = [row for row in texts if played[row].episode.stop is None]
            marks = [len(played[row].episode.messages) for row in live]
            domain.answer([played[row].episode for row in live])
            texts = {row: follow_up(played[row].episode.messages[mark:]) for row, mark in zip(live, marks, strict=True)}


async def free(engine: Planned, domain: Latencies, attempts: Sequence[Attempt]) -> None:
    """Each by itself: the loop of this project."""
    await play_free(engine, domain, attempts, list, tool_rounds=0)  # type: ignore[arg-type]


def record(count: int) -> list[Script]:
    """Demonstrations of generated cases, each cargo call timed alone."""
    scripts = []
    with tempfile.TemporaryDirectory() as folder:
        domain = RustDomain(Judge(Path(folder) / "verdicts"))
        cases, _ = domain.materialize(list(generate("all", count, 77)), lambda _: None)
        for sample in range(SAMPLES):
            traces = domain.traces(cases, lambda case, sample=sample: Random(f"{case.case_id}{sample}"), DETOURS)
            scripts += [script(case, domain.prompt(case), trace) for case, trace in zip(cases, traces, strict=True)]
    return scripts


def script(case: Any, opening: list[Any], trace: Sequence[Any]) -> Script:
    """A trace as a script: it is played once more, without a cache, to see how long its calls take."""
    domain = RustDomain(Judge(None))
    episode = domain.episode(case, opening, tool_rounds=64)
    turns, seconds, replies = [], [], []
    for turn in trace[len(opening) :]:
        if turn["role"] != "assistant":
            continue
        episode.act(turn["content"])
        turns.append(turn["content"])
        if episode.stop is None:
            mark, started = len(episode.messages), time.perf_counter()
            domain.answer([episode])
            seconds.append(time.perf_counter() - started)
            replies.append(list(episode.messages[mark:]))
    return Script(case.case_id, opening, turns, seconds, replies)


def attempts_of(scripts: Sequence[Script]) -> list[Attempt]:
    """One rollout a script."""
    return [
        Attempt(one, one.opening, 0, lambda turn, number=number: 100 * number + turn)
        for number, one in enumerate(scripts)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vllm", required=True, type=Path, help="the Python of vLLM's environment")
    parser.add_argument("--cases", default=16, type=int)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    scripts = record(options.cases)
    waits = [seconds for one in scripts for seconds in one.seconds]
    found: dict[str, list[float]] = {"rounds": [], "free": []}
    serving = Serving(options.vllm.absolute(), MODEL, "float32", "cpu")
    log = Path(tempfile.gettempdir()) / "tiebreak-benchmark-vllm.log"
    with serve(serving, AutoTokenizer.from_pretrained(MODEL), Sampling(0.8, 1024, 4096), log) as engine:
        planned, domain = Planned(engine, scripts), Latencies()
        for _ in range(TIMES):
            for name, loop in (("rounds", rounds), ("free", free)):
                started = time.perf_counter()
                asyncio.run(loop(planned, domain, attempts_of(scripts)))
                found[name].append(len(scripts) / (time.perf_counter() - started) * 60)
        described = engine.describe()
    best = {name: statistics.median(rates) for name, rates in found.items()}
    result = {
        "rollouts": len(scripts),
        "turns": sum(len(one.turns) for one in scripts),
        "tool_calls_seconds": {"median": statistics.median(waits), "max": max(waits), "sum": sum(waits)},
        "tool_threads": TOOL_THREADS,
        "rollouts_a_minute": best,
        "ratio": best["free"] / best["rounds"],
        "engine": described,
    }
    print(f"{len(scripts)} rollouts, {result['turns']} turns, calls take {sum(waits):.1f} s in all")
    print(f"rounds {best['rounds']:.0f} a minute, free {best['free']:.0f} a minute, ratio {result['ratio']:.2f}")
    if options.keep:
        keep("engine", result)


if __name__ == "__main__":
    main()
