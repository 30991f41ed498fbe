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
from tiebreak.domains.reading import StoredRollout
from tiebreak.domains.rust.domain import FACTS, RustDomain
from tiebreak.domains.rust.protocol import format_call, format_result
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.job import Job
from tiebreak.job_sampling import summary
from tiebreak.paths import Paths, parse_run
from tiebreak.publish.replay import ROOT, Files, Named, borrow
from tiebreak.publish.wanted_params import wanted_params
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
        self.paths, self.root = Paths(self.study.name), f"results/{self.study.name}"
        self.parts = self.study.parts()
        self.tables = {arm: part.reward_table() for arm, part in self.study.arms.items()}

    def task(self, rule: str, inputs: Row, outputs: Row, **wildcards: str) -> Any:
        """What Snakemake would give a script."""
        params = wanted_params(self.study, rule, wildcards)
        params |= {"code": "made up", "toolchain": "made up", "asked": self.study.name, "declared": False}
        params |= {"gpus_of": {"sft": 0, "rlvr": 0, "evaluation": 0}, "most_calls": 6}
        given = {name: value for name, value in params.items() if value is not None or name.endswith("message")}
        shared = {"input": Files(self.placed(inputs)), "output": Files(self.placed(outputs)), "config": {}}
        return SimpleNamespace(
            **shared, rule=rule, wildcards=Named(wildcards), params=Named(given), threads=2, log=[f"logs/{rule}.log"]
        )

    def placed(self, items: Row) -> Row:
        """Paths of the study from names under its folder; other paths as they are."""
        return {
            name: [self.path(v) for v in item] if isinstance(item, list) else self.path(item)
            for name, item in items.items()
        }

    def path(self, name: str) -> str:
        """A path of the study, its folder made."""
        found = name if name.startswith("resources/") else f"{self.root}/{name}"
        Path(found).parent.mkdir(parents=True, exist_ok=True)
        return found

    def run(self, rule: str, inputs: Row, outputs: Row, **wildcards: str) -> None:
        """Run a rule's own script."""
        task = self.task(rule, inputs, outputs, **wildcards)
        runpy.run_path(str(ROOT / "scripts" / f"{rule}.py"), init_globals={"snakemake": task})

    def pretend(self, rule: str, inputs: Row, outputs: Row, **wildcards: str) -> Job:
        """A job that leaves a record of what the caller makes inside it."""
        return Job(self.task(rule, inputs, outputs, **wildcards))

    def make(self) -> Paths:
        """Everything, from blueprints to the page."""
        self.make_data()
        self.make_trainings()
        self.make_samples()
        self.make_statistics()
        return self.paths

    def make_data(self) -> None:
        """Data and gates; the made-up cases are blueprints that nothing has played."""
        words = sorted(map(str, Path("resources/words").glob("*.txt")))
        self.run(
            "blueprints", {"words": words}, {"blueprints": "data/blueprints.jsonl", "refused": "data/refused.jsonl"}
        )
        inputs = {"blueprints": "data/blueprints.jsonl", "refused": "data/refused.jsonl"}
        with self.pretend("cases", inputs, {"cases": "data/cases.jsonl", "rejects": "data/rejects.jsonl"}) as job:
            Path(job.output.cases).write_bytes(Path(job.input.blueprints).read_bytes())
            Path(job.output.rejects).touch()
        both = {"cases": "data/cases.jsonl", "splits": "data/splits.json"}
        self.run("splits", {"cases": "data/cases.jsonl"}, {"splits": "data/splits.json"})
        self.run("leakage", both, {"gate": "gates/leakage.json"})
        self.run("prompts", both, {"pool": "data/pool.parquet", "holdout": "data/holdout.parquet"})
        self.run("traces", both, {"traces": "data/sft.parquet"})
        shown = {"traces": "data/sft.parquet", "pool": "data/pool.parquet", "holdout": "data/holdout.parquet"}
        self.run("parity", both | shown, {"gate": "gates/parity.json"})

    def make_trainings(self) -> None:
        """The SFT model, and groups, steps and decisions of every run; no weight is in any of them."""
        outputs = {"model": "sft/model", "steps": "sft/steps.jsonl", "record": "sft/record.json"}
        with self.pretend("sft", {"traces": "data/sft.parquet"}, outputs) as job:
            write_model(Path(job.output.model))
            Path(job.output.steps).write_text("{}\n")
            job.write_json(job.output.record, {"tokens_learned": 1})

    def make_samples(self) -> None:
        """Probes and evaluations, the ties gates on the SFT model's probe, and the trainings."""
        self.sampled("probe", "sft", ("probe",), "pool", self.study.probe.samples)
        for arm in self.study.arms:
            self.run("ties", {"probe": "probes/sft/rollouts.parquet"}, {"gate": f"gates/ties/{arm}.json"}, arm=arm)
        for run in self.study.trained_runs:
            self.trained(run)
            self.sampled("probe", run, ("probe",), "pool", self.study.probe.samples)
        for run in self.study.runs:
            for rep in self.study.repetitions:
                self.sampled("evaluation", run, ("eval", rep), "holdout", self.study.evaluation.k, rep=str(rep))

    def trained(self, run: str) -> None:
        """One training: two groups a step, of the cases that its seed gives."""
        arm, seed = parse_run(run)
        order = batches(self.prompts("pool"), Run(self.study.root_seed, arm, int(seed or 0)), self.study.rlvr)
        place, names = f"arms/{arm}/seed{seed}", {"arm": arm, "seed": str(seed)}
        groups = [self.group(arm, at // 2 + 1, at % 2, shown) for at, shown in enumerate(order)]
        ties = {"ties": f"gates/ties/{arm}.json", "pool": "data/pool.parquet"}
        outputs = {"trial": f"{place}/trial.json", "decision": f"{place}/decision.json"}
        with self.pretend("trial", ties, outputs, **names) as job:
            job.write_json(job.output.trial, {"work": "w", "groups": 4, "ran": True})
            tied = [group for group in groups if group["step"] <= 2]
            steps, flags = [group["step"] for group in tied], [group["tied"] for group in tied]
            gates.write(Path(job.output.decision), gates.trial_of_groups(run, steps, flags, max_tied=1.5))
        outputs = {"model": f"{place}/model", "steps": f"{place}/steps.jsonl", "groups": f"{place}/groups.jsonl"}
        with self.pretend("rlvr", {"decision": f"{place}/decision.json"}, outputs, **names) as job:
            write_model(Path(job.output.model))
            write_lines(job.output.groups, groups)
            write_lines(job.output.steps, [step_of(groups, step) for step in range(1, 5)])

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

    def conversation(self, case: Any, messages: Any, kind: int) -> tuple[list[Row], Row]:
        """A conversation that gives up, one whose test fails, or one whose test succeeds, with its facts."""
        turns = [dict(message) for message in messages]
        call = format_call("cargo_test", "c1", {"project_path": f"crates/{case.case_id}"})
        said = [call, "FINAL: done."] if kind else ["I give up."]
        reply = format_result(
            "c1", ok=kind == 2, stdout="test result: FAILED. 1 passed; 1 failed;" * (kind == 1), stderr=""
        )
        turns += [{"role": "assistant", "content": said[0]}]
        turns += [{"role": "tool", "content": reply}, {"role": "assistant", "content": said[-1]}] if kind else []
        facts = {"compiled": kind > 0, "phase": 4 * (kind > 0), "tests_passed": kind, "tests_total": 2 * (kind > 0)}
        return turns, facts | {"tampered": [], "calls": []}

    def sampled(
        self, rule: str, run: str, stream: tuple[str | int, ...], split: str, samples: int, rep: str = "0"
    ) -> None:
        """One table of rollouts with its timings, and of an evaluation with its summary."""
        folder = f"evals/{run}/rep{rep}" if rule == "evaluation" else f"probes/{run}"
        names = {"run": run, "rep": rep} if rule == "evaluation" else {"run": run}
        arm, seed = parse_run(run)
        outputs = {"rollouts": f"{folder}/rollouts.parquet", "timings": f"{folder}/timings.parquet"}
        outputs |= {"summary": f"{folder}/summary.json"} if rule == "evaluation" else {}
        model = "sft/model" if seed is None else f"arms/{arm}/seed{seed}/model"
        plan = Plan(self.study.root_seed, stream, arm, seed, int(rep), samples, 8, 20)
        with self.pretend(rule, {"model": model, "prompts": f"data/{split}.parquet"}, outputs, **names) as job:
            rows = [self.rollout(plan, case, said, s) for case, said in self.prompts(split) for s in range(samples)]
            tables.write_table(Path(job.output.rollouts), map(as_arrow, rows), tables.rollouts(FACTS))
            tables.write_table(Path(job.output.timings), [], tables.TIMINGS)
            if rule == "evaluation":
                job.write_json(job.output.summary, summary(plan, rows, stopped=None))

    def rollout(self, plan: Plan, case: Any, messages: Any, sample: int) -> Row:
        """One rollout; which kind it is, its seed says."""
        names = (*plan.stream, case.case_id, sample)
        turns, facts = self.conversation(case, messages, derive(plan.root_seed, *names, plan.training_seed or 0) % 3)
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

    def make_statistics(self) -> None:
        """Summaries, analysis, audits and page, by their scripts."""
        runs, reps, arms = self.study.runs, self.study.repetitions, list(self.study.arms)
        places = [f"arms/{arm}/seed{seed}" for arm in arms for seed in self.study.training_seeds]
        rollouts = {"rollouts": [f"evals/{run}/rep{rep}/rollouts.parquet" for run in runs for rep in reps]}
        probes = {"probes": [f"probes/{run}/rollouts.parquet" for run in runs]}
        of = {
            name: [f"{place}/{name}.{kind}" for place in places]
            for name, kind in (("decision", "json"), ("groups", "jsonl"), ("steps", "jsonl"))
        }
        decisions, trained = {"decisions": of["decision"]}, {"groups": of["groups"], "steps": of["steps"]}
        for arm in arms:
            own = [path for path in rollouts["rollouts"] if path.startswith(f"evals/{arm}-")]
            its = [path for path in of["decision"] if path.startswith(f"arms/{arm}/")]
            self.run("arm", {"rollouts": own, "decisions": its}, {"summary": f"arms/{arm}/summary.json"}, arm=arm)
        made = {"analysis": "stats/analysis.json", "tables": "stats/tables"}
        self.run("analysis", rollouts | probes | decisions, made)
        made = {"audits": "audits/audits.json", "tables": "audits/tables", "figures": "audits/figures"}
        self.run("audits", {"cases": "data/cases.jsonl"} | rollouts | probes | trained, made)
        gates_of = {
            "gates": ["gates/leakage.json", "gates/parity.json"],
            "ties": [f"gates/ties/{arm}.json" for arm in arms],
        }
        inputs = {"analysis": "stats/analysis.json", "audits": "audits/audits.json", "sft": "sft/record.json"}
        made = {"page": "report/index.html", "viewer": "report/viewer.html", "rollouts": "report/rollouts"}
        made |= {"figures": "report/figures", "tables": "report/tables"}
        self.run("report", inputs | gates_of | decisions | trained | rollouts | probes, made)


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
