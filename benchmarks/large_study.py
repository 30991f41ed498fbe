"""A made-up study of any size with real records: its data, gates, statistics, audits and page come from the workflow's
own scripts; its models, trainings and samples are made up (a few conversations a case, under the seeds they must have).
"""

import json
import os
import runpy
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tiebreak import gates, tables
from tiebreak.chat import Message
from tiebreak.digest import code_digest, toolchain_digest
from tiebreak.domains.reading import StoredRollout
from tiebreak.domains.rust.domain import FACTS, RustDomain
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.job import Job
from tiebreak.job_sampling import summary
from tiebreak.paths import Paths, parse_run, run_name
from tiebreak.publish.replay import ROOT, Files, Named, borrow
from tiebreak.publish.wanted import Wanted, wanted_jobs
from tiebreak.publish.wanted_params import OF_RULE, wanted_params
from tiebreak.sampling import Plan, as_arrow, prompts_of
from tiebreak.seeds import derive
from tiebreak.study import Study
from tiebreak.training.pool import batches
from tiebreak.training.run import Run

STUDY: dict[str, Any] = {
    "name": "large",
    "root_seed": 1,
    "data": {
        "source": {"generate": {"templates": "all", "cases": 190}},
        "splits": {"sft": 8, "pool": 16, "holdout": 150},
    },
    "model": {"base": "tiny", "max_length": 2048},
    "rlvr": {"training_seeds": 3, "steps": 4, "prompts": 2, "group": 4, "trial": {"steps": 2, "max_tied": 1.5}},
    "arms": {"sparse": {}, "dense": {"compiled": 0.5, "tests_passed": 2.0}, "compiler": {"phase": 2.5}},
    "evaluation": {"k": 8, "repetitions": 6},
    "probe": {"prompts": 16, "samples": 8},
    "publish": {"license": "cc-by-4.0"},
}
Row = dict[str, Any]


class Large:
    """The study in the folder `place`, which must be empty; this process works there from now on."""

    def __init__(self, place: Path, values: Mapping[str, Any] = STUDY) -> None:
        borrow(place)
        (place / "Snakefile").write_bytes((ROOT / "Snakefile").read_bytes())
        os.chdir(place)
        self.study = Study.model_validate(values)
        self.paths = Paths(self.study.name)
        self.tables = {arm: part.reward_table() for arm, part in self.study.arms.items()}
        self.toolchain = toolchain_digest(ROOT)

    def make(self) -> Paths:
        """All jobs that the study asks for, each when what it reads is there: by its script, or made up."""
        waiting = list(wanted_jobs(self.study, made_base=True).values())
        while waiting:
            ready = [job for job in waiting if all(Path(path).exists() for path in flat(job.inputs))]
            for job in ready:
                self.do(job)
            waiting = [job for job in waiting if job not in ready]
        return self.paths

    def do(self, job: Wanted) -> None:
        """Do a job and leave its record."""
        for path in flat(job.outputs):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        if make_up := getattr(self, f"make_{job.rule}", None):
            with Job(self.task(job)) as task:
                make_up(task)
        else:
            script = ROOT / "scripts" / f"{job.rule}.py"
            runpy.run_path(str(script), init_globals={"snakemake": self.task(job)})

    def task(self, job: Wanted) -> Any:
        """What Snakemake would give a script."""
        script = ROOT / "scripts" / f"{job.rule}.py"
        params = wanted_params(self.study, job.rule, job.wildcards)
        params |= {"code": code_digest(script, ROOT, self.study.domain), "toolchain": self.toolchain}
        params |= {"asked": self.study.name} if "asked" in OF_RULE[job.rule] else {}
        words = sorted(map(str, Path("resources/words").glob("*.txt")))
        inputs = dict(job.inputs) | ({"words": words} if job.rule == "blueprints" else {})
        shared = {"input": Files(inputs), "output": Files(job.outputs), "config": {}, "log": [f"logs/{job.name}.log"]}
        named = {"wildcards": Named(job.wildcards), "params": Named(params)}
        return SimpleNamespace(rule=job.rule, threads=params.get("threads", 1), **shared, **named)

    def make_cases(self, job: Job) -> None:
        """Blueprints that nothing has played."""
        Path(job.output.cases).write_bytes(Path(job.input.blueprints).read_bytes())
        Path(job.output.rejects).touch()

    def make_base(self, job: Job) -> None:
        """No weight is in it."""
        write_model(Path(job.output.model))
        Path(job.output.steps).write_text("{}\n")

    def make_tokens(self, job: Job) -> None:
        """Nothing was counted."""
        job.write_json(Path(job.output.tokens), {})
        job.write_json(Path(job.output.sample), {})

    def make_sft(self, job: Job) -> None:
        """A model without weights."""
        self.make_base(job)
        job.write_json(Path(job.output.record), {"tokens_learned": 1})

    def make_trial(self, job: Job) -> None:
        """The decision of the groups of the first steps."""
        run, rule = run_name(job.wildcards.arm, int(job.wildcards.seed)), self.study.rlvr.trial
        groups = [group for group in self.groups(run) if group["step"] <= rule.steps]
        job.write_json(Path(job.output.trial), {"work": "w", "groups": len(groups), "ran": True})
        steps, flags = [group["step"] for group in groups], [group["tied"] for group in groups]
        decision = gates.trial_of_groups(run, steps, flags, max_tied=rule.max_tied, steps_under=rule.steps_under)
        gates.write(Path(job.output.decision), decision)

    def make_rlvr(self, job: Job) -> None:
        """A model without weights, and the records of its steps and groups."""
        groups = self.groups(run_name(job.wildcards.arm, int(job.wildcards.seed)))
        write_model(Path(job.output.model))
        write_lines(job.output.groups, groups)
        write_lines(job.output.steps, [step_of(groups, step + 1) for step in range(self.study.rlvr.steps)])

    def make_probe(self, job: Job) -> None:
        """Samples of the pool."""
        self.sampled(job, ("probe",), "pool", self.study.probe.samples, 0)

    def make_evaluation(self, job: Job) -> None:
        """Samples of the held-out cases."""
        repetition = int(job.wildcards.rep)
        self.sampled(job, ("eval", repetition), "holdout", self.study.evaluation.k, repetition)

    def groups(self, run: str) -> list[Row]:
        """All groups of a training, of the cases that its seed gives."""
        arm, seed = parse_run(run)
        order = batches(self.prompts("pool"), Run(self.study.root_seed, arm, int(seed or 0)), self.study.rlvr)
        a_step = self.study.rlvr.prompts
        return [self.group(arm, at // a_step + 1, at % a_step, shown) for at, shown in enumerate(order)]

    def group(self, arm: str, step: int, number: int, shown: tuple[Any, list[Message]]) -> Row:
        """One group, its rollouts of both kinds."""
        case, messages = shown
        kinds = [self.conversation(case, messages, sample % 3) for sample in range(4)]
        read = [self.reader.read(StoredRollout(case.case_id, turns, "final", facts)) for turns, facts in kinds]
        rewards = [one.rewards[arm] for one in read]
        return {
            "step": step,
            "group": number,
            "case_id": case.case_id,
            "family": case.family,
            "template": case.template,
            "rewards": rewards,
            "terms": [{"all": reward} for reward in rewards],
            "tied": max(rewards) - min(rewards) < 1e-9,
            "stop": ["final"] * 4,
            "valid": [one.valid for one in read],
            "success": [one.success for one in read],
            "graded": [one.success for one in read],
            "new_tokens": [20 * sum(turn["role"] == "assistant" for turn in turns) for turns, _ in kinds],
            "turns": [turns for turns, _ in kinds],
        }

    def prompts(self, split: str) -> list[Any]:
        """Cases and opening messages of a split."""
        if not hasattr(self, "domain"):
            self.domain = RustDomain(Judge(None), self.tables)
            self.cases = self.domain.load_cases(self.paths.cases)
            self.reader = self.domain.reader(self.cases)
        return prompts_of(self.paths.prompts(split), self.cases)

    def conversation(self, case: Any, messages: Any, kind: int, number: int = 0) -> tuple[list[Row], Row]:
        """A conversation that gives up, one whose test fails, or one whose test succeeds, with its facts.

        number: stands in its text, so that no two are alike and nothing that was read before helps.
        """
        turns = [dict(message) for message in messages]
        call = format_call("cargo_test", "c1", {"project_path": f"crates/{case.case_id}"})
        said = [call, f"FINAL: done, {number}."] if kind else [f"I give up, {number}."]
        reply = format_result(
            "c1", ok=kind == 2, stdout="test result: FAILED. 1 passed; 1 failed;" * (kind == 1), stderr=""
        )
        turns += [{"role": "assistant", "content": said[0]}]
        turns += [{"role": "tool", "content": reply}, {"role": "assistant", "content": said[-1]}] if kind else []
        facts = {"compiled": kind > 0, "phase": 4 * (kind > 0), "tests_passed": kind, "tests_total": 2 * (kind > 0)}
        return turns, facts | {"tampered": [], "calls": []}

    def sampled(self, job: Job, stream: tuple[str | int, ...], split: str, samples: int, repetition: int) -> None:
        """One table of rollouts with its timings, and of an evaluation with its summary."""
        arm, seed = parse_run(job.wildcards.run)
        plan = Plan(self.study.root_seed, stream, arm, seed, repetition, samples, 8, 20)
        rows = [self.rollout(plan, case, said, s) for case, said in self.prompts(split) for s in range(samples)]
        rows.sort(key=lambda row: (row["case_id"], row["sample"]))
        tables.write_table(Path(job.output.rollouts), map(as_arrow, rows), tables.rollouts(FACTS))
        tables.write_table(Path(job.output.timings), [], tables.TIMINGS)
        if job.output.get("summary"):
            job.write_json(job.output.summary, summary(plan, rows, stopped=None))

    def rollout(self, plan: Plan, case: Any, messages: Any, sample: int) -> Row:
        """One rollout; which kind it is, its seed says."""
        names = (*plan.stream, case.case_id, sample)
        drawn = derive(plan.root_seed, *names, plan.arm, plan.training_seed or 0)
        turns, facts = self.conversation(case, messages, drawn % 3, drawn)
        told = self.reader.read(StoredRollout(case.case_id, turns, "final", facts))
        seeds = iter(derive(plan.root_seed, *names, turn) for turn in range(9))
        marked = [
            turn
            | (
                {"tokens": 20, "sampling_seed": next(seeds)}
                if turn["role"] == "assistant"
                else {"tokens": None, "sampling_seed": None}
            )
            for turn in turns
        ]
        about = {name: getattr(case, name) for name in ("case_id", "family", "difficulty", "template")}
        place = {"arm": plan.arm, "training_seed": plan.training_seed, "repetition": plan.repetition, "sample": sample}
        outcome = {
            "stop": "final",
            "valid": told.valid,
            "success": told.success,
            "graded": told.success,
            "facts": facts,
        }
        rewards = {plan.arm: told.rewards[plan.arm]} if plan.arm in told.rewards else {}
        counts = {"new_tokens": 20 * sum(turn["tokens"] is not None for turn in marked), "truncated": False}
        return about | place | {"root_seed": plan.root_seed, "turns": marked, "rewards": rewards} | outcome | counts


def step_of(groups: list[Row], step: int) -> Row:
    """The record of a step."""
    own = [group for group in groups if group["step"] == step]
    tied = sum(group["tied"] for group in own)
    rewards = [reward for group in own for reward in group["rewards"]]
    return {
        "step": step,
        "groups": len(own),
        "tied": tied,
        "kept": len(own) - tied,
        "tied_fraction": tied / len(own),
        "reward_mean": sum(rewards) / len(rewards),
        "graded_rate": sum(flag for group in own for flag in group["graded"]) / len(rewards),
    }


def write_model(folder: Path) -> None:
    """A folder in the place of a model."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}\n")


def write_lines(path: str, rows: list[Row]) -> None:
    """One JSON object a line."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def flat(files: Mapping[str, str | list[str]]) -> list[str]:
    """The paths of a job's inputs or outputs."""
    return [path for item in files.values() for path in ([item] if isinstance(item, str) else item)]
