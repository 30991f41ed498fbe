"""Rule rlvr: the training of one arm with one seed, from where its trial ended; a stopped one leaves its reason."""

import json
from pathlib import Path

from tiebreak.gates import read
from tiebreak.job import Job
from tiebreak.job_training import open_training, write_stopped
from tiebreak.training.resolved import read_resolved

with Job(snakemake, training=True) as job:
    decision = read(Path(job.input.decision))
    trial = json.loads(Path(job.input.trial).read_text(encoding="utf-8"))
    if decision.go:
        training = open_training(job, Path(trial["work"]))
        training.advance(training.rlvr.steps)
        job.resolved |= read_resolved(Path(trial["work"]))
        training.export(Path(job.output.model), Path(job.output.steps), Path(job.output.groups))
    else:
        write_stopped(job, decision, trial["work"])
    job.spent += [Path(trial["work"])] if trial["work"] else []
