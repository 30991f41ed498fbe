"""One training of one arm, as the trial and the training job share it: the same folder of checkpoints, two lengths."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.frames import read_frames
from tiebreak.gates import Decision
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.sampling import prompts_of
from tiebreak.sections.model import Model
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training import grpo
from tiebreak.training.checkpoints import last_checkpoint, step_of
from tiebreak.training.groups import Run
from tiebreak.training.pool import Share, shares


@dataclass(frozen=True)
class Training:
    """A training and the folder that holds its checkpoints and records."""

    run: Run
    rlvr: Rlvr
    domain: RustDomain
    prompts: list[Any]
    model: Path
    max_length: int
    work: Path
    shares: Sequence[Share]

    def advance(self, until: int) -> list[dict[str, Any]]:
        """Train up to step `until`, unless that is done, and return the records of its groups."""
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
            )
        return [group for group in stored_groups(self.work) if group["step"] <= until]

    def export(self, model: Path, steps: Path, groups: Path) -> None:
        """The trained model and the records of all its steps and groups."""
        grpo.export(self.work / f"checkpoint-{self.rlvr.steps}", model)
        write_records(self.work, steps, groups)


def open_training(job: Job, work: Path) -> Training:
    """The training that a job's parameters and inputs describe."""
    domain = open_domain(job)
    prompts = prompts_of(Path(job.input.pool), domain.load_cases(Path(job.input.cases)))
    rlvr = job.part("rlvr", Rlvr)
    return Training(
        run=Run(job.params.root_seed, job.wildcards.arm, int(job.wildcards.seed)),
        rlvr=rlvr,
        domain=domain,
        prompts=prompts,
        model=Path(job.input.model),
        max_length=job.part("model", Model).max_length,
        work=work,
        shares=pool_shares(job, rlvr, prompts),
    )


def pool_shares(job: Job, rlvr: Rlvr, prompts: Sequence[tuple[Any, Any]]) -> list[Share]:
    """How often each prompt is shown; none where the study does not mix its pool."""
    if rlvr.pool is None:
        return []
    names = [case.case_id for case, _ in prompts]
    return shares(Path(str(job.input.bands)), names, rlvr.pool.bands, job.params.root_seed)


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
