"""The audits' figures, drawn like those of the report (`report.figures`), each from its table and nothing else."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tiebreak.audits.ranking import EVERY
from tiebreak.paths import BASE_ARM
from tiebreak.report import drawing
from tiebreak.report.drawing import COLOURS, DASHES, INK, canvas, looks, named_rows, point

PANELS = {
    "tied_fraction": "tied groups, of all",
    "no_success_fraction": "groups without success, of all",
    "shaped_fraction": "shaping varies, of groups without success",
}
SHADES = ("#bbbbbb", "#E69F00", "#F0E442", "#56B4E9", "#009E73", "#CC79A7")
ON_SHADES = "#000000"  # not INK: in dark mode these bars stay light
HATCHES = ("", "//", "..", "\\\\", "", "xx")


def groups(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Tied groups, groups without success, and of these those where the shaping varies, by step, a line a run."""
    figure, axes = canvas(len(PANELS), 5.6)
    style = looks([*dict.fromkeys([BASE_ARM, *order, *frame["arm"]])])
    for axis, (column, title) in zip(axes, PANELS.items(), strict=True):
        for run, part in frame.groupby("run", sort=False):
            look, dash = style[part["arm"].iloc[0]], DASHES[int(part["training_seed"].iloc[0]) % len(DASHES)]
            values = part[column].astype(float)
            axis.plot(part["step"], values, look.mark, color=look.colour, linestyle=dash, linewidth=1.4, markersize=2.5)
            axis.lines[-1].set_label(str(run))
        axis.set_title(title)
        axis.set_ylim(-0.03, 1.03)
        axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[-1].set_xlabel("step")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def kept(frame: pd.DataFrame) -> Figure:
    """Rollouts kept of each batch, with the training examples that were made of them."""
    figure, (axis,) = canvas(1, 2.6)
    axis.plot(frame["step"], frame["batch"], color=INK, linestyle=DASHES[2], linewidth=1, label="batch")
    axis.plot(frame["step"], frame["kept"], "o-", color=COLOURS[0], markersize=4, label="kept (batch − dropped)")
    examples = frame["training_examples"]
    axis.plot(frame["step"], examples, "x", color=COLOURS[1], markersize=5, label="training_examples")
    axis.set_ylim(0, 1.06 * max(frame["batch"].max(), examples.max()))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlabel("step")
    axis.set_ylabel("rollouts")
    axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    return figure


def never_solved(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Cases that an arm never solved, by the furthest that any of its rollouts came."""
    arms = [arm for arm in [BASE_ARM, *order] if arm in set(frame["arm"])]
    phases = list(dict.fromkeys(frame["reached"]))
    figure, (axis,) = canvas(1, 1.3 + 0.36 * len(arms))
    left = np.zeros(len(arms))
    for number, phase in enumerate(phases):
        part = frame[frame["reached"] == phase].set_index("arm")["cases"].reindex(arms).to_numpy(dtype=float)
        colour, hatch = SHADES[number % len(SHADES)], HATCHES[number % len(HATCHES)]
        bars = axis.barh(range(len(arms)), part, 0.62, left, color=colour, hatch=hatch, edgecolor="white")
        axis.bar_label(
            bars,
            [f"{count:.0f}" if count else "" for count in part],
            label_type="center",
            fontsize=7.5,
            color=ON_SHADES,
        )
        bars.set_label(phase.replace("_", " "))
        left += part
    whole = frame.groupby("arm")[["of_cases", "samples"]].first().loc[arms]
    named_rows(axis, [f"{row.Index} ({row.of_cases} × {row.samples})" for row in whole.itertuples()])
    axis.set_xlabel("cases never graded, by the furthest phase reached (cases × samples of each)")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)
    return figure


def ranking(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Somers' D of each shape's reward given the grade, by arm; a filled mark is the arm's own shape."""
    shapes = list(dict.fromkeys(frame["shape"]))
    arms = sorted(set(frame["arm"]), key=[EVERY, BASE_ARM, *order].index)
    style = looks([BASE_ARM, *dict.fromkeys([*order, *shapes])])
    figure, (axis,) = canvas(1, 1.0 + (0.16 * len(shapes) + 0.16) * len(arms))
    offsets = np.linspace(-0.27, 0.27, len(shapes)) if len(shapes) > 1 else [0.0]
    for row in frame.to_dict("records"):
        y = arms.index(row["arm"]) + offsets[shapes.index(row["shape"])]
        point(axis, {**row, "value": row["somers_d"]}, y, style[row["shape"]])
        axis.lines[-1].set_fillstyle("full" if row["own"] else "none")
    for shape in shapes:
        axis.plot([], [], style[shape].mark, color=style[shape].colour, markersize=6, label=f"{shape} reward")
    mixed = frame.groupby("arm")["mixed"].max()
    named_rows(axis, [f"{arm} ({mixed[arm]} mixed groups)" for arm in arms])
    axis.set_xlabel("Somers' D of the reward, given the grade")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)
    return figure


def drawings(tables: Mapping[str, pd.DataFrame], order: Sequence[str]) -> dict[str, str]:
    """The figures that have something to show, as SVG text by name. order: the arms as the study lists them."""
    makers: dict[str, Callable[[pd.DataFrame, Sequence[str]], Figure]] = {
        "audit_groups": groups,
        "audit_never_solved": never_solved,
        "audit_ranking": ranking,
    }
    with matplotlib.rc_context(drawing.STYLE):
        return {
            name: drawing.svg(make(frame, order), name)
            for name, make in makers.items()
            if len(frame := tables[name.replace("audit_", "figure_")])
        }


def kept_svg(frame: pd.DataFrame) -> str:
    """The figure of `kept` as SVG text."""
    with matplotlib.rc_context(drawing.STYLE):
        return drawing.svg(kept(frame), "audit_kept")
