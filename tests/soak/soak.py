"""Many mixed calls of the verdict engine by several processes, one of which is killed in the middle of its work.

    ./dev python tests/soak/soak.py [--calls 5000] [--workers 4] [--seed 0]

Promised, and looked at: no process and no file is left behind; every verdict is the one that its program gets alone,
without a cache, beforehand; every record of the cache can be read. Exit status 1, and the promise's name, if one is
broken.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from pathlib import Path

from crew import Answer, Call, Worker, adopt_orphans, serve, strays
from programs import programs

from tiebreak.domains.rust import scratch
from tiebreak.domains.rust.verdicts import Verdict
from tiebreak.sandbox import cache_files

REPEATED = 0.2  # of the calls: they are hits, unless their first one is still running
LARGEST_JOB = 32
TRIES = 5
REPORT_SECONDS = 5.0
END_SECONDS = 20.0


class Broken(Exception):
    """A promise that was not kept: its name and the evidence."""

    def __init__(self, promise: str, evidence: object) -> None:
        super().__init__(f"{promise}: {evidence}")


@dataclass
class Soak:
    """The state of a soak: jobs to do, the reference, counters."""

    jobs: deque[list[Call]]
    reference: dict[str, Verdict]
    calls: int
    done: int = 0
    late: int = 0
    tries: Counter[Call] = field(default_factory=Counter)
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    killed: int | None = None
    shown: float = 0.0

    def take(self, worker: Worker, answer: Answer) -> None:
        """Hold a worker's answer against the reference."""
        if answer.problem:
            raise Broken("the machine holds", answer.problem)
        self.counts[worker.process.pid] = (answer.hits, answer.ran)
        again = []
        for call, verdict in zip(worker.job, answer.verdicts, strict=True):
            expected = self.reference[call[0]]
            if verdict.late and not (expected.late or expected.timed_out):
                again.append(call)  # the machine was too slow for it; such a verdict is none
            elif not agree(verdict, expected):
                raise Broken("no wrong verdict", f"{call}: {verdict} instead of {expected}")
        self.done += len(worker.job) - len(again)
        self.again(again)

    def again(self, calls: list[Call]) -> None:
        """Put calls back that have no verdict yet."""
        self.late += len(calls)
        self.tries.update(calls)
        if slow := [call for call in calls if self.tries[call] >= TRIES]:
            raise Broken("the machine is fast enough", f"{slow[0]} was late {TRIES} times")
        if calls:
            self.jobs.append(calls)

    def show(self, running: int) -> None:
        """Say every few seconds how far it is."""
        if time.monotonic() - self.shown > REPORT_SECONDS:
            self.shown = time.monotonic()
            say(f"{self.done} of {self.calls} calls, {running} workers, {len(self.jobs)} jobs wait")


def agree(verdict: Verdict, expected: Verdict) -> bool:
    """Whether they say the same; which of several clocks ended a program that has no end is a matter of load."""
    if expected.late:
        return verdict.late and not verdict.ok
    return verdict == expected or (expected.timed_out and replace(verdict, late=False) == expected)


def say(text: str) -> None:
    print(f"soak: {text}", file=sys.stderr, flush=True)


def plan(calls: int, rng: random.Random) -> list[Call]:
    """Programs by weight, nearly each in a variant of its own."""
    names = list(programs())
    weights = [program.weight for program in programs().values()]
    planned: list[Call] = []
    for number in range(1, calls + 1):
        repeats = planned and rng.random() < REPEATED
        planned.append(rng.choice(planned) if repeats else (rng.choices(names, weights)[0], number))
    return planned


def cut(planned: Sequence[Call], workers: int, rng: random.Random) -> Iterator[list[Call]]:
    """The plan in jobs of mixed sizes, enough of them that all workers have some in the second half."""
    start, largest = 0, max(1, min(LARGEST_JOB, len(planned) // (8 * workers)))
    while start < len(planned):
        size = rng.randint(1, largest)
        yield list(planned[start : start + size])
        start += size


def references(names: Sequence[str], folder: Path) -> dict[str, Verdict]:
    """The verdict on each program, alone and without a cache."""
    worker, found, shown = Worker.start(None, folder), {}, time.monotonic()
    for number, name in enumerate(names):
        answer = worker.ask([(name, 0)])
        if answer.problem:
            raise Broken("the machine holds", answer.problem)
        found[name] = answer.verdicts[0]
        if time.monotonic() - shown > REPORT_SECONDS:
            shown = time.monotonic()
            say(f"reference verdicts: {number + 1} of {len(names)}")
    if worker.end() != 0:
        raise Broken("no worker fails", "the one for the reference verdicts did")
    return found


def run(soak: Soak, crew: list[Worker]) -> None:
    """Keep all workers busy until everything is judged, and kill the first one half-way."""
    while soak.done < soak.calls:
        for worker in crew:
            if not worker.job and soak.jobs:
                worker.give(soak.jobs.popleft())
                if soak.killed is None and len(crew) > 1 and soak.done >= soak.calls // 2:
                    time.sleep(0.15)  # so that a sandbox runs
                    soak.killed = worker.process.pid
                    worker.process.kill()
        for connection in wait([worker.connection for worker in crew], REPORT_SECONDS):
            worker = next(one for one in crew if one.connection is connection)
            try:
                answer: Answer = worker.connection.recv()
            except (EOFError, OSError):
                bury(worker, soak)
                crew.remove(worker)
                continue
            soak.take(worker, answer)
            worker.job = ()
        soak.show(len(crew))


def bury(worker: Worker, soak: Soak) -> None:
    """A worker is gone: if we killed it, the others do its work."""
    status = worker.process.wait()
    worker.connection.close()
    if worker.process.pid != soak.killed:
        raise Broken("no worker fails", f"one ended with {status} at {worker.job}")
    soak.jobs.appendleft(list(worker.job))


def sweep(folder: Path) -> int:
    """Remove what the killed worker could not; how many folders those were."""
    before, scratch.home = scratch.home, lambda: folder
    try:
        return scratch.sweep()
    finally:
        scratch.home = before


def check_files(folder: Path) -> None:
    """Nothing is left where scratch and temporary files go."""
    if left := [str(path) for path in folder.rglob("*")]:
        raise Broken("no stray file", left[:10])


def check_processes(seconds: float = END_SECONDS) -> None:
    """Nothing that was ever started here still runs."""
    if left := strays(seconds):
        raise Broken("no stray process", left)


def check_records(cache: Path, killed: int | None) -> int:
    """Every record can be read, but for one that the killed worker may have been writing; how many there are."""
    records = 0
    for segment in cache_files.segments(cache):
        keys, damaged, torn = cache_files.check(segment.path.read_bytes())
        records += len(keys)
        if damaged and not (torn and damaged == 1 and segment.path.name.startswith(f"{killed}-")):
            raise Broken("the cache is intact", f"{damaged} damaged records in {segment.path}")
    return records


def check_kept(soak: Soak, planned: Sequence[Call], cache: Path, folder: Path) -> None:
    """A new process finds every verdict in the cache, and finds the right one."""
    expected = {call: soak.reference[call[0]] for call in planned}
    kept = [call for call, verdict in expected.items() if not (verdict.late or verdict.timed_out)]
    reader = Worker.start(cache, folder)
    answer = reader.ask(kept)
    if answer.ran or answer.problem or list(answer.verdicts) != [expected[call] for call in kept]:
        raise Broken("the cache is intact", f"{answer.ran} verdicts are not in it, or others {answer.problem}")
    reader.end()


def soak(calls: int, workers: int, seed: int, place: Path) -> str:
    """Run it all in `place`; the summary. Broken if a promise is."""
    folder, cache = place / "scratch", place / "cache"
    folder.mkdir()
    rng, started = random.Random(seed), time.monotonic()
    planned = plan(calls, rng)
    names = list(dict.fromkeys(name for name, _ in planned))
    state = Soak(deque(cut(planned, workers, rng)), references(names, folder), calls)
    begun = time.monotonic()
    crew = [Worker.start(cache, folder) for _ in range(workers)]
    try:
        run(state, crew)
        if statuses := [status for worker in crew if (status := worker.end())]:
            raise Broken("no worker fails", f"ended with {statuses}")
    finally:
        for worker in crew:
            worker.process.kill()
            worker.process.wait()
    seconds = time.monotonic() - begun
    check_processes()
    swept, records = sweep(folder), check_records(cache, state.killed)
    check_kept(state, planned, cache, folder)
    check_processes()
    check_files(folder)
    hits, ran = (sum(counts) for counts in zip(*state.counts.values(), strict=True))
    killed = f"one worker killed ({swept} folders swept)" if state.killed else "nobody killed"
    return (
        f"{calls} calls on {len(names)} programs by {workers} workers (seed {seed}) in {seconds:.0f} s, {hits} hits, "
        f"{ran} ran, {state.late} late and asked again, {killed}, {records} records; "
        f"{time.monotonic() - started:.0f} s in all; "
        "no stray process, no stray file, no wrong verdict, the cache is intact"
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    given = arguments()
    if given.serve is not None:
        serve(given.serve, given.cache, given.folder)
        return 0
    adopt_orphans()
    place = Path(tempfile.mkdtemp(prefix="soak-", dir=scratch.home()))
    try:
        print(f"soak: {soak(given.calls, given.workers, given.seed, place)}")
    except Broken as broken:
        print(f"soak: FAILED (seed {given.seed}, files in {place}): {broken}")
        return 1
    shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
