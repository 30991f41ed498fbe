"""Rule blueprints: specs from the seeded generator."""

from pathlib import Path

from tiebreak.domains.rust.blueprints import dump_blueprints
from tiebreak.domains.rust.generator import generate
from tiebreak.job import Job
from tiebreak.sections.data import Source

with Job(snakemake) as job:
    wanted = job.part("source", Source).generate
    dump_blueprints(Path(job.output.blueprints), generate(wanted.templates, wanted.cases, job.params.root_seed))
