"""Rule evaluation: one repetition of one run on the held-out cases; of a sharded one, its shards put together."""

from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.job_sampling import gather, plan_of, sample_run, sampling_of
from tiebreak.sections.evaluation import Evaluation

with Job(snakemake) as job:
    evaluation = job.part("evaluation", Evaluation)
    plan = plan_of(job, evaluation, int(job.wildcards.rep))
    if job.input.get("rollouts"):
        found = gather(job, plan, open_domain(job).facts)
    else:
        found = sample_run(job, plan, sampling_of(job, evaluation))
    job.write_json(job.output.summary, found)
