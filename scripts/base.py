"""Rule base: the base model, from scratch (from tasks that are drawn apart from the study's) or from the hub."""

from pathlib import Path

from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.sections.model import Model
from tiebreak.training.base import make_base
from tiebreak.training.download import download_base
from tiebreak.training.resolved import read_resolved

with Job(snakemake) as job:
    seed, model = job.params.root_seed, job.part("model", Model)
    out, steps = Path(job.output.model), Path(job.output.steps)
    if not model.is_hub:
        corpus = open_domain(job).corpus(seed, model.tiny.corpus)
        make_base(model.tiny, corpus, root_seed=seed, out=out, steps=steps, work=job.work)
        job.resolved |= read_resolved(job.work / "0")
    else:
        download_base(model.base, model.revision, out)
        steps.touch()
