"""Sampling a table of prompts on an engine that needs no blocks: each rollout is kept as soon as it has its grade.

A restart plays just those that are not kept. They are kept by engine: what another one (another vLLM or GPU) made is no
part of this sampling, whose record names one engine. A rollout that ended in an error is played again, in this job and
by a restart; one that ends so every time is written as such, with no reward and no grade.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tiebreak.chat import Message
from tiebreak.digest import json_digest
from tiebreak.domains.base import Domain
from tiebreak.engines.base import FreeEngine
from tiebreak.errors import EngineError
from tiebreak.frames import append_frame, read_frames
from tiebreak.rollout import Attempt, Played
from tiebreak.rollout_free import play_free
from tiebreak.sampling import Plan, attempts_of, in_order, rollout_rows, timing

KEPT = "rollouts-{}.jsonl.zst"
MEASURED = ("adapter_effect",)
"""What an engine says of itself that two starts of the same one may differ in."""
TRIES = 3
"""How often a rollout is played in one job, if it ends in an error every time."""


def sample_free(
    engine: FreeEngine, domain: Domain, prompts: Sequence[tuple[Any, list[Message]]], plan: Plan, *, work: Path
) -> list[dict[str, Any]]:
    """Play `plan.samples` rollouts of every prompt; each with the row of its timing, by case and sample.

    work: a folder for the rollouts that are done; a call with the same folder plays the others. The `block` of a timing
    is the batch that a rollout was graded in: `asked` and `cache_hits` are all verdicts since the batch before, and
    `seconds` the rollout's share of the time since then. Raises EngineError where no rollout at all could be played.
    """
    path = kept_in(work, identity(engine.describe()))
    kept = [row for frame in read_frames(path)[1:] for row in frame]
    done = {name_of(row) for row in kept}
    attempts = attempts_of(prompts, plan)
    failed: list[dict[str, Any]] = []
    label = f"{plan.arm} rep{plan.repetition}"
    with tqdm(total=len(attempts), initial=len(kept), desc=label, unit="rollout", mininterval=1) as bar:
        for number in range(1, TRIES + 1):
            left = [one for one in attempts if (one.case.case_id, one.sample) not in done]
            keeper = Keeper(domain, plan, path, number, bar.update)
            rows = play(engine, domain, left, keeper, plan) if left else []
            failed = [row for row in rows if row["rollout"]["stop"] == "error"]
            finished = [row for row in rows if row["rollout"]["stop"] != "error"]
            done |= {name_of(row) for row in finished}
            kept += finished
            if not failed:
                break
    if failed and not kept:
        raise EngineError(
            f"all {len(failed)} rollouts ended in an error, each played {TRIES} times; see the engine's log"
        )
    return in_order(kept + failed)


def identity(description: Mapping[str, object]) -> dict[str, Any]:
    """Which engine a description is of, as JSON values: rollouts of two that differ in it are not mixed."""
    known = {name: value for name, value in description.items() if name not in MEASURED}
    return dict(json.loads(json.dumps(known)))


def kept_in(work: Path, engine: dict[str, Any]) -> Path:
    """The file in `work` of what an engine made; its first frame says which engine that is.

    Where there is none, but one of another engine, that is told: its rollouts are left there, and all are played anew.
    """
    path = work / KEPT.format(json_digest(engine)[:8])
    if read_frames(path):
        return path
    for other in sorted(work.glob(KEPT.format("*"))):
        first, *frames = read_frames(other) or [[]]
        if frames:
            count, changes = sum(map(len, frames)), differences(first[0]["engine"], engine)
            print(
                f"{count} rollouts of another engine (its and ours: {changes}) stay in {other}; all start anew",
                file=sys.stderr,
            )
    append_frame(path, [{"engine": engine}])
    return path


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """In what two engines differ, in words; empty where in nothing."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return ", ".join(f"{name} {one.get(name)!r} and {other.get(name)!r}" for name in names)


def play(
    engine: FreeEngine, domain: Domain, attempts: Sequence[Attempt], keeper: "Keeper", plan: Plan
) -> list[dict[str, Any]]:
    """Play some rollouts, from code that knows no event loop."""
    return asyncio.run(play_free(engine, domain, attempts, keeper, tool_rounds=plan.tool_rounds))


def name_of(row: dict[str, Any]) -> tuple[str, int]:
    """Which rollout of the plan a row is."""
    return row["rollout"]["case_id"], row["rollout"]["sample"]


class Keeper:
    """Grades finished rollouts in batches and appends those without an error to the file, a frame a batch."""

    def __init__(self, domain: Domain, plan: Plan, path: Path, number: int, progress: Callable[[int], object]) -> None:
        self.domain, self.plan, self.path, self.number, self.progress = domain, plan, path, number, progress
        self.started = time.perf_counter()
        self.batches = 0
        self.before = domain.counters()

    def __call__(self, played: list[Played]) -> list[dict[str, Any]]:
        """The rows of a batch, each with its timing."""
        rows = rollout_rows(self.domain, played, self.plan)
        after = self.domain.counters()
        asked, hits = (after[name] - self.before[name] for name in ("asked", "hits"))
        self.before = after
        seconds = (time.perf_counter() - self.started) / len(rows)
        self.started = time.perf_counter()
        found = [
            {"rollout": row, "timing": timing(row, self.batches, seconds, asked, hits, self.number)} for row in rows
        ]
        self.batches += 1
        whole = [row for row in found if row["rollout"]["stop"] != "error"]
        if whole:
            append_frame(self.path, whole)
            self.progress(len(whole))
        return found
