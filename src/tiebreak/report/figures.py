"""The figures of levels: arms and their differences, families, the learning probe."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tiebreak.paths import BASE_ARM
from tiebreak.report.drawing import INK, beside, canvas, looks, named_rows, point, runs_beside
from tiebreak.stats.sentences import plural


def forest(levels: pd.DataFrame, pairs: pd.DataFrame, cluster: str) -> Figure:
    """Arms by pass@1 above, differences between arms below with the p-values of both tests."""
    arms = levels[levels["kind"] == "arm"]
    style = looks(arms["arm"].tolist())
    count = (len(arms), max(1, len(pairs)))
    figure, (top, bottom) = canvas(2, 1.3 + 0.36 * sum(count), [count[0] + 1, count[1] + 1])
    for y, row in enumerate(arms.to_dict("records")):
        point(top, row, y, style[row["arm"]])
        runs_beside(top, levels, row["arm"], y, style[row["arm"]])
    named_rows(top, arms["arm"].tolist())
    top.set_title("graded pass@1")
    bottom.axvline(0, color=INK, linewidth=0.8)
    for y, row in enumerate(pairs.to_dict("records")):
        point(bottom, row, y, style[row["b"]])
        beside(bottom, y, shown(row["p_clusters_holm"]), shown(row["p_runs_holm"]))
    named_rows(bottom, [f"{row.b} − {row.a}" for row in pairs.itertuples()])
    bottom.set_title("difference of graded pass@1")
    beside(bottom, -0.75, f"p {plural(cluster)}", "p runs")
    return figure


def shown(p: float | None) -> str:
    """A p-value to three decimals; a dash where the test was not made."""
    if p is None or pd.isna(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def by_family(frame: pd.DataFrame) -> Figure:
    """pass@1 by family, an arm beside the other."""
    names, arms = list(dict.fromkeys(frame["family"])), list(dict.fromkeys(frame["arm"]))
    style = looks(arms)
    figure, (axis,) = canvas(1, 0.8 + (0.16 * len(arms) + 0.14) * len(names))
    offsets = np.linspace(-0.28, 0.28, len(arms)) if len(arms) > 1 else [0.0]
    for row in frame.to_dict("records"):
        y = names.index(row["family"]) + offsets[arms.index(row["arm"])]
        point(axis, row, y, style[row["arm"]], row["arm"] if row["family"] == names[0] else None)
    cases = frame.groupby("family")["cases"].first()
    named_rows(axis, [f"{name} ({cases[name]})" for name in names])
    axis.set_xlim(-0.02, 1.02)
    axis.set_xlabel("graded pass@1")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=min(4, len(arms)))
    return figure


def causes(frame: pd.DataFrame) -> Figure:
    """The tied fraction of the trials of arms that differ in a shape or a fault."""
    shapes = list(dict.fromkeys(frame["shape"]))
    style = looks([BASE_ARM, *shapes])
    figure, (axis,) = canvas(1, 0.9 + 0.36 * len(frame))
    for y, row in enumerate(frame.to_dict("records")):
        named = {"value": row["tied_fraction"], "low": row["tied_low"], "high": row["tied_high"]}
        point(axis, named, y, style[row["shape"]])
    gave_up = [f"; {count} gave up" if count else "" for count in frame["gave_up"]]
    labels = [f"{row.shape}, {row.faults} ({row.tied} of {row.groups}" for row in frame.itertuples()]
    named_rows(axis, [f"{label}{more})" for label, more in zip(labels, gave_up, strict=True)])
    axis.set_xlim(-0.02, 1.02)
    axis.set_xlabel("tied fraction of the trial's groups")
    return figure


def probe(frame: pd.DataFrame) -> Figure:
    """The gain on the probe's prompts by arm, runs beside."""
    arms = frame[frame["kind"] == "arm"]
    style = looks([BASE_ARM, *arms["arm"]])
    figure, (axis,) = canvas(1, 0.9 + 0.36 * len(arms))
    axis.axvline(0, color=INK, linewidth=0.8)
    for y, row in enumerate(arms.to_dict("records")):
        point(axis, row, y, style[row["arm"]])
        runs_beside(axis, frame, row["arm"], y, style[row["arm"]])
    named_rows(axis, arms["arm"].tolist())
    axis.set_xlabel("gain in graded pass@1 on the probe, after − before")
    return figure
