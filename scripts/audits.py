"""Rule audits: groups, tampering, never solved, protocol, length, reward against grade, over all stored rollouts."""

from pathlib import Path

from tiebreak.audits import groups, study
from tiebreak.audits.stored import evaluated, json_lines, stored, trained
from tiebreak.job import Job
from tiebreak.job_domain import open_domain
from tiebreak.report.audit_figures import drawings
from tiebreak.report.audit_tables import figure_tables
from tiebreak.report.wording import write
from tiebreak.sections.statistics import Statistics

with Job(snakemake) as job:
    statistics = job.part("statistics", Statistics)
    domain = open_domain(job)
    reader = domain.reader(domain.load_cases(Path(job.input.cases)))
    records = {job.paths.run_of_training(path): json_lines(Path(path)) for path in job.input.groups}
    recorded = {job.paths.run_of_training(path): json_lines(Path(path)) for path in job.input.steps}
    parts = [evaluated(Path(path)) for path in job.input.rollouts]
    parts += [evaluated(Path(path), "probe") for path in job.input.probes]
    found = stored([*parts, *(trained(run, lines) for run, lines in records.items())], reader)
    steps = groups.by_step(records, reader.shaping)
    settings = {"confidence": 1 - statistics.alpha, "draws": statistics.resamples}
    tables = study.tables(found, steps, reader, seed=job.params.root_seed, **settings)
    checks = study.checks(found, steps, recorded, reader.shapes)
    audits = study.document(tables, checks, found, **settings, shaping=reader.shaping, tampering=reader.tampering)
    job.write_json(job.output.audits, audits)
    for name, frame in {**tables, **figure_tables(audits)}.items():
        write(Path(job.output.tables) / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    Path(job.output.figures).mkdir(parents=True, exist_ok=True)
    for name, text in drawings(figure_tables(audits), list(reader.shapes)).items():
        write(Path(job.output.figures) / f"{name}.svg", text)
