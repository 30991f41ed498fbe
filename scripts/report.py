"""Rule report: the page that people read, its figures and its tables."""

import json
from dataclasses import asdict
from pathlib import Path

from tiebreak.gates import read
from tiebreak.job import Job, named, read_lines
from tiebreak.provenance import described, environment, git_state, host, versions
from tiebreak.report.jobs import jobs_behind
from tiebreak.report.page import build

with Job(snakemake) as job:
    study = job.params.study
    runs = [job.paths.run_of_training(path) for path in job.input.steps]
    gates = [asdict(read(Path(path))) for path in [*job.input.gates, *job.input.ties]]
    decisions = [asdict(read(Path(path))) for path in job.input.decisions]
    steps = [read_lines(Path(path)) for path in job.input.steps]
    inputs = [described(name, path) for name, path in named(job.input)]
    records = {
        "study": study,
        "root_seed": job.params.root_seed,
        "commands": [f"./dev snakemake --cores all --config study={job.params.asked}"],
        "code": job.params.code,
        "toolchain": job.params.toolchain,
        "git": git_state(Path()),
        "host": host(),
        "environment": environment(),
        "versions": versions(),
        "inputs": {item["path"]: item["sha256"] for item in inputs},
        "jobs": jobs_behind(map(str, job.input), job.paths.records),
    }
    build(
        json.loads(Path(job.input.analysis).read_text(encoding="utf-8")),
        dict(zip(runs, steps, strict=True)),
        gates,
        dict(zip(runs, decisions, strict=True)),
        records,
        Path(job.output.page).parent,
    )
