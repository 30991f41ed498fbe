"""Rule parity: SFT, RL and evaluation show a case in the same bytes, or the study stops."""

from pathlib import Path

from tiebreak.gates import enforce, parity, write
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.prompts import by_case, prompt_rows, shown_prompts, trace_prompts

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    expected = {
        split: by_case(prompt_rows(domain, split_cases(cases, job.input.splits, split), job.params.system_message))
        for split in ("sft", "pool", "holdout")
    }
    found = {
        "sft": trace_prompts(Path(job.input.traces)),
        "pool": shown_prompts(Path(job.input.pool)),
        "holdout": shown_prompts(Path(job.input.holdout)),
    }
    declared = {"pool": "drifted_prompt"} if job.params.declared else {}
    for arm in job.params.drifting:
        stage, pool = f"pool of {arm}", split_cases(cases, job.input.splits, "pool")
        expected[stage], declared[stage] = expected["pool"], "drifted_prompt"
        found[stage] = by_case(prompt_rows(domain, pool, job.params.system_message, drifted=True))
    decision = parity(expected, found, declared=declared)
    write(job.evidence(job.output.gate, go=decision.go), decision)
    enforce(decision)
