"""Rule parity: SFT, RL and evaluation show a case in the same bytes, or the study stops."""

from pathlib import Path

from tiebreak.gates import enforce, parity, write
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.prompts import two_sides

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    members = {split: split_cases(cases, job.input.splits, split) for split in ("sft", "pool", "holdout")}
    files = {"sft": job.input.traces, "pool": job.input.pool, "holdout": job.input.holdout}
    paths = {split: Path(path) for split, path in files.items()}
    sides = two_sides(domain, members, paths, job.params.system_message, job.params.drifting)
    declared = sides.declared | ({"pool": "drifted_prompt"} if job.params.declared else {})
    decision = parity(sides.expected, sides.found, declared=declared)
    write(job.evidence(job.output.gate, go=decision.go), decision)
    enforce(decision)
