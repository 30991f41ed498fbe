"""Rule evaluation: one repetition of one run on the held-out cases."""

from tiebreak.job import Job
from tiebreak.job_sampling import sample_run, sampling_of
from tiebreak.paths import parse_run
from tiebreak.sampling import Plan
from tiebreak.sections.evaluation import Evaluation

with Job(snakemake) as job:
    evaluation = job.part("evaluation", Evaluation)
    arm, seed = parse_run(job.wildcards.run)
    repetition = int(job.wildcards.rep)
    plan = Plan(
        root_seed=job.params.root_seed,
        stream=("eval", repetition),
        arm=arm,
        training_seed=seed,
        repetition=repetition,
        samples=evaluation.k,
        tool_rounds=evaluation.tool_rounds,
        block=evaluation.block,
    )
    job.write_json(job.output.summary, sample_run(job, plan, sampling_of(job, evaluation)))
