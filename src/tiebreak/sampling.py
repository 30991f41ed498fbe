"""Sampling a table of prompts: fixed blocks of cases, appended as they finish, resumed where a run was killed.

A block is the unit of batching and of resuming, so a restart changes no batch and thereby no bytes. Evaluations and
learning probes are the same code with other prompts and seeds. (`sampling_free`: the same without blocks.)
"""

import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tiebreak import chat, tables
from tiebreak.domains.base import Domain
from tiebreak.engines.base import Engine
from tiebreak.errors import DataError
from tiebreak.frames import append_frame, read_frames
from tiebreak.rollout import Attempt, Played, play
from tiebreak.seeds import derive


@dataclass(frozen=True)
class Plan:
    """What is sampled and under which names.

    stream: the names of the seed stream before (case, sample, turn); it holds no arm and no run, so that checkpoints
    are compared on common random numbers. block: cases in a batch.
    """

    root_seed: int
    stream: tuple[str | int, ...]
    arm: str
    training_seed: int | None
    repetition: int
    samples: int
    tool_rounds: int
    block: int


def spread(items: Sequence[Any], count: int | None) -> list[Any]:
    """`count` items at even distances, so that a list in order of kinds gives each its share; None is all of them."""
    kept = len(items) if count is None else min(count, len(items))
    return [items[number * len(items) // kept] for number in range(kept)]


def prompts_of(path: Path, cases: Sequence[Any]) -> list[tuple[Any, list[chat.Message]]]:
    """The cases of a prompts table with their opening messages, in the table's order.

    Raises DataError for a prompt whose case is not there, or that is no rendered conversation.
    """
    by_id = {case.case_id: case for case in cases}
    pairs = []
    for row in tables.read_table(path, ["case_id", "prompt"]).to_pylist():
        if row["case_id"] not in by_id:
            raise DataError(f"{path}: case {row['case_id']} is not among the cases; remake the data")
        try:
            messages = chat.parse(row["prompt"].removesuffix(chat.BREAK + chat.OPENING))
        except ValueError as error:
            raise DataError(f"{path}: the prompt of case {row['case_id']} is no conversation: {error}") from None
        pairs.append((by_id[row["case_id"]], messages))
    return pairs


def sample(
    engine: Engine,
    domain: Domain,
    prompts: Sequence[tuple[Any, list[chat.Message]]],
    plan: Plan,
    *,
    work: Path,
    rollouts: Path,
    timings: Path,
) -> list[dict[str, Any]]:
    """Play `plan.samples` rollouts of every prompt and write both tables; returns the rollouts in the table's order."""
    rows = play_blocks(engine, domain, prompts, plan, work=work)
    write_rows(rows, domain, rollouts, timings)
    return [row["rollout"] for row in rows]


def play_blocks(
    engine: Engine, domain: Domain, prompts: Sequence[tuple[Any, list[chat.Message]]], plan: Plan, *, work: Path
) -> list[dict[str, Any]]:
    """Play `plan.samples` rollouts of every prompt; each with the row of its timings, by case and sample.

    work: a folder for the blocks that are done; a call with the same folder goes on behind them.
    """
    blocks = [prompts[start : start + plan.block] for start in range(0, len(prompts), plan.block)]
    done = read_frames(work / "blocks.jsonl.zst")
    total = len(prompts) * plan.samples
    label = f"{plan.arm} rep{plan.repetition}"
    with tqdm(total=total, initial=sum(map(len, done)), desc=label, unit="rollout", mininterval=1) as bar:
        for number, block in enumerate(blocks[len(done) :], start=len(done)):
            rows = play_block(engine, domain, block, plan, number)
            append_frame(work / "blocks.jsonl.zst", rows)
            done.append(rows)
            bar.update(len(rows))
    return in_order(row for block in done for row in block)


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of rollouts with their timings, by case and sample."""
    return sorted(rows, key=lambda row: (row["rollout"]["case_id"], row["rollout"]["sample"]))


def write_rows(rows: Sequence[dict[str, Any]], domain: Domain, rollouts: Path, timings: Path) -> None:
    """Write what `play_blocks` gave as the two tables."""
    tables.write_table(rollouts, [as_arrow(row["rollout"]) for row in rows], tables.rollouts(domain.facts))
    tables.write_table(timings, [row["timing"] for row in rows], tables.TIMINGS)


def attempts_of(prompts: Sequence[tuple[Any, list[chat.Message]]], plan: Plan) -> list[Attempt]:
    """Every rollout of some prompts, with the seeds of its turns."""
    return [
        Attempt(case, messages, sample, partial(derive, plan.root_seed, *plan.stream, case.case_id, sample))
        for case, messages in prompts
        for sample in range(plan.samples)
    ]


def play_block(
    engine: Engine, domain: Domain, block: Sequence[tuple[Any, list[chat.Message]]], plan: Plan, number: int
) -> list[dict[str, Any]]:
    """One block's rollouts, each with the row of its timings."""
    started, before = time.perf_counter(), domain.counters()
    played = play(engine, domain, attempts_of(block, plan), tool_rounds=plan.tool_rounds)
    rows = rollout_rows(domain, played, plan)
    seconds, after = (time.perf_counter() - started) / len(rows), domain.counters()
    asked, hits = (after[name] - before[name] for name in ("asked", "hits"))
    return [{"rollout": row, "timing": timing(row, number, seconds, asked, hits)} for row in rows]


def rollout_rows(domain: Domain, played: Sequence[Played], plan: Plan) -> list[dict[str, Any]]:
    """The core of each finished rollout (docs/contracts.md), with its grade."""
    episodes = [item.episode for item in played]
    outcomes, grades = domain.outcomes(episodes), domain.grades(episodes)
    return [
        {
            "case_id": item.attempt.case.case_id,
            "family": item.attempt.case.family,
            "difficulty": item.attempt.case.difficulty,
            "template": item.attempt.case.template,
            "arm": plan.arm,
            "training_seed": plan.training_seed,
            "repetition": plan.repetition,
            "sample": item.attempt.sample,
            "root_seed": plan.root_seed,
            "turns": turns(item),
            "stop": outcome["stop"],
            "valid": outcome["valid"],
            "success": outcome["success"],
            "graded": None if outcome["stop"] == "error" else graded,
            "facts": outcome["facts"],
            "rewards": outcome["rewards"],
            "new_tokens": item.new_tokens,
            "truncated": item.truncated,
        }
        for item, outcome, graded in zip(played, outcomes, grades, strict=True)
    ]


def turns(played: Played) -> list[dict[str, Any]]:
    """All turns; those that the model wrote carry their token count and seed."""
    own = iter(zip(played.replies, played.seeds, strict=True))
    rows = []
    for message in played.episode.messages:
        tokens, seed = None, None
        if message["role"] == "assistant":
            reply, seed = next(own)
            tokens = len(reply.ids)
        rows.append({"role": message["role"], "content": message["content"], "tokens": tokens, "sampling_seed": seed})
    return rows


def as_arrow(row: dict[str, Any]) -> dict[str, Any]:
    """A rollout row with its rewards as the sorted pairs that an Arrow map takes."""
    return row | {"rewards": sorted(row["rewards"].items())}


def timing(row: dict[str, Any], block: int, seconds: float, asked: int, hits: int, attempts: int = 1) -> dict[str, Any]:
    """The side table's row of a rollout: what depends on the machine or the moment; verdicts are those of its block.

    attempts: how often it was played, where it ended in an error before.
    """
    return {
        "case_id": row["case_id"],
        "sample": row["sample"],
        "block": block,
        "seconds": seconds,
        "attempts": attempts,
        "asked": asked,
        "cache_hits": hits,
        "host": platform.node(),
    }
