"""Rule report: the page that people read, its figures and its tables."""

import json
from dataclasses import asdict
from pathlib import Path

from tiebreak.gates import read
from tiebreak.job import Job, read_lines
from tiebreak.provenance import versions
from tiebreak.report.page import build

with Job(snakemake) as job:
    study = job.params.study
    runs = [job.paths.run_of_training(path) for path in job.input.steps]
    gates = [asdict(read(Path(path))) for path in [*job.input.gates, *job.input.ties]]
    decisions = [asdict(read(Path(path))) for path in job.input.decisions]
    steps = [read_lines(Path(path)) for path in job.input.steps]
    records = {
        "study": study,
        "root_seed": job.params.root_seed,
        "commands": [f"./dev snakemake --cores all --config study={study}"],
        "versions": versions(),
        "toolchain": job.params.toolchain,
    }
    build(
        json.loads(Path(job.input.analysis).read_text(encoding="utf-8")),
        dict(zip(runs, steps, strict=True)),
        gates,
        dict(zip(runs, decisions, strict=True)),
        records,
        Path(job.output.page).parent,
    )
