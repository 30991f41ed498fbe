"""What all sampling rules share: a run's model, sampled on a table of prompts. A stopped run gives no rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, stop_reason
from tiebreak.paths import parse_run
from tiebreak.sampling import Plan, play_blocks, prompts_of, sample, write_rows
from tiebreak.sections.evaluation import Evaluation
from tiebreak.sections.model import Model


def sample_run(job: Job, plan: Plan, sampling: Sampling, *, limit: int | None = None) -> dict[str, Any]:
    """Sample the job's model on its prompts (the first `limit`) and write both tables; returns the summary."""
    domain = open_domain(job)
    rollouts, timings = Path(job.output.rollouts), Path(job.output.timings)
    reason = stop_reason(job.input.model)
    if reason is not None:
        write_rows([], domain, rollouts, timings)
        return summary(plan, [], stopped=reason)
    cases = domain.load_cases(Path(job.input.cases))
    prompts = prompts_of(Path(job.input.prompts), cases)[:limit]
    engine = open_engine(job, sampling)
    stream = [*plan.stream, "<case>", "<sample>", "<turn>"]
    job.resolved |= {"engine": engine.describe(), "seeds": {"root": plan.root_seed, "stream": stream}}
    rows = sample(engine, domain, prompts, plan, work=job.work, rollouts=rollouts, timings=timings)
    return summary(plan, rows, stopped=None)


def sample_budgets(job: Job, plan: Plan, sampling: Sampling, budgets: Sequence[int]) -> None:
    """Sample the job's model on its prompts once under each budget of calls (the toolbox's `most_calls`).

    Both tables hold the rollouts of all budgets; which one a rollout had is among its facts.
    """
    domain, rows = open_domain(job), []
    if stop_reason(job.input.model) is None:
        engine = open_engine(job, sampling)
        prompts = prompts_of(Path(job.input.prompts), domain.load_cases(Path(job.input.cases)))
        for calls in budgets:
            held = open_domain(job, most_calls=calls)
            rows += play_blocks(engine, held, prompts, plan, work=job.work / f"calls{calls}")
    write_rows(rows, domain, Path(job.output.rollouts), Path(job.output.timings))


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


def open_engine(job: Job, sampling: Sampling) -> HfEngine:
    """The job's model, ready to sample."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(job.input.model, dtype=job.part("model", Model).precision)
    return HfEngine(model, AutoTokenizer.from_pretrained(job.input.model), sampling)


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
