"""The report: one page that carries everything it shows, computed from stored artifacts and from nothing else."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from tiebreak.report import data, figures
from tiebreak.stats.frames import frames
from tiebreak.stats.sentences import p_value, plural, rate, signed

TEMPLATE = "page.html.j2"
Steps = Mapping[str, Sequence[Mapping[str, Any]]]


def build(
    analysis: Mapping[str, Any],
    steps: Steps,
    gates: Sequence[Mapping[str, Any]],
    decisions: Mapping[str, Mapping[str, Any]],
    records: Mapping[str, Any],
    out_dir: Path,
) -> Path:
    """Write index.html, figures/*.svg and tables/*.csv into `out_dir`; the path of the page.

    analysis: of `stats.analyse`; steps: the records of each run's training steps; gates: decisions as dicts, any order;
    decisions: the trial's decision of each run; records: provenance, any nesting of names and values, with `study` (the
    name), `commands` (how to re-make) and `jobs` (of `report.jobs`) if known. The same inputs give the same bytes.
    """
    jobs = records.get("jobs", [])
    tables = {**tables_of(analysis, steps), "jobs": data.jobs(jobs)}
    for name, frame in tables.items():
        write(out_dir / "tables" / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    drawn = {name: figures.svg(figure, name) for name, figure in drawings(analysis, tables).items()}
    for name, text in drawn.items():
        write(out_dir / "figures" / f"{name}.svg", text)
    page = environment().get_template(TEMPLATE)
    context = {
        "a": analysis,
        "about": statements_by_subject(analysis),
        "figures": {name: Markup(figures.inline(text, name.replace("_", " "))) for name, text in drawn.items()},
        "training": data.training_summary(tables["figure_training"]),
        "gates": list(gates),
        "decisions": dict(decisions),
        "records": records,
        "facts": facts(records),
        "jobs": jobs,
        "table_names": sorted(tables),
    }
    return write(out_dir / "index.html", page.render(context))


def tables_of(analysis: Mapping[str, Any], steps: Steps) -> dict[str, pd.DataFrame]:
    """Every table of the report by name; those that begin with `figure_` are drawn."""
    return {
        **frames(analysis),
        "figure_levels": data.levels(analysis),
        "figure_pairs": data.pairs(analysis),
        "figure_families": data.families(analysis),
        "figure_learning": data.learning(analysis),
        "figure_training": data.training(steps),
    }


def drawings(analysis: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """The figures that have something to show."""
    cluster, arms = analysis["settings"]["cluster"], list(analysis["arms"])
    makers: dict[str, tuple[str, Callable[[], Figure]]] = {
        "forest": ("figure_levels", lambda: figures.forest(tables["figure_levels"], tables["figure_pairs"], cluster)),
        "families": ("figure_families", lambda: figures.by_family(tables["figure_families"])),
        "learning": ("figure_learning", lambda: figures.probe(tables["figure_learning"])),
        "training": ("figure_training", lambda: figures.curves(tables["figure_training"], arms)),
    }
    with matplotlib.rc_context(figures.STYLE):
        return {name: make() for name, (table, make) in makers.items() if len(tables[table])}


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


def word(value: Any) -> str:
    """A value as a person reads it; nothing is a dash."""
    return "–" if value is None else str(value)


def interval(part: Mapping[str, Any] | None, form: Callable[[float], str] = rate) -> str:
    """`0.532 [0.470, 0.601]`; the value alone without bounds, a dash without a value."""
    if part is None or part["value"] is None:
        return "–"
    bounds = f" [{form(part['low'])}, {form(part['high'])}]" if part["low"] is not None else ""
    return f"{form(part['value'])}{bounds}"


def optional(value: float | None, form: Callable[[float], str] = rate) -> str:
    """A number, or a dash for none."""
    return "–" if value is None else form(value)


def change(part: Mapping[str, Any] | None) -> str:
    """An interval of differences, each with its sign."""
    return interval(part, signed)


def chance(test: Mapping[str, Any]) -> str:
    """The p of a test without its name, or its bound."""
    return p_value(test["p"], bound=test.get("bound", False)).removeprefix("p = ").removeprefix("p ")


def adjusted(p: float) -> str:
    """An adjusted p, to four decimals."""
    return p_value(p).removeprefix("p = ")


def short(digest: str | None) -> str:
    """The first digits of a digest, enough to find it by."""
    return word(digest)[:10]


def evidence(measure: Any) -> str:
    """A measure as indented JSON."""
    return json.dumps(measure, indent=1, ensure_ascii=False)


def environment() -> Environment:
    """The template's environment: everything escaped, an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "interval": interval,
        "change": change,
        "rate": optional,
        "chance": chance,
        "adjusted": adjusted,
        "evidence": evidence,
        "plural": plural,
        "short": short,
        "signed": signed,
    }
    return made


def write(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path
