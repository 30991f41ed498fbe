"""Rule trial: the first steps of a training, and whether it goes on."""

from pathlib import Path

from tiebreak.errors import TiedError
from tiebreak.gates import read, trial_of_groups, trial_that_tied, write
from tiebreak.job import Job
from tiebreak.job_training import open_training
from tiebreak.paths import run_name
from tiebreak.training.resolved import read_resolved

with Job(snakemake, keeps_work=True) as job:
    ties = read(Path(job.input.ties))
    if ties.go:
        training = open_training(job, job.work)
        run, rule = run_name(job.wildcards.arm, int(job.wildcards.seed)), training.rlvr.trial
        try:
            groups = training.advance(rule.steps)
            steps, tied = [group["step"] for group in groups], [group["tied"] for group in groups]
            decision = trial_of_groups(run, steps, tied, max_tied=rule.max_tied, steps_under=rule.steps_under)
        except TiedError as error:
            groups, decision = [], trial_that_tied(run, str(error), max_tied=rule.max_tied)
        job.resolved |= read_resolved(job.work)
        job.write_json(job.output.trial, {"work": str(job.work), "groups": len(groups), "ran": True})
    else:
        decision = ties
        job.write_json(job.output.trial, {"work": None, "groups": 0, "ran": False})
    write(Path(job.output.decision), decision)
