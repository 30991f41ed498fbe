"""The figures with an x-axis: training by step, pass@k by k, and where the time went."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tiebreak.paths import BASE_ARM
from tiebreak.report.drawing import DASHES, INK, Look, canvas, looks, named_rows

PANELS = {
    "kept": "groups kept of the batch (batch − tied)",
    "tied_fraction": "tied fraction of groups",
    "reward_mean": "mean reward",
    "graded_rate": "graded rate",
}
FRACTIONS = ("tied_fraction", "graded_rate")


def training(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Groups kept, tied fraction, mean reward and graded rate by step, a line a run."""
    figure, axes = canvas(len(PANELS), 7.2)
    style = looks([*dict.fromkeys([BASE_ARM, *order, *frame["arm"]])])
    for axis, (column, title) in zip(axes, PANELS.items(), strict=True):
        for run, part in frame.groupby("run", sort=False):
            line(axis, part, column, style[part["arm"].iloc[0]], str(run))
        axis.set_title(title)
        axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        if column in FRACTIONS:
            axis.set_ylim(-0.03, 1.03)
    whole_batch(axes[0], frame)
    axes[-1].set_xlabel("step")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def line(axis: Axes, part: pd.DataFrame, column: str, look: Look, run: str) -> None:
    """One run's curve; a single step is a mark."""
    dash = DASHES[int(part["training_seed"].iloc[0]) % len(DASHES)]
    values = part[column].astype(float)
    axis.plot(part["step"], values, color=look.colour, linestyle=dash, linewidth=1.4, label=run)
    if len(part) == 1:
        axis.plot(part["step"], values, look.mark, color=look.colour, markersize=4)


def whole_batch(axis: Axes, frame: pd.DataFrame) -> None:
    """The size of the batch over the curves of what was kept of it."""
    groups = frame["groups"].max() if "groups" in frame else None
    if groups and pd.notna(groups):
        axis.axhline(groups, color=INK, linewidth=0.8, alpha=0.5)
        axis.annotate("batch", (1, groups), (2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      va="center", fontsize=7.5)  # fmt: skip
        axis.set_ylim(-0.03 * groups, 1.06 * groups)
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))


def pass_at_k(frame: pd.DataFrame, k: int) -> Figure:
    """pass@k over k for each arm, with its interval as a band; k of the study is marked."""
    arms = list(dict.fromkeys(frame["arm"]))
    style = looks(arms)
    figure, (axis,) = canvas(1, 3.0)
    for arm, part in frame.groupby("arm", sort=False):
        look = style[str(arm)]
        axis.plot(part["k"], part["value"], "-", color=look.colour, linewidth=1.5, label=str(arm))
        axis.plot(part["k"].iloc[[0, -1]], part["value"].iloc[[0, -1]], look.mark, color=look.colour, markersize=5)
        if part["low"].notna().all():
            axis.fill_between(part["k"], part["low"].astype(float), part["high"].astype(float), color=look.colour,
                              alpha=0.1, linewidth=0)  # fmt: skip
    axis.axvline(k, color=INK, linewidth=0.6, alpha=0.5)
    axis.set_xscale("log", base=2)
    ticks = [2**power for power in range(12) if 2**power <= frame["k"].max()]
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.minorticks_off()
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("k")
    axis.set_ylabel("graded pass@k")
    axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=min(4, len(arms)))
    return figure


def budgets(frame: pd.DataFrame) -> Figure:
    """Graded pass@1 against executed calls, an arm's budgets joined; what no other point beats lies on the step."""
    arms = list(dict.fromkeys(frame["arm"]))
    style = looks(arms)
    figure, (axis,) = canvas(1, 3.6)
    front = frame[frame["front"]].sort_values("calls")
    axis.step(front["calls"], front["value"], where="post", color=INK, linewidth=0.8, alpha=0.5, label="not beaten")
    for arm, part in frame.groupby("arm", sort=False):
        look = style[str(arm)]
        axis.plot(
            part["calls"], part["value"], look.mark, color=look.colour, linestyle="-", linewidth=0.8, label=str(arm)
        )
        bounds = part[part["low"].notna()]
        axis.vlines(
            bounds["calls"], bounds["low"].astype(float), bounds["high"].astype(float), color=look.colour, alpha=0.4
        )
        for row in part.to_dict("records"):
            axis.annotate(
                str(row["budget"]), (row["calls"], row["value"]), (3, 3), textcoords="offset points", fontsize=7
            )
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("executed calls a rollout (number: the budget)")
    axis.set_ylabel("graded pass@1")
    axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=8)
    return figure


def costs(frame: pd.DataFrame) -> Figure:
    """Hours of jobs by stage."""
    figure, (axis,) = canvas(1, 0.7 + 0.24 * len(frame))
    axis.barh(range(len(frame)), frame["seconds"] / 60, color="#0072B2", height=0.6)
    named_rows(axis, frame["stage"].tolist())
    axis.set_xlabel("minutes of jobs, one after the other")
    return figure
