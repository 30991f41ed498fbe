"""Rule data_page: what the tasks are, how the splits differ, and what supervised training is shown."""

import json
from dataclasses import asdict
from pathlib import Path

from tiebreak import tables
from tiebreak.gates import read
from tiebreak.job import Job, read_lines
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.report.data_page import build


def optional(path):
    """A JSON file that only some studies have at this stage."""
    return json.loads(Path(path).read_text(encoding="utf-8")) if path else None


with Job(snakemake) as job:
    cases = open_domain(job).load_cases(Path(job.input.cases))
    prompts: dict[str, dict[str, str]] = {"pool": {}, "holdout": {}}
    for name, first in prompts.items():
        for row in tables.read_table(Path(job.input[name]), ["family", "prompt"]).to_pylist():
            first.setdefault(row["family"], row["prompt"])
    build(
        job.params.study,
        {name: split_cases(cases, job.input.splits, name) for name in ("sft", "pool", "holdout")},
        {name: asdict(read(Path(job.input[name]))) for name in ("leakage", "parity")},
        read_lines(Path(job.input.rejects)),
        tables.read_table(Path(job.input.traces)).to_pylist(),
        prompts,
        Path(job.output.page).parent,
        tokens=optional(job.input.get("tokens")),
        sample=optional(job.input.get("sample")),
    )
