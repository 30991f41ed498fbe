"""Rule sft: supervised fine-tuning, from which every arm starts."""

from pathlib import Path

from tiebreak.job import Job
from tiebreak.sections.model import Model
from tiebreak.sections.sft import Sft
from tiebreak.training.resolved import read_resolved
from tiebreak.training.sft import train_sft

with Job(snakemake, training=True) as job:
    numbers = train_sft(
        job.part("sft", Sft),
        traces=Path(job.input.traces),
        base=Path(job.input.base),
        max_length=job.part("model", Model).max_length,
        root_seed=job.params.root_seed,
        out=Path(job.output.model),
        steps=Path(job.output.steps),
        work=job.work,
        dtype=job.part("model", Model).precision,
    )
    job.resolved |= read_resolved(job.work)
    job.write_json(job.output.record, numbers)
