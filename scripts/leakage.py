"""Rule leakage: no source stands in two splits, or the study stops."""

from pathlib import Path

from tiebreak.domains.rust.blueprints import load_blueprints
from tiebreak.domains.rust.shared_code import given, repaired
from tiebreak.gates import enforce, leakage, write
from tiebreak.job import Job
from tiebreak.job_domain import split_cases

FORMS = {"as given": given, "as repaired": repaired}

with Job(snakemake) as job:
    cases = load_blueprints(Path(job.input.cases))
    sources = {
        name: {f"{case.case_id} {form}": text(case) for case in members for form, text in FORMS.items()}
        for name in ("sft", "pool", "holdout")
        for members in [split_cases(cases, job.input.splits, name)]
    }
    decision = leakage(sources)
    write(job.evidence(job.output.gate, go=decision.go), decision)
    enforce(decision)
