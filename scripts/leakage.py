"""Rule leakage: no source stands in two splits, and none is too near to one of another split, or the study stops."""

import sys
from pathlib import Path

from tiebreak.audits.clusters import clusters
from tiebreak.audits.crossings import crossings
from tiebreak.audits.near import Index
from tiebreak.audits.overlap import overlaps
from tiebreak.gates import enforce, leakage, write
from tiebreak.job import Job
from tiebreak.job_domain import open_domain, split_cases
from tiebreak.sections.data import Leakage


def texts(members, text):
    """A text of each case, by split and case id."""
    return {name: {case.case_id: text(case) for case in held} for name, held in members.items()}


with Job(snakemake) as job:
    domain = open_domain(job)
    cases = domain.load_cases(Path(job.input.cases))
    threshold = job.part("leakage", Leakage).max_similarity
    members = {name: split_cases(cases, job.input.splits, name) for name in ("sft", "pool", "holdout")}
    sources = {case.case_id: domain.forms(case) for held in members.values() for case in held}
    ids = {name: [case.case_id for case in held] for name, held in members.items()}
    found = crossings(Index(sources.items()), ids, threshold, lambda case, form: sources[case][form])
    decision = leakage(
        {
            name: {f"{case} {form}": text for case in held for form, text in sources[case].items()}
            for name, held in ids.items()
        },
        near=found,
        max_similarity=threshold,
        templates={name: clusters(case.template for case in held) for name, held in members.items()},
        overlap=[
            *overlaps("prompt", texts(members, domain.question)),
            *overlaps("answer", texts(members, domain.answer_text)),
        ],
    )
    write(job.evidence(job.output.gate, go=decision.go), decision)
    if not decision.go:
        pairs = [pair for one in found for pair in one.nearest[:1]]
        worst = max(pairs, key=lambda pair: pair["similarity"], default=None)
        print(*(worst["diff"] if worst else ()), sep="\n", file=sys.stderr)
    enforce(decision)
