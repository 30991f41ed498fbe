"""Rule budgets: one run on the held-out cases under each budget of calls, with the seeds of repetition 0."""

from tiebreak.job import Job
from tiebreak.job_sampling import plan_of, sample_budgets, sampling_of
from tiebreak.sections.evaluation import Evaluation

with Job(snakemake) as job:
    evaluation = job.part("evaluation", Evaluation)
    sample_budgets(job, plan_of(job, evaluation, 0), sampling_of(job, evaluation), job.params.budgets)
