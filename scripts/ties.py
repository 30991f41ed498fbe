"""Rule ties: how many of the SFT model's groups an arm's reward ties. A no-go is a result: it stops this arm alone."""

from pathlib import Path

from tiebreak.domains.rust.rescore import rescored_groups, shaping_terms, synthetic_group
from tiebreak.gates import ties, write
from tiebreak.job import Job
from tiebreak.sections.arm import Arm

with Job(snakemake) as job:
    table = job.part("arm", Arm).table()
    terms = rescored_groups(Path(job.input.probe), table)
    decision = ties(
        job.wildcards.arm,
        [[sum(rollout.values()) for rollout in group] for group in terms],
        max_tied=job.params.max_tied,
        terms=terms,
        declared=shaping_terms(table),
        synthetic=synthetic_group(table),
    )
    write(Path(job.output.gate), decision)
