"""Figures of the data page; each draws its table and nothing else."""

import pandas as pd
from matplotlib.figure import Figure

from tiebreak.report.drawing import COLOURS, INK, canvas, looks, named_rows
from tiebreak.report.tasks import KINDS


def shares(frame: pd.DataFrame) -> Figure:
    """How alike the splits are: the share of each family, difficulty, depth and template in each of them."""
    parts = [frame[frame["kind"] == kind] for kind in KINDS]
    heights = [part["value"].nunique() for part in parts]
    splits = list(dict.fromkeys(frame["split"]))
    style = looks(splits)
    figure, axes = canvas(len(KINDS), 1.6 + 0.21 * sum(heights), [count + 1 for count in heights])
    for axis, kind, part in zip(axes, KINDS, parts, strict=True):
        values = list(dict.fromkeys(part["value"]))
        for split in splits:
            of_split = part[part["split"] == split].set_index("value")["share"]
            look = style[split]
            axis.plot(
                [of_split[value] for value in values],
                range(len(values)),
                look.mark,
                color=look.colour,
                markersize=5,
                fillstyle="none",
                label=split,
            )
        named_rows(axis, values)
        axis.set_xlim(left=0)
        axis.set_title(kind)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(splits))
    axes[-1].set_xlabel("share of the split")
    return figure


def nearest(frame: pd.DataFrame, threshold: float) -> Figure:
    """Cases by the similarity of their nearest case in another split, with what the gate allows."""
    pairs = list(frame.groupby(["split", "against"], sort=False))
    figure, axes = canvas(max(1, len(pairs)), 0.6 + 1.25 * max(1, len(pairs)))
    for axis, ((split, against), part) in zip(axes, pairs, strict=False):
        axis.bar(
            part["low"], part["cases"], width=part["high"] - part["low"], align="edge", color=COLOURS[0], alpha=0.75
        )
        axis.axvline(threshold, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
        axis.set_title(f"{split}, nearest of {against}")
        axis.set_ylabel("cases")
        axis.set_xlim(0, 1)
    axes[-1].set_xlabel("similarity (Jaccard of 5-token shingles)")
    return figure
