"""Checks of stored rollouts, row by row, without running anything: which are there, their labels and prompts, the seed
of every turn, and what their turns and facts say that they came to and are paid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from tiebreak import tables
from tiebreak.audits.stored import digest
from tiebreak.chat import Message
from tiebreak.domains.base import Domain
from tiebreak.domains.reading import Reader, Reading, StoredRollout
from tiebreak.errors import DataError
from tiebreak.paths import parse_run
from tiebreak.publish.check_stopped import stops
from tiebreak.publish.context import Context
from tiebreak.publish.copies import Voices
from tiebreak.publish.records import model_digests
from tiebreak.publish.verdicts import Difference, Verdict, differs
from tiebreak.sampling import prompts_of, spread
from tiebreak.seeds import derive

ROWS = 2048
TOLERANCE = 1e-9
Row = dict[str, Any]
Field = tuple[str, Any, Any]
"""A field's name, what was found, what was expected."""


class Key(NamedTuple):
    """What a row must be about; calls: the budget of calls that it names, where there are several."""

    case: Any
    messages: list[Message]
    sample: int
    calls: int | None


@dataclass(frozen=True)
class Sampled:
    """What one table of rollouts must hold: `samples` of every prompt, drawn from the seeds of `stream`.

    budgets: of calls, each sampled anew and one after the other in the table; () is the toolbox's own, once.
    tool_rounds: how many turns with calls a conversation has at most; turn_tokens: how many tokens a turn has at most.
    """

    path: Path
    run: str
    stream: tuple[str | int, ...]
    repetition: int
    prompts: Sequence[tuple[Any, list[Message]]]
    samples: int
    stopped: bool = False
    budgets: tuple[int, ...] = ()
    tool_rounds: int = 0
    turn_tokens: int = 0

    @property
    def rows(self) -> int:
        """How many rollouts there must be."""
        return 0 if self.stopped else len(self.prompts) * self.samples * max(1, len(self.budgets))


def sampled(context: Context) -> list[Sampled]:
    """Every table of rollouts that the study asks for."""
    study, paths = context.study, context.paths
    cases = list(context.cases.values())
    holdout, pool = (prompts_of(paths.prompts(name), cases) for name in ("holdout", "pool"))
    found, without = [], stops(context)
    for run in study.runs:
        stopped = run in without
        for rep in study.repetitions:
            whole = Sampled(paths.rollouts(run, rep), run, ("eval", rep), rep, holdout, study.evaluation.k, stopped)
            found.append(whole)
        probe = spread(pool, study.probe.prompts)
        found.append(Sampled(paths.probe(run), run, ("probe",), 0, probe, study.probe.samples, stopped))
        if held := context.budgets:
            under = Sampled(paths.budgets(run), run, ("eval", 0), 0, holdout, study.evaluation.k, stopped, held)
            found.append(under)
    own = study.evaluation
    found = [replace(plan, tool_rounds=own.tool_rounds, turn_tokens=own.turn_tokens) for plan in found]
    if study.rlvr.pool is not None:
        path, limits = paths.root / "probes" / "bands" / "rollouts.parquet", study.rlvr
        asked = Sampled(path, "sft", ("bands",), 0, pool, study.rlvr.pool.samples)
        found.append(replace(asked, tool_rounds=limits.tool_rounds, turn_tokens=limits.turn_tokens))
    return found


def check_rollouts(context: Context) -> Iterator[Verdict]:
    """A verdict on every table of rollouts, and one on the runs against each other."""
    plans = sampled(context)
    read, voices = Readings(context.reader), Voices()
    with tqdm(total=sum(plan.rows for plan in plans), desc="rollouts", unit="rollout", mininterval=1) as bar:
        for plan in plans:
            yield check_table(context, plan, read, voices, bar)
    yield from voices.verdicts(model_digests(context.records))


class Readings:
    """A reader that reads equal conversations once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.seen: dict[bytes, Reading] = {}

    def __call__(self, rollout: StoredRollout) -> Reading:
        """The reading of a rollout."""
        key = digest(rollout)
        if key not in self.seen:
            self.seen[key] = self.reader.read(rollout)
        return self.seen[key]


def check_table(context: Context, plan: Sampled, read: Readings, voices: Voices, bar: Any) -> Verdict:
    """The verdict on one table, with the first rollout that is not what it must be."""
    name = context.named(plan.path)
    problem = partial(Difference, name)
    if not plan.path.is_file():
        return differs(name, problem("", "absent", "a table of rollouts"))
    expected, errors = keys(plan), 0
    try:
        schema = stored(tables.rollouts(context.domain.facts))
        for column, kind, right in columns_apart(pq.read_schema(plan.path), schema):
            return differs(name, problem(f"column {column}", kind, right))
        for row in rows(plan.path):
            place = {"run": plan.run, "repetition": plan.repetition, "case": row["case_id"], "sample": row["sample"]}
            wanted = next(expected, None)
            if wanted is None or (row["case_id"], row["sample"]) != (wanted.case.case_id, wanted.sample):
                key = None if wanted is None else f"case {wanted.case.case_id}, sample {wanted.sample}"
                return differs(name, problem("rollout", f"case {row['case_id']}, sample {row['sample']}", key, place))
            for field, found, right in fields(context, plan, row, wanted, read):
                return differs(name, problem(field, found, right, place), plan.rows)
            errors += row["stop"] == "error"
            if plan.stream[0] == "eval" and not plan.budgets:
                voices.hear(plan.run, row)
            bar.update()
    except (OSError, DataError, ValueError) as error:
        return differs(name, problem("table", str(error), "a table that can be read"))
    if (left := next(expected, None)) is not None:
        return differs(name, problem("rollout", "absent", f"case {left.case.case_id}, sample {left.sample}"), plan.rows)
    said = "labels, prompts, seeds of every turn, outcomes and rewards; who wrote the turns is shown by --rerun alone"
    said += f"; {errors} of {plan.rows} ended in an error, which counts nowhere" if errors else ""
    return Verdict(name, "bit-exact", said, plan.rows)


def stored(schema: pa.Schema) -> pa.Schema:
    """A schema as Parquet gives it back, which names the inner fields of lists and maps its own way."""
    file = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), file)
    return pq.read_schema(pa.BufferReader(file.getvalue()))


def columns_apart(found: pa.Schema, expected: pa.Schema) -> Iterator[Field]:
    """Columns of a table that are missing, unknown, or of another type or place than expected."""
    for column in dict.fromkeys([*expected.names, *found.names]):
        kinds = [str(one.field(column)) if column in one.names else "absent" for one in (found, expected)]
        if kinds[0] != kinds[1]:
            yield column, *kinds
    if found.names != expected.names:
        yield "order", found.names, expected.names


def keys(plan: Sampled) -> Iterator[Key]:
    """Case, prompt, sample and budget of calls of every row that must be there, in the table's order."""
    pairs = [] if plan.stopped else sorted(plan.prompts, key=lambda pair: pair[0].case_id)
    for calls in plan.budgets or (None,):
        for case, messages in pairs:
            for sample in range(plan.samples):
                yield Key(case, messages, sample, calls)


def rows(path: Path) -> Iterator[Row]:
    """The rows of a table, a few in memory at a time."""
    for batch in pq.ParquetFile(path).iter_batches(ROWS):
        yield from batch.to_pylist()


def fields(context: Context, plan: Sampled, row: Row, wanted: Key, read: Readings) -> Iterator[Field]:
    """The fields of a rollout that are not what they must be."""
    turns = row["turns"]
    told = read(StoredRollout(row["case_id"], turns, row["stop"], row["facts"]))
    for pairs in (
        labels(context, plan, row, wanted),
        opening(turns, wanted.messages),
        seeds(context, plan, row),
        counted(plan, row),
        outcomes(row, told),
        rewards(plan, row, told),
        broken(context.domain, plan, row, wanted),
    ):
        yield from ((name, found, right) for name, found, right in pairs if found != right)


def labels(context: Context, plan: Sampled, row: Row, wanted: Key) -> Iterator[Field]:
    """Who was sampled on what."""
    arm, seed = parse_run(plan.run)
    yield "arm", row["arm"], arm
    yield "training_seed", row["training_seed"], seed
    yield "repetition", row["repetition"], plan.repetition
    yield "root_seed", row["root_seed"], context.study.root_seed
    for name in ("family", "template", "difficulty"):
        yield name, row[name], getattr(wanted.case, name)
    if wanted.calls is not None:
        yield "facts.most_calls", (row["facts"] or {}).get("most_calls"), wanted.calls


def opening(turns: Sequence[Row], messages: Sequence[Message]) -> Iterator[Field]:
    """The prompt, turn by turn."""
    for number, message in enumerate(messages):
        turn = turns[number] if number < len(turns) else {"role": None, "content": None}
        yield f"turns[{number}].role", turn["role"], message["role"]
        yield f"turns[{number}].content", turn["content"], message["content"]


def seeds(context: Context, plan: Sampled, row: Row) -> Iterator[Field]:
    """The seed of every turn that the model wrote; no other turn has one."""
    own = 0
    for number, turn in enumerate(row["turns"]):
        right = None
        if turn["role"] == "assistant":
            right = derive(context.study.root_seed, *plan.stream, row["case_id"], row["sample"], own)
            own += 1
        yield f"turns[{number}].sampling_seed", turn["sampling_seed"], right


def counted(plan: Sampled, row: Row) -> Iterator[Field]:
    """Tokens of the turns against their sum and their limit, and truncation against how it stopped."""
    own = [turn["tokens"] or 0 for turn in row["turns"] if turn["role"] == "assistant"]
    yield "new_tokens", row["new_tokens"], sum(own)
    yield "most tokens of a turn", max(own, default=0), min(max(own, default=0), plan.turn_tokens)
    yield "truncated", row["truncated"], row["stop"] == "tokens"


def outcomes(row: Row, told: Reading) -> Iterator[Field]:
    """Outcomes against what the turns say; a grade is for a rollout that ended."""
    yield "graded is null", row["graded"] is None, row["stop"] == "error"
    if row["stop"] != "error":
        yield "valid", row["valid"], told.valid
        yield "success", row["success"], told.success


def broken(domain: Domain, plan: Sampled, row: Row, wanted: Key) -> Iterator[Field]:
    """How a rollout in error ended; its last turn must not end it by itself, or a failure would count nowhere."""
    own = [turn["content"] for turn in row["turns"] if turn["role"] == "assistant"]
    if row["stop"] != "error" or not own:
        return
    left = max(0, plan.tool_rounds - (len(own) - 1))
    episode = domain.episode(wanted.case, wanted.messages, tool_rounds=left)
    episode.act(own[-1])
    ended = episode.stop
    episode.halt(ended or "error")
    yield "stop", "error", ended or "error"


def rewards(plan: Sampled, row: Row, told: Reading) -> Iterator[Field]:
    """The stored rewards (under the run's own shape) against those that turns and facts give."""
    stored: Mapping[str, float] = dict(row["rewards"])
    shapes = [shape for shape in told.rewards if shape == parse_run(plan.run)[0]]
    yield "shapes of rewards", sorted(stored), shapes
    for shape in shapes:
        if abs(stored[shape] - told.rewards[shape]) >= TOLERANCE:
            yield f"rewards.{shape}", stored[shape], told.rewards[shape]
