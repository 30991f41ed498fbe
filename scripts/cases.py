"""Rule cases: the blueprints that real cargo agrees with, and why the others were rejected."""

import json
from pathlib import Path

from tqdm import tqdm

from tiebreak.domains.rust.blueprints import dump_blueprints, load_blueprints
from tiebreak.domains.rust.materialize import materialize
from tiebreak.job import Job, read_lines
from tiebreak.job_domain import open_judge

with Job(snakemake) as job:
    blueprints = load_blueprints(Path(job.input.blueprints))
    with tqdm(total=len(blueprints), desc="cases", unit="crate", mininterval=1) as bar:
        cases, rejects = materialize(blueprints, open_judge(job), bar.update)
    dump_blueprints(Path(job.output.cases), cases)
    lines = [
        json.dumps(reject, sort_keys=True, ensure_ascii=False) + "\n"
        for reject in [*read_lines(Path(job.input.refused)), *rejects]
    ]
    Path(job.output.rejects).write_text("".join(lines), encoding="utf-8")
