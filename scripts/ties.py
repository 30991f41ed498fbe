"""Rule ties: how many of the SFT model's groups an arm's reward ties. A no-go is a result: it stops this arm alone."""

from pathlib import Path

from tiebreak.gates import ties, write
from tiebreak.job import Job
from tiebreak.job_domain import open_domain

with Job(snakemake) as job:
    domain, arm = open_domain(job), job.wildcards.arm
    terms = domain.rescored_groups(Path(job.input.probe), arm)
    decision = ties(
        arm,
        [[sum(rollout.values()) for rollout in group] for group in terms],
        max_tied=job.params.max_tied,
        terms=terms,
        declared=domain.declared_terms(arm),
        synthetic=domain.synthetic_group(arm),
    )
    write(Path(job.output.gate), decision)
