"""The report: one page that carries everything it shows, computed from stored artifacts and from nothing else."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from tiebreak.paths import BASE_ARM
from tiebreak.report import audit_figures, audit_tables, case_map, causes, costs, curves, data, drawing, figures
from tiebreak.report.viewer import link
from tiebreak.report.viewer_data import Index
from tiebreak.report.wording import environment, word, write
from tiebreak.stats.arms import Settings
from tiebreak.stats.curves import pass_at_k_curves
from tiebreak.stats.frames import frames

Steps = Mapping[str, Sequence[Mapping[str, Any]]]


def build(
    analysis: Mapping[str, Any],
    steps: Steps,
    gates: Sequence[Mapping[str, Any]],
    decisions: Mapping[str, Mapping[str, Any]],
    records: Mapping[str, Any],
    out_dir: Path,
    *,
    counts: pd.DataFrame | None = None,
    rollouts: Index | None = None,
    spent: pd.DataFrame | None = None,
    audits: Mapping[str, Any] | None = None,
    effort: Mapping[str, pd.DataFrame] | None = None,
    cells: pd.DataFrame | None = None,
    in_training: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Write index.html, figures/*.svg and tables/*.csv into `out_dir`; the path of the page.

    analysis: of `stats.analyse`; steps: the records of each run's training steps; gates: decisions as dicts, any order;
    decisions: the trial's decision of each run; records: provenance, any nesting of names and values, with `study` (the
    name), `commands` (how to re-make) and `jobs` (of `chain`) if known; counts: the table that was analysed;
    rollouts: the index of the viewer beside the page, to which numbers then link; spent: of `report.costs`; audits:
    of `audits.study`; effort: of `report.effort.tables`; cells: of `report.causes`; in_training: of
    `report.in_training`. What is None is not shown. The same inputs give the same bytes.
    """
    analysis, jobs = in_order(analysis), records.get("jobs", [])
    tables = {**tables_of(analysis, steps, counts), "jobs": data.jobs(jobs)}
    tables |= {} if spent is None else {"figure_costs": spent}
    tables |= dict(effort or {}) | ({} if cells is None else {"figure_causes": cells, "effects": causes.effects(cells)})
    audited = {} if audits is None else audit_tables.figure_tables(audits)
    tables |= {f"audit_{name.removeprefix('figure_')}": frame for name, frame in audited.items()}
    for name, frame in tables.items():
        write(out_dir / "tables" / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    drawn = {name: drawing.svg(figure, name) for name, figure in drawings(analysis, tables).items()}
    drawn |= {} if audits is None else audit_figures.drawings(audited, list(analysis["arms"]))
    for name, text in drawn.items():
        write(out_dir / "figures" / f"{name}.svg", text)
    context = {
        "a": analysis,
        "about": statements_by_subject(analysis),
        "figures": {name: Markup(drawing.inline(text, name.replace("_", " "))) for name, text in drawn.items()},
        "training": data.training_summary(tables["figure_training"]),
        "in_training": dict(in_training or {}),
        "cases": [] if counts is None else case_map.table(tables["figure_cases"]),
        "moves": tables["figure_moves"].to_dict("records") if counts is not None else [],
        "curves": curves_at(tables),
        "gates": list(gates),
        "decisions": dict(decisions),
        "records": records,
        "facts": facts(records),
        "jobs": jobs,
        "spent": spent,
        "spent_total": None if spent is None else costs.total(spent),
        "elapsed": costs.elapsed(jobs),
        "audits": None if audits is None else about_audits(audits),
        "effort": effort or {},
        "cells": cells,
        "causes": [] if cells is None else causes.sentences(cells, analysis["settings"]["alpha"]),
        "rollouts": rollouts,
        "link": link,
        "table_names": sorted(tables),
    }
    return write(out_dir / "index.html", environment().get_template("page.html.j2").render(context))


def about_audits(audits: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of the audits: sentences by subject, and the rollouts that are findings."""
    subjects: dict[str, list[str]] = {}
    for statement in audits["statements"]:
        subjects.setdefault(statement["about"], []).append(statement["text"])
    return {"about": subjects, "findings": audits["tables"]["findings"]}


def in_order(analysis: Mapping[str, Any]) -> dict[str, Any]:
    """The analysis with its arms in the order of the study, the baseline first: a JSON file has them by name."""
    names = dict.fromkeys([BASE_ARM, *analysis["settings"]["arms"], *analysis["arms"]])

    def sort(part: Mapping[str, Any]) -> dict[str, Any]:
        return {arm: part[arm] for arm in names if arm in part}

    learned = analysis["learning"] and {**analysis["learning"], "arms": sort(analysis["learning"]["arms"])}
    return {**analysis, "arms": sort(analysis["arms"]), "learning": learned}


def tables_of(analysis: Mapping[str, Any], steps: Steps, counts: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Every table of the report by name; those that begin with `figure_` are drawn."""
    return {
        **frames(analysis),
        "figure_levels": data.levels(analysis),
        "figure_pairs": data.pairs(analysis),
        "figure_families": data.families(analysis),
        "figure_learning": data.learning(analysis),
        "figure_training": data.training(steps),
        **({} if counts is None else tables_of_counts(analysis, counts)),
    }


def tables_of_counts(analysis: Mapping[str, Any], counts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables that need every case's counts: the case map, who moved, pass@k over k."""
    order = list(analysis["arms"])
    cases = case_map.cases(counts, order)
    return {
        "figure_cases": cases,
        "figure_moves": case_map.moves(counts, cases, order, analysis["noise"]["graded"]),
        "figure_pass_at_k": pass_at_k_curves(counts, order, Settings(**analysis["settings"])),
    }


def drawings(analysis: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """The figures that have something to show."""
    cluster, arms, k = analysis["settings"]["cluster"], list(analysis["arms"]), analysis["settings"]["k"]
    makers: dict[str, tuple[str, Callable[[], Figure]]] = {
        "forest": ("figure_levels", lambda: figures.forest(tables["figure_levels"], tables["figure_pairs"], cluster)),
        "case_map": ("figure_moves", lambda: case_map.draw(tables["figure_cases"], tables["figure_moves"])),
        "pass_at_k": ("figure_pass_at_k", lambda: curves.pass_at_k(tables["figure_pass_at_k"], k)),
        "families": ("figure_families", lambda: figures.by_family(tables["figure_families"])),
        "learning": ("figure_learning", lambda: figures.probe(tables["figure_learning"])),
        "training": ("figure_training", lambda: curves.training(tables["figure_training"], arms)),
        "sizes": ("figure_sizes", lambda: figures.by_family(tables["figure_sizes"].rename(columns={"size": "family"}))),
        "budgets": ("figure_budgets", lambda: curves.budgets(tables["figure_budgets"])),
        "causes": ("figure_causes", lambda: figures.causes(tables["figure_causes"])),
        "costs": ("figure_costs", lambda: curves.costs(tables["figure_costs"])),
    }
    with matplotlib.rc_context(drawing.STYLE):
        return {name: make() for name, (table, make) in makers.items() if len(tables.get(table, ()))}


def curves_at(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """pass@k at the powers of two and at the largest k, a row an arm and a column a k."""
    if "figure_pass_at_k" not in tables:
        return None
    frame = tables["figure_pass_at_k"]
    last = int(frame["k"].max())
    shown = frame["k"].isin([2**power for power in range(last.bit_length())] + [last])
    return frame[shown].pivot(index="arm", columns="k", values="value").reindex(frame["arm"].unique())


def statements_by_subject(analysis: Mapping[str, Any]) -> dict[str, list[str]]:
    """The analysis's statements under their subjects, in order."""
    subjects: dict[str, list[str]] = {}
    for statement in analysis["statements"]:
        subjects.setdefault(statement["about"], []).append(statement["text"])
    return subjects


def facts(records: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Provenance as titled lists of (name, value): plain values first, then one list for each nested part."""
    plain = [(str(key), word(value)) for key, value in records.items() if not isinstance(value, Mapping | list)]
    parts = [
        (str(key), list(leaves(value)))
        for key, value in records.items()
        if isinstance(value, Mapping | list) and key not in ("commands", "jobs")
    ]
    return [("study", plain), *parts] if plain else parts


def leaves(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """The leaves of a nested value under dotted names."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(str(number), item) for number, item in enumerate(value)]
    else:
        return [(prefix, word(value))]
    return [leaf for key, item in items for leaf in leaves(item, f"{prefix}.{key}" if prefix else key)]
