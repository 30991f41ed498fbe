"""Rule analysis: estimates, tests and what can and cannot be said, over all arms."""

from pathlib import Path

from tiebreak.gates import read
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.sections.statistics import Statistics
from tiebreak.stats.analysis import analyse
from tiebreak.stats.counts import counts
from tiebreak.stats.frames import frames

with Job(snakemake) as job:
    statistics = job.part("statistics", Statistics)
    decisions = {job.paths.run_of_training(path): read(Path(path)) for path in job.input.decisions}
    found = analyse(
        counts(map(Path, job.input.rollouts)),
        alpha=statistics.alpha,
        cluster=statistics.cluster,
        k=job.params.k,
        seed=job.params.root_seed,
        probe=counts(map(Path, job.input.probes)),
        stopped={run: decision.reason for run, decision in decisions.items() if not decision.go},
        strata=dict(open_domain(job).strata),
        arms=job.params.arms,
        draws=statistics.resamples,
    )
    job.write_json(job.output.analysis, found)
    folder = Path(job.output.tables)
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames(found).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
