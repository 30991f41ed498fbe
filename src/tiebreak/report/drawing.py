"""Figures as SVG text. Ink is `currentColor`, so that a page in dark mode reads; colours tell arms apart for
colour-blind readers too (Okabe and Ito), and marks and dashes repeat what a colour says."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from tiebreak.paths import BASE_ARM

INK = "#010203"
WIDTH = 5.6
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKS = ("s", "^", "D", "v", "P", "X")
DASHES: tuple[object, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)), (0, (8, 2)))
STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "legend.frameon": False,
    "axes.linewidth": 0.7,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Look:
    """How an arm is drawn everywhere on a page."""

    colour: str
    mark: str


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """Each arm's look: the baseline a grey circle, the others in the order of the study."""
    others = cycle(zip(COLOURS, MARKS, strict=True))
    return {arm: Look("#808080", "o") if arm == BASE_ARM else Look(*next(others)) for arm in arms}


def svg(figure: Figure, name: str) -> str:
    """The figure as stable SVG text: no date, ids that begin with `name`, ink in the colour of the surrounding text."""
    buffer = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{name}-", text)
    return text.replace(INK, "currentColor").replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")


def inline(text: str, title: str) -> str:
    """The SVG for inside a page: without XML prologue and namespaces, with a name for those who listen."""
    body = text[text.index("<svg") :]
    body = re.sub(r'\s(xmlns(:xlink)?|version)="[^"]*"', "", body)
    body = re.sub(r'\s(width|height)="[\d.]+pt"', "", body, count=2)
    return body.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def canvas(rows: int, height: float, ratios: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """A figure of `rows` stacked panels, `height` inches in all."""
    figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(h_pad=0.09))
    axes = figure.subplots(rows, 1, squeeze=False, height_ratios=ratios)
    return figure, list(axes[:, 0])


def point(axis: Axes, row: Mapping[Any, Any], y: float, look: Look, label: str | None = None) -> None:
    """A value with its interval at height y."""
    if pd.notna(row["low"]) and pd.notna(row["high"]):
        axis.plot([row["low"], row["high"]], [y, y], color=look.colour, linewidth=2, solid_capstyle="butt")
    axis.plot([row["value"]], [y], look.mark, color=look.colour, markersize=6, label=label)


def named_rows(axis: Axes, names: Sequence[str]) -> None:
    """Names down the left side, the first on top, with thin guides."""
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    axis.spines["left"].set_visible(False)


def runs_beside(axis: Axes, frame: pd.DataFrame, arm: str, y: float, look: Look) -> None:
    """The runs of an arm as small open marks under its own."""
    runs = frame[(frame["arm"] == arm) & (frame["kind"] == "run")]
    heights = y + 0.26 * np.ones(len(runs))
    axis.plot(runs["value"], heights, look.mark, color=look.colour, markersize=4, fillstyle="none", linestyle="none")


def beside(axis: Axes, y: float, first: str, second: str) -> None:
    """Two words to the right of a row."""
    for points, text in ((8, first), (58, second)):
        axis.annotate(
            text,
            (1, y),
            (points, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            annotation_clip=False,
        )
