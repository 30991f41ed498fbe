"""Stored rollouts of a whole study as two slim tables: one row a rollout, one row a call.

Files are read one after the other, so that a study's conversations never stand in memory together; what an audit needs
of them a domain's reader says (`domains.reading`), once for each conversation that differs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak import tables
from tiebreak.domains.reading import Reader, Reading, StoredRollout
from tiebreak.errors import DataError
from tiebreak.paths import Paths, parse_run, run_name

CORE = (
    "case_id family template arm training_seed repetition sample stop valid success graded rewards new_tokens truncated"
).split()
WORDS = "source run arm case_id family template stop reached kind outcome detail".split()
NUMBERS = ["repetition", "step", "group", "reward"]
PLACE = ["source", "run", "repetition", "step", "group", "case_id", "sample"]
"""The columns that say where a rollout stands; step and group are those of training, repetition of the others."""


@dataclass(frozen=True)
class Stored:
    """rollouts: PLACE, arm, family, template, the core, `turns` (assistant turns), `reached`, a column for each slip,
    `reward` (its own arm's, missing for `sft`), `reward.<shape>` for each shape of the reader. calls: `rollout` (the
    row of its rollout), kind, outcome, detail."""

    rollouts: pd.DataFrame
    calls: pd.DataFrame


@dataclass(frozen=True)
class Row:
    """One rollout: its labels and outcomes, and what is read of it."""

    core: dict[str, Any]
    stored: StoredRollout
    reward: float | None


def stored(parts: Iterable[Iterable[Row]], reader: Reader) -> Stored:
    """Both tables of all rows, in the order of the parts."""
    seen: dict[bytes, Reading] = {}
    frames, calls, start = [], [], 0
    for part in parts:
        rows, readings = [], []
        for row in part:
            key = digest(row.stored)
            if key not in seen:
                seen[key] = reader.read(row.stored)
            readings.append(seen[key])
            rows.append(described(row, readings[-1]))
        frames.append(pd.DataFrame(rows))
        calls += [pd.DataFrame(call_rows(readings, start), columns=["rollout", "kind", "outcome", "detail"])]
        start += len(rows)
    if not start:
        raise DataError("no rollouts are stored; an audit needs at least one evaluation, probe or training")
    return Stored(typed(pd.concat(frames, ignore_index=True)), typed(pd.concat(calls, ignore_index=True)))


def described(row: Row, reading: Reading) -> dict[str, Any]:
    """The row of a rollout."""
    turns = sum(turn["role"] == "assistant" for turn in row.stored.turns)
    scored = {f"reward.{shape}": value for shape, value in reading.rewards.items()}
    return row.core | {"reward": row.reward, "turns": turns, "reached": reading.reached} | dict(reading.slips) | scored


def call_rows(readings: Sequence[Reading], start: int) -> Iterator[tuple[int, str, str, str]]:
    """The rows of the calls of rollouts that are numbered from `start`."""
    for number, reading in enumerate(readings, start):
        for call in reading.calls:
            yield number, call.kind, call.outcome, call.detail


def digest(item: StoredRollout) -> bytes:
    """What a reading depends on, in 16 bytes."""
    said = (part for turn in item.turns for part in (turn["role"], turn["content"]))
    parts = [item.case_id, item.stop, str(item.facts), *said]
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with words as categories, which take a hundredth of the room, and with numbers that may be missing."""
    words, numbers = ([name for name in names if name in frame] for names in (WORDS, NUMBERS))
    return frame.astype(dict.fromkeys(words, "category") | dict.fromkeys(numbers, "float64"))


def evaluated(path: Path, source: str = "evaluation") -> Iterator[Row]:
    """The rollouts of one table of an evaluation or a probe; none of a run that a gate stopped."""
    for row in tables.read_table(path, [*CORE, "turns", "facts"]).to_pylist():
        seed, rewards = row["training_seed"], dict(row["rewards"])
        run = row["arm"] if seed is None else run_name(row["arm"], seed)
        core = {"source": source, "run": run, "step": None, "group": None}
        core |= {name: row[name] for name in CORE if name not in ("training_seed", "rewards")}
        yield Row(core, StoredRollout(row["case_id"], row["turns"], row["stop"], row["facts"]), rewards.get(row["arm"]))


def trained(run: str, groups: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """The rollouts of a training's groups (`groups.jsonl`); a turn that a limit cut is what ends one with `tokens`."""
    arm = parse_run(run)[0]
    for group in groups:
        for sample, turns in enumerate(group["turns"]):
            stop, shared = group["stop"][sample], ("case_id", "family", "template", "step", "group")
            core = {"source": "training", "run": run, "arm": arm, "repetition": None, "sample": sample, "stop": stop}
            core |= {name: group[name] for name in shared} | {"truncated": stop == "tokens"}
            core |= {name: group[name][sample] for name in ("valid", "success", "graded", "new_tokens")}
            yield Row(core, StoredRollout(group["case_id"], turns, stop), group["rewards"][sample])


def study_parts(paths: Paths) -> Iterator[Iterator[Row]]:
    """All rollouts that are stored of a study: evaluations, probes, trainings."""
    for path in sorted(paths.root.glob("evals/*/rep*/rollouts.parquet")):
        yield evaluated(path)
    for path in sorted(paths.root.glob("probes/*/rollouts.parquet")):
        yield evaluated(path, "probe")
    for run, groups in training_lines(paths, "groups").items():
        yield trained(run, groups)


def training_lines(paths: Paths, name: str) -> dict[str, list[Any]]:
    """The lines of `groups` or `steps` of each run that is stored. Raises DataError, naming the line, for no JSON."""
    found = {}
    for path in sorted(paths.root.glob(f"arms/*/seed*/{name}.jsonl")):
        found[paths.run_of_training(path)] = json_lines(path)
    return found


def json_lines(path: Path) -> list[Any]:
    """The JSON values of a file that has one a line. Raises DataError, naming the line, for anything else."""
    values = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        try:
            values += [json.loads(line)] if line else []
        except ValueError as error:
            raise DataError(f"{path}: line {number}: no JSON ({error}); run its rule again") from None
    return values
