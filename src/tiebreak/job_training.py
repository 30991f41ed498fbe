"""One training of one arm, as the trial and the training job share it: the same folder of checkpoints, two lengths."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tiebreak.domains.base import Domain
from tiebreak.engines.vllm import Serving
from tiebreak.frames import read_frames
from tiebreak.gates import Decision
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.job_sampling import serving_of
from tiebreak.prompts import drift
from tiebreak.sampling import prompts_of
from tiebreak.sections.arm import Arm
from tiebreak.sections.evaluation import engine_of
from tiebreak.sections.model import Model, Toolbox
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training import grpo
from tiebreak.training.checkpoints import last_checkpoint, step_of
from tiebreak.training.export import CONFIG, export_adapter
from tiebreak.training.pool import Share, mixture
from tiebreak.training.prime_rl.config import Spec, arguments
from tiebreak.training.prime_rl.training import PrimeTraining, in_folder
from tiebreak.training.run import Run

BESIDE_A_TRAINER = 0.35
"""The share of the GPU's memory that a server takes, where the study names none."""


class Trainer(Protocol):
    """A training behind `rlvr.trainer`, whose checkpoints and records lie in one folder."""

    rlvr: Rlvr

    def advance(self, until: int) -> list[dict[str, Any]]:
        """Train up to step `until`, unless that is done, and return the records of its groups."""
        ...

    def export(self, model: Path, steps: Path, groups: Path) -> None:
        """The trained model and the records of all its steps and groups."""
        ...


@dataclass
class TrlTrainer:
    """A training with TRL, in this process."""

    run: Run
    rlvr: Rlvr
    domain: Domain
    prompts: list[Any]
    model: Path
    max_length: int
    work: Path
    shares: Sequence[Share] = ()
    serving: Serving | None = None

    def advance(self, until: int) -> list[dict[str, Any]]:
        """See `Trainer`."""
        checkpoint = last_checkpoint(self.work)
        if checkpoint is None or step_of(checkpoint) < until:
            grpo.train(
                self.run,
                self.rlvr,
                self.domain,
                self.prompts,
                model=self.model,
                max_length=self.max_length,
                until=until,
                work=self.work,
                shares=self.shares,
                serving=self.serving,
            )
        return groups_until(self.work, until)

    def export(self, model: Path, steps: Path, groups: Path) -> None:
        """See `Trainer`. An adapter is proven to have an effect."""
        checkpoint = self.work / f"checkpoint-{self.rlvr.steps}"
        grpo.export(checkpoint, model)
        if (checkpoint / CONFIG).exists():
            export_adapter(checkpoint, self.model, model)
        write_records(self.work, steps, groups)


@dataclass
class PrimeTrainer:
    """A training with prime-rl, in processes of its own."""

    training: PrimeTraining
    rlvr: Rlvr

    def advance(self, until: int) -> list[dict[str, Any]]:
        """See `Trainer`."""
        self.training.advance(until)
        return groups_until(self.training.work, until)

    def export(self, model: Path, steps: Path, groups: Path) -> None:
        """See `Trainer`."""
        self.training.export(model, self.rlvr.steps)
        write_records(self.training.work, steps, groups)


def open_training(job: Job, work: Path) -> Trainer:
    """The training that a job's parameters and inputs describe."""
    rlvr = job.part("rlvr", Rlvr)
    return open_prime_rl(job, rlvr, work) if rlvr.trainer == "prime-rl" else open_trl(job, rlvr, work)


def open_trl(job: Job, rlvr: Rlvr, work: Path) -> TrlTrainer:
    """A training with TRL, and the domain that plays its rollouts."""
    domain = open_domain(job)
    prompts = prompts_of(Path(job.input.pool), domain.load_cases(Path(job.input.cases)))
    if "drifted_prompt" in job.params.arm["faults"]:
        prompts = drift(domain, prompts)
    return TrlTrainer(
        run=Run(job.params.root_seed, job.wildcards.arm, int(job.wildcards.seed)),
        rlvr=rlvr,
        domain=domain,
        prompts=prompts,
        model=Path(job.input.model),
        max_length=job.part("model", Model).max_length,
        work=work,
        shares=mixture(Path(str(job.input.bands)), rlvr, prompts, job.params.root_seed),
        serving=training_server(job, rlvr),
    )


def training_server(job: Job, rlvr: Rlvr) -> Serving | None:
    """The server that plays a training's rollouts beside the trainer; None where the trainer's process plays them."""
    if engine_of(rlvr.engine, job.part("model", Model).device) == "hf":
        return None
    return serving_of(job, Path(job.input.model), rlvr.lora_rank, rlvr.engine_memory or BESIDE_A_TRAINER)


def open_prime_rl(job: Job, rlvr: Rlvr, work: Path) -> PrimeTrainer:
    """A training with prime-rl, which plays rollouts in the environment that is installed beside it."""
    arm = job.wildcards.arm
    cases, prompts = (Path(path).resolve() for path in (job.input.cases, job.input.pool))
    spec = Spec(
        study=job.params.study,
        root_seed=job.params.root_seed,
        arm=arm,
        training_seed=int(job.wildcards.seed),
        rlvr=rlvr,
        arguments=arguments(
            job.part("arm", Arm).reward_table(), job.part("toolbox", Toolbox), arm=arm, cases=cases, prompts=prompts
        ),
        view=work,
        out=work,
    )
    tool = Path(job.input.tool[0]).resolve().parent / "prime-rl"
    return PrimeTrainer(PrimeTraining(in_folder(spec, work), Path(job.input.model), tool, work), rlvr)


def groups_until(work: Path, until: int) -> list[dict[str, Any]]:
    """The group records of a training's first steps."""
    return [group for group in stored_groups(work) if group["step"] <= until]


def stored_groups(work: Path) -> list[dict[str, Any]]:
    """The group records of a training, in order."""
    return [group for frame in read_frames(work / "groups.jsonl.zst") for group in frame]


def write_records(work: Path, steps: Path, groups: Path) -> None:
    """The records of a training as the files that people read."""
    write_lines(steps, grpo.read_steps(work / "steps.jsonl"))
    write_lines(groups, stored_groups(work))


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_stopped(job: Job, decision: Decision, work: str | None) -> None:
    """The outputs of a training that a gate stopped: its reason instead of a model, and the records of its trial."""
    stopped = {"gate": decision.gate, "reason": decision.reason}
    job.write_json(Path(job.output.model) / "stopped.json", stopped)
    write_records(Path(work or job.work), Path(job.output.steps), Path(job.output.groups))
