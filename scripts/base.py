"""Rule base: the base model from scratch, from crates that are drawn apart from the study's cases."""

from pathlib import Path

from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.sections.model import Model
from tiebreak.training.base import make_base

with Job(snakemake) as job:
    seed, tiny = job.params.root_seed, job.part("model", Model).tiny
    out, steps = Path(job.output.model), Path(job.output.steps)
    make_base(tiny, open_domain(job).corpus(seed, tiny.corpus), root_seed=seed, out=out, steps=steps, work=job.work)
