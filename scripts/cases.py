"""Rule cases: the blueprints that materialize, and why the others were rejected."""

import json
from pathlib import Path

from tqdm import tqdm

from tiebreak.job import Job, read_lines
from tiebreak.job_domain import open_domain

with Job(snakemake) as job:
    domain = open_domain(job)
    blueprints = domain.load_cases(Path(job.input.blueprints))
    with tqdm(total=len(blueprints), desc="cases", unit="case", mininterval=1) as bar:
        cases, rejects = domain.materialize(blueprints, bar.update)
    domain.dump_cases(Path(job.output.cases), cases)
    lines = [
        json.dumps(reject, sort_keys=True, ensure_ascii=False) + "\n"
        for reject in [*read_lines(Path(job.input.refused)), *rejects]
    ]
    Path(job.output.rejects).write_text("".join(lines), encoding="utf-8")
