"""Rule traces: demonstrations of the SFT cases, every tool reply real."""

from pathlib import Path

from tqdm import tqdm

from tiebreak import tables
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.seeds import stream

BLOCK = 500

with Job(snakemake) as job:
    domain = open_domain(job)
    cases = split_cases(domain.load_cases(Path(job.input.cases)), job.input.splits, "sft")
    rows = []
    with tqdm(total=len(cases), desc="traces", unit="case", mininterval=1) as bar:
        for start in range(0, len(cases), BLOCK):
            block = cases[start : start + BLOCK]
            found = domain.traces(
                block,
                lambda case: stream(job.params.root_seed, "traces", case.case_id),
                job.params.detours,
                system_message=job.params.system_message,
                most_calls=job.params.most_calls,
            )
            keys = ("case_id", "family", "template", "difficulty")
            rows += [
                {key: getattr(case, key) for key in keys} | {"turns": turns}
                for case, turns in zip(block, found, strict=True)
            ]
            bar.update(len(block))
    tables.write_table(Path(job.output.traces), rows, tables.SFT)
