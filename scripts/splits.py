"""Rule splits: which cases training, RL and evaluation see."""

from pathlib import Path

from tiebreak.audits.near import Index
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.sections.data import Leakage, Splits
from tiebreak.splits import divide

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    index = Index((case.case_id, domain.forms(case)) for case in cases)
    threshold = job.part("leakage", Leakage).max_similarity

    def near(drawn, left):
        return index.over(left, drawn, threshold)

    found = divide(cases, job.part("splits", Splits), job.params.root_seed, near)
    for name, ids in found.dropped.items():
        print(f"{len(ids)} cases are left out: they are over {threshold:g} like a case of {name}")
    job.write_json(job.output.splits, found.plain())
