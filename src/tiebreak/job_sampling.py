"""What all sampling rules share: a run's model, sampled on a table of prompts. A stopped run gives no rows."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from tiebreak import tables
from tiebreak.engines.adapter import Adapter, is_adapter, read_adapter
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.engines.vllm import Reference, Serving, VllmEngine, serve
from tiebreak.engines.vllm_install import python_of
from tiebreak.engines.vllm_machine import find_python
from tiebreak.errors import DataError
from tiebreak.job import Job
from tiebreak.job_domain import free_workers, open_domain, stop_reason
from tiebreak.paths import job_name, parse_run
from tiebreak.sampling import Plan, play_blocks, prompts_of, spread, write_rows
from tiebreak.sampling_free import differences, identity, sample_free
from tiebreak.sections.evaluation import Evaluation, engine_of
from tiebreak.sections.model import Model

CHECKED = ("cpu", "float32")
"""Where a server is held against transformers: models are small there, and rounding is too."""
Player = Callable[..., list[dict[str, Any]]]
"""`sampling.play_blocks` or `sampling_free.sample_free`, without its engine."""


def sample_run(
    job: Job, plan: Plan, sampling: Sampling, *, limit: int | None = None, shard: tuple[int, int] = (0, 1)
) -> dict[str, Any]:
    """Sample the job's model on its prompts and write both tables; returns the summary.

    limit: so many of the prompts, spread over the table. shard: which of how many parts of them this job plays.
    """
    domain, rows = open_domain(job, workers=workers_of(job)), list[dict[str, Any]]()
    reason = stop_reason(job.input.model)
    if reason is None:
        prompts = spread(prompts_of(Path(job.input.prompts), domain.load_cases(Path(job.input.cases))), limit)
        with player(job, plan, sampling) as play:
            rows = play(domain, share(prompts, *shard, unit_of(job, plan)), plan, work=job.work)
    write_rows(rows, domain, Path(job.output.rollouts), Path(job.output.timings))
    return summary(plan, [row["rollout"] for row in rows], stopped=reason)


def share(prompts: Sequence[Any], part: int, parts: int, unit: int) -> list[Any]:
    """The prompts of one part of several: every `parts`-th run of `unit` prompts, in their order."""
    return [one for start in range(part * unit, len(prompts), parts * unit) for one in prompts[start : start + unit]]


def unit_of(job: Job, plan: Plan) -> int:
    """How many prompts stay together in a shard: on `hf` a block, as another batch gives other bytes there."""
    return plan.block if engine_name(job) == "hf" else 1


def workers_of(job: Job) -> int:
    """How many programs run at a time beside the job's engine."""
    return job.threads if engine_name(job) == "hf" else free_workers(job)


def engine_name(job: Job) -> str:
    """The engine that the job samples with."""
    named = (job.params.get("evaluation") or {}).get("engine") or job.params.get("engine")
    return engine_of(named, job.part("model", Model).device)


def sample_budgets(job: Job, plan: Plan, sampling: Sampling, budgets: Sequence[int]) -> None:
    """Sample the job's model on its prompts once under each budget of calls (the toolbox's `most_calls`).

    Both tables hold the rollouts of all budgets; which one a rollout had is among its facts.
    """
    domain, rows = open_domain(job), list[dict[str, Any]]()
    if stop_reason(job.input.model) is None:
        prompts = prompts_of(Path(job.input.prompts), domain.load_cases(Path(job.input.cases)))
        with player(job, plan, sampling) as play:
            for calls in budgets:
                held = open_domain(job, workers=workers_of(job), most_calls=calls)
                rows += play(held, prompts, plan, work=job.work / f"calls{calls}")
    write_rows(rows, domain, Path(job.output.rollouts), Path(job.output.timings))


@contextmanager
def player(job: Job, plan: Plan, sampling: Sampling) -> Iterator[Player]:
    """What plays rollouts on the job's engine; the job's record then says which that is."""
    stream = [*plan.stream, "<case>", "<sample>", "<turn>"]
    job.resolved |= {"seeds": {"root": plan.root_seed, "stream": stream}}
    if engine_name(job) == "hf":
        engine = open_hf(job, sampling)
        job.resolved |= {"engine": engine.describe()}
        yield partial(play_blocks, engine)
        return
    with open_vllm(job, sampling) as served:
        job.resolved |= {"engine": served.describe()}
        yield partial(sample_free, served)


def plan_of(job: Job, section: Evaluation, repetition: int) -> Plan:
    """What one repetition of the job's run samples."""
    arm, seed = parse_run(job.wildcards.run)
    return Plan(
        root_seed=job.params.root_seed,
        stream=("eval", repetition),
        arm=arm,
        training_seed=seed,
        repetition=repetition,
        samples=section.k,
        tool_rounds=section.tool_rounds,
        block=section.block,
    )


def sampling_of(job: Job, section: Evaluation) -> Sampling:
    """How an evaluation draws turns."""
    return Sampling(section.temperature, section.turn_tokens, job.part("model", Model).max_length)


def open_hf(job: Job, sampling: Sampling) -> HfEngine:
    """The job's model in this process, ready to sample."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(job.input.model, dtype=job.part("model", Model).precision)
    return HfEngine(model, AutoTokenizer.from_pretrained(job.input.model), sampling)


def open_vllm(job: Job, sampling: Sampling) -> AbstractContextManager[VllmEngine]:
    """The job's model on a server of its own. An adapter is served on the model that it was trained on."""
    from transformers import AutoTokenizer

    folder = Path(job.input.model)
    adapter: Adapter | None = read_adapter(folder, job.paths.model("sft")) if is_adapter(folder) else None
    base = folder if adapter is None else job.paths.model("sft")
    serving = serving_of(job, base, adapter.rank if adapter else 0)
    log = job.log_path.with_suffix(".vllm.log")
    tokenizer = AutoTokenizer.from_pretrained(base)
    reference = hf_logprobs(base, tokenizer, sampling) if (serving.device, serving.dtype) == CHECKED else None
    return serve(serving, tokenizer, sampling, log, adapter, reference)


def hf_logprobs(base: Path, tokenizer: Any, sampling: Sampling) -> Reference:
    """What transformers gives, for a server to be held against."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32").eval()
    return HfEngine(model, tokenizer, sampling).logprobs


def serving_of(job: Job, base: Path, rank: int, memory: float | None = None) -> Serving:
    """What the job's server is started with. Raises EngineError where vLLM is not installed."""
    model, stamps = job.part("model", Model), job.input.get("engine") or []
    python = find_python(python_of(Path(str(stamps[0]))) if stamps else None)
    return Serving(python, base, model.precision, model.device, rank, memory)


def gather(job: Job, plan: Plan, facts: pa.StructType) -> dict[str, Any]:
    """Put the tables of an evaluation's shards together; returns the summary. facts: of the domain.

    Raises DataError where not all shards were sampled by one engine, or no record says by which.
    """
    same_engine(job)
    for name, schema in (("rollouts", tables.rollouts(facts)), ("timings", tables.TIMINGS)):
        parts = [tables.read_table(Path(path)) for path in job.input[name]]
        tables.write_table(Path(job.output[name]), pa.concat_tables(parts), schema)
    columns = ["case_id", "stop", "valid", "success", "graded", "truncated"]
    rows = tables.read_table(Path(job.output.rollouts), columns).to_pylist()
    return summary(plan, rows, stopped=stop_reason(job.input.model))


def same_engine(job: Job) -> None:
    """Raise DataError where the records of an evaluation's shards name more than one engine, or one has no record."""
    first: dict[str, Any] | None = None
    for number in range(len(job.input["rollouts"])):
        path = job.paths.record(job_name("shard", {**dict(job.wildcards.items()), "shard": str(number)}))
        if not path.is_file():
            raise DataError(f"{path}: no record says how this shard was sampled; remove the shard and run again")
        engine = identity(json.loads(path.read_text(encoding="utf-8"))["resolved"].get("engine", {}))
        first = engine if first is None else first
        if changes := differences(engine, first):
            raise DataError(
                f"{path}: this shard was sampled by another engine than shard 0 ({changes}); remove the shards of one "
                "of the two and sample all with one engine"
            )


def summary(plan: Plan, rows: list[dict[str, Any]], *, stopped: str | None) -> dict[str, Any]:
    """What a sampling came to, in counts; `stopped` is the reason of a run that a gate stopped."""
    ended = [row for row in rows if row["stop"] != "error"]
    counts = {name: sum(bool(row[name]) for row in ended) for name in ("valid", "success", "graded", "truncated")}
    return {
        "arm": plan.arm,
        "training_seed": plan.training_seed,
        "repetition": plan.repetition,
        "stopped": stopped,
        "cases": len({row["case_id"] for row in rows}),
        "rollouts": len(rows),
        "errors": len(rows) - len(ended),
        "stops": {stop: sum(row["stop"] == stop for row in rows) for stop in sorted({row["stop"] for row in rows})},
        **counts,
    }
