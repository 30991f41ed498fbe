"""Rule blueprints: specs from the sources that the study names."""

import json
from pathlib import Path

from tiebreak.job import Job
from tiebreak.job_domain import draw, open_domain

with Job(snakemake) as job:
    drawn = draw(job)
    print(drawn.words)
    open_domain(job).dump_cases(Path(job.output.blueprints), drawn.blueprints)
    lines = [json.dumps(reject, sort_keys=True, ensure_ascii=False) + "\n" for reject in drawn.rejects]
    Path(job.output.refused).write_text("".join(lines), encoding="utf-8")
