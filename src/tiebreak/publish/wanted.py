"""Which job must have made which file of a study, and from which others: what the rules say, from the study alone.

A release is checked against it, as its records are as easily forged as its files.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.paths import BASE_ARM, Paths, job_name, parse_run
from tiebreak.study import Study

Named = Mapping[str, str | list[str]]
"""Files by their names in the rule; a list is a list there."""

TOOLS = ("prime_rl", "vllm_server")
"""Rules that install something beside the project; a user may have installed it by hand."""


@dataclass(frozen=True)
class Wanted:
    """A job: its rule and wildcards, the inputs that other jobs of the study made, and its outputs."""

    rule: str
    wildcards: Mapping[str, str]
    inputs: Named
    outputs: Named

    @property
    def name(self) -> str:
        """The job's name."""
        return job_name(self.rule, self.wildcards)


def wanted_jobs(study: Study, *, made_base: bool) -> dict[str, Wanted]:
    """The jobs behind a release of `study`, by name. made_base: whether a job made the base model."""
    places = Places(study, Paths(study.name), made_base)
    return {job.name: job for part in (tasks, training, sampling, numbers) for job in part(places)}


@dataclass(frozen=True)
class Places:
    """Where the files of a study lie."""

    study: Study
    paths: Paths
    made_base: bool

    def data(self, name: str) -> str:
        """A file of the tasks."""
        return str(self.paths.root / "data" / name)

    def beside(self, run: str, name: str) -> str:
        """A file of a training."""
        return str(self.paths.training(run) / name)

    def each(self, name: str) -> list[str]:
        """A file of every RL training."""
        return [self.beside(run, name) for run in self.study.trained_runs]

    def rollouts(self, *runs: str) -> list[str]:
        """The rollouts of all repetitions of these runs."""
        return [str(self.paths.rollouts(run, rep)) for run in runs for rep in self.study.repetitions]

    def base(self) -> dict[str, str | list[str]]:
        """The base as an input; one that no job made is none."""
        return {"base": str(self.paths.base)} if self.made_base else {}


def tasks(at: Places) -> Iterator[Wanted]:
    """The jobs from blueprints to prompts."""
    data, llm = at.data, getattr(at.study.data.source, "llm", None)
    cases, splits, traces = data("cases.jsonl"), data("splits.json"), data("sft.parquet")
    both = {"cases": cases, "splits": splits}
    prompts = {name: data(f"{name}.parquet") for name in ("pool", "holdout")}
    drawn = {"blueprints": data("blueprints.jsonl"), "refused": data("refused.jsonl")}
    if llm:
        yield Wanted("replies", {}, {}, {"replies": data("replies.jsonl"), "usage": data("usage.json")})
    yield Wanted("blueprints", {}, {"replies": data("replies.jsonl")} if llm else {}, drawn)
    yield Wanted("cases", {}, drawn, {"cases": cases, "rejects": data("rejects.jsonl")})
    yield Wanted("splits", {}, {"cases": cases}, {"splits": splits})
    yield Wanted("leakage", {}, both, {"gate": str(at.paths.gate("leakage"))})
    yield Wanted("traces", {}, both, {"traces": traces})
    yield Wanted("prompts", {}, both, prompts)
    yield Wanted("parity", {}, both | {"traces": traces} | prompts, {"gate": str(at.paths.gate("parity"))})
    counted = {"tokens": data("sft_tokens.json"), "sample": data("sft_sample.json")}
    yield Wanted("tokens", {}, at.base() | {"traces": traces}, counted)


def training(at: Places) -> Iterator[Wanted]:
    """The jobs that train, and the gates before them."""
    paths, trained = at.paths, ("model", "steps.jsonl", "groups.jsonl")
    if at.made_base:
        steps = str(paths.base.parent / "steps.jsonl")
        yield Wanted("base", {}, {}, {"model": str(paths.base), "steps": steps})
    gates = {name: str(paths.gate(name)) for name in ("leakage", "parity")}
    made = {name.split(".")[0]: at.beside(BASE_ARM, name) for name in ("model", "steps.jsonl", "record.json")}
    yield Wanted("sft", {}, at.base() | gates | {"traces": at.data("sft.parquet")}, made)
    pool = {"model": str(paths.model(BASE_ARM)), "cases": str(paths.cases), "pool": at.data("pool.parquet")}
    pool |= {} if at.study.rlvr.pool is None else {"bands": at.data("bands.parquet")}
    for arm in at.study.arms:
        yield Wanted("ties", {"arm": arm}, {"probe": str(paths.probe(BASE_ARM))}, {"gate": str(paths.ties(arm))})
    for run in at.study.trained_runs:
        arm, seed = parse_run(run)
        which = {"arm": arm, "seed": str(seed)}
        trial = {name: at.beside(run, f"{name}.json") for name in ("trial", "decision")}
        yield Wanted("trial", which, pool | {"ties": str(paths.ties(arm))}, trial)
        files = {name.split(".")[0]: at.beside(run, name) for name in trained}
        yield Wanted("rlvr", which, pool | trial, files)


def sampling(at: Places) -> Iterator[Wanted]:
    """The jobs that sample."""
    study, paths, cases = at.study, at.paths, str(at.paths.cases)
    for run in study.runs:
        given = {"model": str(paths.model(run)), "cases": cases}
        pool, holdout = (given | {"prompts": str(paths.prompts(name))} for name in ("pool", "holdout"))
        yield Wanted("probe", {"run": run}, pool, tables(paths.probe(run).parent))
        if getattr(study.evaluation, "call_budgets", ()):
            yield Wanted("budgets", {"run": run}, holdout, tables(paths.budgets(run).parent))
        for rep in study.repetitions:
            yield from evaluation(at, run, rep, holdout)
    if study.rlvr.pool is not None:
        given = {"model": str(paths.model(BASE_ARM)), "cases": cases, "prompts": str(paths.prompts("pool"))}
        measured = tables(paths.root / "probes" / "bands") | {"bands": at.data("bands.parquet")}
        yield Wanted("bands", {}, given, measured)


def evaluation(at: Places, run: str, rep: int, given: Mapping[str, str]) -> Iterator[Wanted]:
    """One repetition of an evaluation, and its shards where it has some."""
    folder, which = at.paths.evaluation(run, rep), {"run": run, "rep": str(rep)}
    shards = {shard: tables(folder / "shards" / str(shard)) for shard in at.study.shards}
    for shard, made in shards.items():
        yield Wanted("shard", which | {"shard": str(shard)}, given, made)
    gathered = {name: [made[name] for made in shards.values()] for name in ("rollouts", "timings")} if shards else {}
    made = tables(folder) | {"summary": str(folder / "summary.json")}
    yield Wanted("evaluation", which, {**given, **gathered}, made)


def tables(folder: Any) -> dict[str, str]:
    """The two tables of a sampling."""
    return {name: str(folder / f"{name}.parquet") for name in ("rollouts", "timings")}


def numbers(at: Places) -> Iterator[Wanted]:
    """The jobs from rollouts to the page."""
    study, paths = at.study, at.paths
    for arm in study.arms:
        runs = [run for run in study.trained_runs if parse_run(run)[0] == arm]
        given = {"rollouts": at.rollouts(*runs), "decisions": [at.beside(run, "decision.json") for run in runs]}
        yield Wanted("arm", {"arm": arm}, given, {"summary": str(paths.summary(arm))})
    sampled: dict[str, str | list[str]] = {
        "rollouts": at.rollouts(*study.runs),
        "probes": [str(paths.probe(run)) for run in study.runs],
    }
    decisions = {"decisions": at.each("decision.json")}
    trained = {"groups": at.each("groups.jsonl"), "steps": at.each("steps.jsonl")}
    made = {"analysis": str(paths.analysis), "tables": str(paths.analysis.parent / "tables")}
    yield Wanted("analysis", {}, sampled | decisions, made)
    folders = {name: str(paths.audits.parent / name) for name in ("tables", "figures")}
    yield Wanted("audits", {}, sampled | trained | {"cases": str(paths.cases)}, {"audits": str(paths.audits)} | folders)
    shown: dict[str, str | list[str]] = {
        "analysis": str(paths.analysis),
        "audits": str(paths.audits),
        "gates": [str(paths.gate(name)) for name in ("leakage", "parity")],
        "ties": [str(paths.ties(arm)) for arm in study.arms],
        "sft": at.beside(BASE_ARM, "record.json"),
    }
    if getattr(study.evaluation, "call_budgets", ()):
        shown["budgets"] = [str(paths.budgets(run)) for run in study.runs]
    beside = {name: str(paths.report.parent / name) for name in ("rollouts", "figures", "tables")}
    made = {"page": str(paths.report), "viewer": str(paths.report.parent / "viewer.html")} | beside
    yield Wanted("report", {}, sampled | decisions | trained | shown, made)
