"""Rule release: the folder that holds a finished study, and the cards of its models."""

from tiebreak.job import Job
from tiebreak.publish.publishing import make_release
from tiebreak.study import load

with Job(snakemake) as job:
    make_release(load(job.params.asked), job.paths)
