"""Rule parity: SFT, RL and evaluation show a case in the same bytes, or the study stops."""

from pathlib import Path

from tiebreak.gates import enforce, parity, write
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.prompts import by_case, prompt_rows, shown_prompts, trace_prompts

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    expected = by_case(prompt_rows(domain, cases, job.params.system_message))
    found = {
        "sft": trace_prompts(Path(job.input.traces)),
        "pool": shown_prompts(Path(job.input.pool)),
        "holdout": shown_prompts(Path(job.input.holdout)),
    }
    declared = {"pool": "drifted_prompt"} if job.params.declared else {}
    decision = parity(dict.fromkeys(found, expected), found, declared=declared)
    write(job.evidence(job.output.gate, go=decision.go), decision)
    enforce(decision)
