"""Rule arm: what one arm came to, over its runs and repetitions."""

from pathlib import Path

from tiebreak.gates import read
from tiebreak.job import Job
from tiebreak.sections.statistics import Statistics
from tiebreak.stats.analysis import settings_of
from tiebreak.stats.arms import summarize
from tiebreak.stats.counts import check, counts

with Job(snakemake) as job:
    statistics = job.part("statistics", Statistics)
    settings = settings_of(
        alpha=statistics.alpha,
        cluster=statistics.cluster,
        k=job.params.k,
        seed=job.params.root_seed,
        draws=statistics.resamples,
    )
    table = counts(map(Path, job.input.rollouts))
    decisions = [read(Path(path)) for path in job.input.decisions]
    stopped = [decision.reason for decision in decisions if not decision.go]
    found = summarize(check(table), settings) if len(table) else {"arm": job.wildcards.arm, "runs": {}}
    job.write_json(job.output.summary, found | {"stopped": stopped})
