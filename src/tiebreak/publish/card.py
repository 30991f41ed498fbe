"""The card of a release: README.md of its dataset, every number from the artifacts beside it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from jinja2 import Environment

from tiebreak.paths import Paths
from tiebreak.publish.contents import names
from tiebreak.publish.opened import RESULTS, read_records
from tiebreak.publish.release import commit_of, read_study, repository
from tiebreak.report.page import in_order
from tiebreak.report.wording import environment
from tiebreak.study import Study

TEMPLATES = Path(__file__).parent / "templates"
PAGE, FIGURE = "results/report/index.html", "results/report/figures/forest.svg"
SAID, MISSING = ("recipe", "learning", "levels"), ("missing", "noise")
TABLES = (
    ("results", "holdout", "a run, repetition and case: samples, valid, success, graded"),
    ("rollouts", "holdout", "a rollout: turns with their seeds and tokens, facts, grade, rewards"),
    ("training", "train", "a training step of a run"),
    ("cases", "cases", "a case, in `case` as JSON with its tests and reference"),
)
"""config, split, what a row is; each lies in tables/<config>.parquet."""
EXACT = "The same commit, locks and seeds give the same rollouts, bit for bit, on machines of one kind."
STATISTICAL = "Sampling ran on GPUs: a repeat agrees within the noise floor of repetitions, not bit for bit."


def card(release: Path) -> str:
    """The text of README.md from a release's folder: its study, analysis, tables and records.

    The same folder gives the same text, so that a number which was typed shows (`publish.preflight`).
    """
    study, records = read_study(release), read_records(release)
    analysis = in_order(json.loads((release / "results/stats/analysis.json").read_text(encoding="utf-8")))
    learned = (analysis["learning"] or {"arms": {}})["arms"]
    rows = [
        {
            **arm,
            "name": name,
            "runs": len(analysis["recipe"]["run_means"].get(name, [])),
            "gain": learned[name]["gain"] if name in learned else None,
        }
        for name, arm in analysis["arms"].items()
    ]
    return (
        markdown()
        .get_template("dataset.md.j2")
        .render(
            head=head(study),
            study=study,
            a=analysis,
            arms=list(study.arms),
            finished=len(study.trained_runs) - len(analysis["stopped"]),
            imported=getattr(study.data.source, "imported", None) is not None,
            public_base=study.model.revision is not None,
            seeds=study.rlvr.training_seeds,
            rows=rows,
            said=texts(analysis, SAID),
            missing=texts(analysis, MISSING),
            reproducible=STATISTICAL if study.model.device == "cuda" else EXACT,
            commit=commit_of(records),
            figure=FIGURE if (release / FIGURE).is_file() else None,
            page=PAGE,
            repo=study.publish.dataset or study.name,
            tables=tables_of(release),
            models=models_of(release, study),
            year=max(record["ended"] for record in records)[:4],
        )
    )


def head(study: Study) -> str:
    """The card's metadata as the hub's own classes write them."""
    from huggingface_hub import DatasetCardData

    configs = [
        {"config_name": name, "data_files": [{"split": split, "path": f"tables/{name}.parquet"}]}
        for name, split, _ in TABLES
    ]
    told = DatasetCardData(
        license=study.publish.license,
        pretty_name=f"Tiebreak study {study.name}",
        tags=["tiebreak", "rlvr", "reward-shape-study", study.domain],
        configs=configs,
    )
    return f"{told.to_yaml()}\n"


def markdown() -> Environment:
    """The environment of the cards' templates: nothing is escaped, an unknown name is an error."""
    made = environment(TEMPLATES, escape=False)
    made.filters["count"] = count
    return made


def count(number: int, noun: str) -> str:
    """`1 training run`, `2 training runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def texts(analysis: Mapping[str, Any], subjects: tuple[str, ...]) -> list[str]:
    """The analysis's sentences about some subjects."""
    return [item["text"] for item in analysis["statements"] if item["about"] in subjects]


def tables_of(release: Path) -> list[dict[str, Any]]:
    """The tables that people load, with their numbers of rows."""
    rows = {name: pq.read_metadata(release / f"tables/{name}.parquet").num_rows for name, _, _ in TABLES}
    return [{"name": name, "split": split, "row": row, "rows": rows[name]} for name, split, row in TABLES]


def models_of(release: Path, study: Study) -> dict[str, str]:
    """The model repositories of all runs that were not stopped; none where the study keeps its models."""
    there, paths = names(release), Paths(study.name, Path())
    reasons = {run: paths.model(run).relative_to(paths.root) / "stopped.json" for run in study.runs}
    named = {run: repository(study, run) for run, path in reasons.items() if f"{RESULTS}/{path}" not in there}
    return {run: name for run, name in named.items() if name is not None}
