"""Rule publish: the preflight, then one commit a repository, and the receipt."""

from tiebreak.job import Job
from tiebreak.publish.access import client
from tiebreak.publish.preflight import require_fit
from tiebreak.publish.publishing import publish, told
from tiebreak.study import load

with Job(snakemake) as job:
    require_fit(job.paths)
    print("\n".join(told(publish(client(), load(job.params.asked), job.paths))))
