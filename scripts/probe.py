"""Rule probe: a run's rollouts on fixed pool prompts, with the seeds that every other run has."""

from tiebreak.job import Job
from tiebreak.job_sampling import sample_run, sampling_of
from tiebreak.paths import parse_run
from tiebreak.sampling import Plan
from tiebreak.sections.evaluation import Evaluation, Probe

with Job(snakemake) as job:
    evaluation, probe = job.part("evaluation", Evaluation), job.part("probe", Probe)
    arm, seed = parse_run(job.wildcards.run)
    plan = Plan(
        root_seed=job.params.root_seed,
        stream=("probe",),
        arm=arm,
        training_seed=seed,
        repetition=0,
        samples=probe.samples,
        tool_rounds=evaluation.tool_rounds,
        block=evaluation.block,
    )
    sample_run(job, plan, sampling_of(job, evaluation), limit=probe.prompts)
