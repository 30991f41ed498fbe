"""Rule prompts: the bytes that RL and evaluation show."""

from pathlib import Path

from tiebreak import tables
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.prompts import prompt_rows

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    own, study = job.params.rlvr_system_message, job.params.system_message
    messages = {"pool": study if own is None else own, "holdout": study}
    for name, message in messages.items():
        rows = prompt_rows(domain, split_cases(cases, job.input.splits, name), message)
        tables.write_table(Path(job.output[name]), rows, tables.PROMPTS)
