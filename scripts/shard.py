"""Rule shard: the part of an evaluation that one job of several plays."""

from tiebreak.job import Job
from tiebreak.job_sampling import plan_of, sample_run, sampling_of
from tiebreak.sections.evaluation import Evaluation

with Job(snakemake) as job:
    evaluation = job.part("evaluation", Evaluation)
    plan = plan_of(job, evaluation, int(job.wildcards.rep))
    part = int(job.wildcards.shard), int(job.params.shards)
    sample_run(job, plan, sampling_of(job, evaluation), shard=part)
