"""Verdicts and grades, confined, against plain `cargo test` in a fresh copy of the crate, unconfined, in one run.

    ./dev python benchmarks/verdicts.py [--study laptop] [--results results] [--json OUT] [--keep]

The crates are those of the study's held-out cases, in the states that rollouts pass through. Both sides use the same
number of cores and memory for their files, and take turns, so that a machine that slows down slows both. Plain cargo
is so slow that it gets a sample of the work, as the line says. A ratio is followed by its quartiles over states, or by
the least and the largest of its rounds or runs. Bare rustc, unconfined, is the physical limit beside it. What must hold
and what is hoped for stands beside each ratio. Takes about five minutes.
"""

import argparse
import contextlib
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from unittest.mock import patch

from keeping import keep
from memory import Watch
from tqdm import tqdm
from verdict_figures import cpu, line, over_rounds, over_states, residue
from verdict_inputs import Script, asks_of, crate_states, held_out, replay, workloads
from verdict_rivals import Workshop, bare, plain, size_of

from tiebreak.domains.rust import scratch
from tiebreak.domains.rust.episode import RustEpisode
from tiebreak.domains.rust.grading import grade
from tiebreak.domains.rust.toolchain import toolchain
from tiebreak.domains.rust.verdicts import Ask, Judge, Verdict, shares
from tiebreak.paths import RESULTS, Paths
from tiebreak.sandbox import host
from tiebreak.seeds import stream
from tiebreak.study import Study, load

T = TypeVar("T")

BATCH = 128
SINGLES, REPEATS = 24, 3  # states judged alone, and how often
ROUNDS = 6  # of a batch; plain cargo gets another sixth of it in each
SAMPLE = 16  # calls, or final files, of each run that plain cargo gets
HITS = 20  # askings of each state that the cache holds


@dataclass
class Bench:
    """What all measurements share. verdicts: of every state, from a judge whose cache is `known`."""

    study: Study
    home: Path
    workers: int
    shop: Workshop
    known: Path
    verdicts: dict[Ask, Verdict] = field(default_factory=dict)
    caches: int = 0

    def judge(self, cache: Path | None = None) -> Judge:
        """A judge as a job has it, by default with an empty cache."""
        self.caches += 1
        folder = cache or self.home / f"cache{self.caches}"
        return Judge(folder, workers=self.workers, diagnostics=self.study.toolbox.diagnostics)

    def learn(self, asks: Sequence[Ask]) -> None:
        """Judge what was not judged yet."""
        new = [ask for ask in dict.fromkeys(asks) if ask not in self.verdicts]
        self.verdicts |= zip(new, self.judge(self.known)(new), strict=True)

    def asks(self, scripts: Sequence[Script]) -> list[Ask]:
        """All that rollouts ask under the study's budget of turns."""
        return asks_of(scripts, self.study.evaluation.tool_rounds)

    def ends(self, ask: Ask) -> bool:
        """Whether the state's program comes to an end; the others would measure nothing but time limits."""
        return not self.verdicts[ask].timed_out

    def compiles(self, ask: Ask) -> bool:
        """Whether the state compiles."""
        return self.verdicts[ask].compiled

    def kind(self, ask: Ask) -> str:
        """How a state comes out."""
        verdict = self.verdicts[ask]
        return "runs well" if verdict.ok else "fails" if verdict.compiled else "does not compile"


def clocked(work: Callable[..., object], *values: object) -> float:
    """Wall seconds of one call."""
    started = time.perf_counter()
    work(*values)
    return time.perf_counter() - started


def one_new_state(bench: Bench, states: Sequence[Ask]) -> tuple[dict[str, Any], dict[Ask, float]]:
    """Each state alone, in turns: plain cargo, the engine, bare rustc. Also plain cargo's seconds for each state."""
    seconds: dict[str, dict[Ask, list[float]]] = {
        name: {ask: [] for ask in states} for name in ("plain", "ours", "bare")
    }
    for _ in tqdm(range(REPEATS), desc="one new state", leave=False):
        for ask in states:
            seconds["plain"][ask].append(bench.shop.seconds(plain, [ask]))
            seconds["ours"][ask].append(clocked(bench.judge(), [ask]))
            seconds["bare"][ask].append(bench.shop.seconds(bare, [ask]))
    middle = {name: {ask: median(values) for ask, values in found.items()} for name, found in seconds.items()}
    kinds: dict[str, list[float]] = {}
    for ask in states:
        kinds.setdefault(bench.kind(ask), []).append(middle["plain"][ask] / middle["ours"][ask])
    row: dict[str, Any] = {name: median(values.values()) for name, values in middle.items()}
    row |= over_states([ratio for ratios in kinds.values() for ratio in ratios])
    row |= {"of": f"{len(states)} states", "by_kind": {kind: median(ratios) for kind, ratios in kinds.items()}}
    return row, middle["plain"]


def a_batch(bench: Bench, states: Sequence[Ask]) -> dict[str, Any]:
    """All states in one call; plain cargo with as many workers takes a part of them in each round."""
    tools = sorted({ask.tool for ask in states})
    groups = [[ask for ask in states if ask.tool == tool] for tool in tools]
    parts = [part for group in groups for part in shares(group, bench.workers)]
    ordered = sorted(states, key=lambda ask: (ask.tool, bench.kind(ask)))
    rounds: dict[str, list[float]] = {"plain": [], "ours": [], "bare": []}
    for number in tqdm(range(ROUNDS), desc="a batch", leave=False):
        some = ordered[number::ROUNDS]
        steps = {
            "plain": partial(bench.shop.seconds, plain, some, bench.workers),
            "ours": partial(clocked, bench.judge(), states),
            "bare": partial(bench.shop.batch_seconds, parts, bench.compiles, bench.workers),
        }
        for name in steps if number % 2 else reversed(steps):
            rounds[name].append(steps[name]() / len(some if name == "plain" else states))
    return over_rounds(rounds) | {"of": f"{ROUNDS} rounds of {len(states)} states, plain on a {ROUNDS}th in each"}


def a_repeated_state(bench: Bench, states: Sequence[Ask], plain_seconds: dict[Ask, float]) -> dict[str, Any]:
    """Each state asked again, alone and in a batch, by a process that finds the cache full."""
    judge = bench.judge(bench.known)
    judge(states)
    rounds = [[clocked(judge, [ask]) for ask in states] for _ in range(HITS)]
    hits = {ask: median(values) for ask, *values in zip(states, *rounds, strict=True)}
    together = median(clocked(judge, states) / len(states) for _ in range(HITS))
    if judge.hits != judge.asked:
        raise SystemExit("verdicts.py: a state of a full cache was judged anew; the measurement is void")
    ratios = [seconds / hits[ask] for ask, seconds in plain_seconds.items()]
    row = {"plain": median(plain_seconds.values()), "ours": median(hits.values()), "ours_in_a_batch": together}
    return row | over_states(ratios) | {"of": f"{len(ratios)} states"}


def pass_at_k(bench: Bench, runs: dict[str, list[Script]]) -> dict[str, Any]:
    """Each run's rollouts played again with an empty cache; plain cargo judges a sample of their calls before."""
    rounds: dict[str, list[float]] = {"plain": [], "ours": []}
    rng = stream(bench.study.root_seed, "benchmark", "calls")
    for scripts in tqdm(runs.values(), desc="pass@8", leave=False):
        asks = bench.asks(scripts)
        some = rng.sample(asks, SAMPLE)
        rounds["plain"].append(bench.shop.seconds(plain, some, bench.workers) / len(some))
        rounds["ours"].append(clocked(play, bench, bench.judge(), scripts) / len(asks))
    return over_rounds(rounds) | {"of": f"{len(runs)} runs, plain on {SAMPLE} calls of each"}


def play(bench: Bench, judge: Judge, scripts: Sequence[Script]) -> list[RustEpisode]:
    """The episodes of the rollouts at their ends, played in the blocks of an evaluation."""
    return [
        episode
        for block in blocks(bench, scripts)
        for episode in replay(judge, block, bench.study.evaluation.tool_rounds)
    ]


def that_end(bench: Bench, scripts: Sequence[Script]) -> list[Script]:
    """The rollouts of which all that they ask about or leave comes to an end; else a time limit would be measured."""
    left = [Ask.of(end.case.cargo_tool, end.files) for end in play(bench, bench.judge(bench.known), scripts)]
    bench.learn([*bench.asks(scripts), *left])
    return [
        script
        for script, last in zip(scripts, left, strict=True)
        if all(map(bench.ends, [last, *bench.asks([script])]))
    ]


def blocks(bench: Bench, items: Sequence[T]) -> list[Sequence[T]]:
    """Rollouts, or what belongs to them, in the blocks of an evaluation."""
    size = bench.study.evaluation.block * bench.study.evaluation.k
    return [items[start : start + size] for start in range(0, len(items), size)]


def grades(bench: Bench, runs: dict[str, list[Script]]) -> dict[str, Any]:
    """The grades of all final files; the rival is one `cargo test` of the same files, which proves less."""
    rounds: dict[str, list[float]] = {"plain": [], "ours": []}
    rng = stream(bench.study.root_seed, "benchmark", "grades")
    for scripts in tqdm(runs.values(), desc="grades", leave=False):
        items = [(end.case, end.files) for end in play(bench, bench.judge(bench.known), scripts)]
        some = [Ask.of(case.cargo_tool, files) for case, files in rng.sample(items, SAMPLE)]
        judge = bench.judge()
        rounds["plain"].append(bench.shop.seconds(plain, some, bench.workers) / len(some))
        rounds["ours"].append(sum(clocked(grade, judge, part) for part in blocks(bench, items)) / len(items))
    return over_rounds(rounds) | {"of": f"{len(runs)} runs, plain on {SAMPLE} rollouts of each"}


@contextlib.contextmanager
def private_memory() -> Iterator[Path]:
    """A folder in memory that is the scratch home and the temporary folder of all that this process starts.

    It is scratch itself, so that the next judge anywhere removes what a killed benchmark leaves.
    """
    with scratch.scratch() as home:
        for part in ("scratch", "tmp"):
            (home / part).mkdir()
        with (
            patch.object(scratch, "home", return_value=home / "scratch"),
            patch.dict(os.environ, TMPDIR=str(home / "tmp")),
            patch.object(tempfile, "tempdir", str(home / "tmp")),
        ):
            yield home


def left_behind(home: Path) -> int:
    """Bytes in the scratch home and in the temporary folder."""
    return size_of(home / "scratch") + size_of(home / "tmp")


def measure(bench: Bench, paths: Paths) -> dict[str, Any]:
    """Everything, printed as it comes."""
    cases, cases_from = held_out(bench.study, paths)
    runs, runs_from = workloads(bench.study, paths, cases)
    states = crate_states(cases, bench.study.root_seed)
    with Watch() as programs:
        bench.learn(states)
    states = [ask for ask in states if bench.ends(ask)]
    print(f"{len(states)} states of {len(cases)} held-out cases from {cases_from}")
    played = {run: that_end(bench, scripts) for run, scripts in runs.items()}
    asks = [bench.asks(scripts) for scripts in played.values()]
    found: dict[str, Any] = {
        "cases": cases_from,
        "rollouts": runs_from,
        "played": sum(map(len, played.values())),
        "left_out": sum(map(len, runs.values())) - sum(map(len, played.values())),
        "calls": sum(map(len, asks)),
        "distinct": sum(len(set(called)) for called in asks),
    }
    runs = played
    print(
        f"{found['played']} rollouts of {len(runs)} runs from {runs_from} ({found['left_out']} left out, as a program "
        f"of theirs never ends): {found['calls']} calls, {found['distinct']} of them new to their run"
    )

    def note(name: str, row: dict[str, Any]) -> None:
        found[name] = row
        print(line(name, row), flush=True)

    row, plain_seconds = one_new_state(bench, states[:SINGLES])
    note("one new state", row)
    print("  by outcome: " + ", ".join(f"{kind} {ratio:.1f}x" for kind, ratio in sorted(row["by_kind"].items())))
    note("a batch of new states", a_batch(bench, states[:BATCH]))
    note("a repeated state", a_repeated_state(bench, states, plain_seconds))
    before = left_behind(bench.home)
    note("pass@8, its verdicts", pass_at_k(bench, runs))
    note("pass@8, its grades", grades(bench, runs))
    found["left_bytes_a_rollout"] = (left_behind(bench.home) - before) / sum(map(len, runs.values()))
    found["cache_bytes_a_state"] = size_of(bench.known) / len(bench.verdicts)
    found["plain_bytes_a_state"] = bench.shop.left_by_one
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["peak_mib"] = {"here": here, "programs": programs.peak / 2**20}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="laptop", help="a name in config/studies, or a path")
    parser.add_argument("--results", default=RESULTS, type=Path, help="where its results are, if there are any")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--keep", action="store_true", help="keep the figures for README (docs/benchmarks)")
    options = parser.parse_args()
    if host.allowed():
        raise SystemExit(
            f"verdicts.py: {host.CHOICE}=host confines nothing; unset it, as this measures the sandbox too"
        )
    study, workers = load(options.study), len(os.sched_getaffinity(0))
    started = time.perf_counter()
    with private_memory() as home:
        bench = Bench(study, home, workers, Workshop(home / "rivals"), home / "known")
        machine = {"cpu": cpu(), "cores": workers, "rustc": toolchain().version.splitlines()[0]}
        print(f"{machine['cpu']}, {workers} workers on each side, {machine['rustc']}")
        found = {"machine": machine, "batch": BATCH} | measure(bench, Paths(study.name, options.results))
    print(residue(found))
    found["seconds"] = time.perf_counter() - started
    print(f"{found['seconds']:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if options.keep:
        keep("verdicts", found)


if __name__ == "__main__":
    main()
