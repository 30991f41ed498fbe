"""Rule report: the page that people read, its figures and its tables, and the viewer of the rollouts behind them."""

import json
from dataclasses import asdict
from pathlib import Path

from tiebreak.chain import jobs_behind
from tiebreak.gates import read
from tiebreak.job import Job, named, read_lines
from tiebreak.job_domain import open_domain
from tiebreak.provenance import described
from tiebreak.report import causes, effort
from tiebreak.report.costs import costs, tokens
from tiebreak.report.in_training import of_files
from tiebreak.report.page import build, in_order
from tiebreak.report.viewer import write_page
from tiebreak.report.viewer_data import write_data
from tiebreak.stats.counts import counts

with Job(snakemake) as job:
    study, out = job.params.study, Path(job.output.page).parent
    runs = [job.paths.run_of_training(path) for path in job.input.steps]
    gates = [asdict(read(Path(path))) for path in [*job.input.gates, *job.input.ties]]
    decisions = [asdict(read(Path(path))) for path in job.input.decisions]
    steps = [read_lines(Path(path)) for path in job.input.steps]
    inputs = [described(name, path) for name, path in named(job.input)]
    records = {
        "study": study,
        "root_seed": job.params.root_seed,
        "commands": [f"./dev snakemake --cores all --config study={job.params.asked}"],
        "code": job.params.code,
        "toolchain": job.params.toolchain,
        **job.surroundings(),
        "inputs": {item["path"]: item["sha256"] for item in inputs},
        "jobs": jobs_behind(map(str, job.input), job.paths.records),
    }
    domain = open_domain(job)
    audits = json.loads(Path(job.input.audits).read_text(encoding="utf-8"))

    def terms(stored):
        return domain.stored_terms(stored.turns, stored.row["stop"], stored.row["facts"])

    rollouts = [Path(path) for path in job.input.rollouts]
    index = write_data(rollouts, terms, Path(job.output.rollouts), study)
    write_page(out, study)
    learned = json.loads(Path(job.input.sft).read_text(encoding="utf-8"))["tokens_learned"] * job.params.epochs
    budgets = [Path(path) for path in job.input.budgets]
    sampled = tokens(map(Path, job.input.groups), map(Path, job.input.probes), index.tokens, budgets)
    analysis = in_order(json.loads(Path(job.input.analysis).read_text(encoding="utf-8")))
    steps_of, decision_of = dict(zip(runs, steps, strict=True)), dict(zip(runs, decisions, strict=True))
    cells = causes.cells(job.params.shapes, decision_of, steps_of, analysis)
    build(
        analysis,
        steps_of,
        gates,
        decision_of,
        records,
        out,
        counts=counts(rollouts),
        rollouts=index,
        audits=audits,
        effort=effort.tables(rollouts, budgets, analysis, domain.counted, domain.size),
        cells=cells if len(cells) else None,
        in_training=of_files(runs, [Path(path) for path in job.input.groups], decision_of),
        spent=costs(records["jobs"], job.params.gpus_of, sampled | {"sft": {"tokens_trained": learned}}),
    )
