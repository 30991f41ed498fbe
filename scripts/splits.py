"""Rule splits: which cases training, RL and evaluation see."""

from pathlib import Path

from tiebreak.domains.rust.blueprints import load_blueprints
from tiebreak.job import Job
from tiebreak.sections.data import Splits
from tiebreak.splits import split

with Job(snakemake) as job:
    cases = load_blueprints(Path(job.input.cases))
    job.write_json(job.output.splits, split(cases, job.part("splits", Splits), job.params.root_seed))
