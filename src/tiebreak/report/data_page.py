"""The data page: what a study's tasks are, how its splits differ, and what supervised training is shown."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup

from tiebreak.domains.base import Case
from tiebreak.report import drawing, task_figures, tasks
from tiebreak.report.wording import environment, write

TEMPLATE = "data_page.html.j2"
SHOWN = 5


def build(
    study: str,
    members: Mapping[str, Sequence[Case]],
    gates: Mapping[str, Mapping[str, Any]],
    rejects: Sequence[Mapping[str, Any]],
    traces: Sequence[Mapping[str, Any]],
    prompts: Mapping[str, Mapping[str, str]],
    out_dir: Path,
    *,
    tokens: Mapping[str, Any] | None = None,
    sample: Sequence[Mapping[str, Any]] | None = None,
) -> Path:
    """Write index.html, figures/*.svg and tables/*.csv into `out_dir`; the path of the page.

    members: the cases of each split. gates: the decisions `leakage` and `parity` as dicts. traces: rows of the table of
    traces. prompts: of each other split one prompt a family. tokens, sample: of `training.tokens`, where the base model
    is there before the training; without them the traces show whole turns. The same inputs give the same bytes.
    """
    leakage = gates["leakage"]
    frames = {"figure_shares": tasks.counts(members), "figure_nearest": tasks.similarities(leakage)}
    for name, frame in frames.items():
        write(out_dir / "tables" / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    with matplotlib.rc_context(drawing.STYLE):
        drawn = {
            "shares": drawing.svg(task_figures.shares(frames["figure_shares"]), "shares"),
            "nearest": drawing.svg(
                task_figures.nearest(frames["figure_nearest"], leakage["threshold"] or 1), "nearest"
            ),
        }
    for name, text in drawn.items():
        write(out_dir / "figures" / f"{name}.svg", text)
    context = {
        "study": study,
        "splits": {name: len(cases) for name, cases in members.items()},
        "kinds": {kind: tasks.matrix(frames["figure_shares"], kind) for kind in tasks.KINDS},
        "figures": {name: Markup(drawing.inline(text, name)) for name, text in drawn.items()},
        "gates": gates,
        "near": leakage["measure"]["near"],
        "templates": leakage["measure"]["templates"],
        "reasons": tasks.reject_reasons(rejects),
        "rejected": len(rejects),
        "overlap": leakage["measure"].get("overlap", []),
        "tokens": tokens,
        "sample": sample,
        "examples": tasks.examples(traces),
        "prompts": prompts,
        "shown": SHOWN,
    }
    return write(out_dir / "index.html", environment().get_template(TEMPLATE).render(context))
