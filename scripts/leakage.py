"""Rule leakage: no source stands in two splits, or the study stops."""

from pathlib import Path

from tiebreak.domains.rust.blueprints import load_blueprints
from tiebreak.domains.rust.crate import split_tests
from tiebreak.gates import enforce, leakage, write
from tiebreak.job import Job
from tiebreak.job_domain import split_cases

with Job(snakemake) as job:
    cases = load_blueprints(Path(job.input.cases))
    sources = {
        name: {case.case_id: split_tests(case.files[case.source_path])[0] for case in members}
        for name in ("sft", "pool", "holdout")
        for members in [split_cases(cases, job.input.splits, name)]
    }
    decision = leakage(sources)
    write(job.evidence(job.output.gate, go=decision.go), decision)
    enforce(decision)
