"""The domain and the engine of a job, from its typed parameters."""

import json
from pathlib import Path
from typing import Any

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.job import Job
from tiebreak.paths import verdict_cache
from tiebreak.sandbox.probe import enforcement
from tiebreak.sections.arm import Arm
from tiebreak.sections.model import Toolbox


def open_judge(job: Job, toolbox: Toolbox | None = None) -> Judge:
    """The verdict engine, with the cache that all studies share; the job's record then says by what limits are held."""
    job.confinement = enforcement()
    return Judge(verdict_cache(), workers=job.threads, diagnostics=(toolbox or Toolbox()).diagnostics)


def open_domain(job: Job) -> RustDomain:
    """The Rust domain with the job's toolbox and reward tables (its own arm's, or those of `shapes`)."""
    toolbox = job.part("toolbox", Toolbox)
    shapes = (
        {job.wildcards.arm: job.params["arm"]} if job.params.get("arm") is not None else job.params.get("shapes", {})
    )
    tables = {name: Arm.model_validate(values).table() for name, values in shapes.items()}
    judge = open_judge(job, toolbox)
    return RustDomain(judge, tables, read_limit=toolbox.read_limit, output_limit=toolbox.output_limit)


def split_cases(cases: list[Any], splits: str | Path, name: str) -> list[Any]:
    """The cases of one split, in the split's order."""
    by_id = {case.case_id: case for case in cases}
    return [by_id[case] for case in json.loads(Path(splits).read_text(encoding="utf-8"))[name]]


def stop_reason(model: str | Path) -> str | None:
    """Why a gate stopped the run of this model folder; None for a model."""
    path = Path(model) / "stopped.json"
    return str(json.loads(path.read_text(encoding="utf-8"))["reason"]) if path.exists() else None
