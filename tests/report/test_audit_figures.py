"""The audits' figures draw the numbers of their tables: what an SVG shows is read back from the drawn marks."""

from xml.etree import ElementTree

import matplotlib
import pandas as pd
import pytest

from tiebreak.report import audit_figures, drawing

PHASES = ["no_verdict", "ran", "success_not_graded"]


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    steps = pd.DataFrame({"run": "dense-seed0", "arm": "dense", "training_seed": 0, "step": [1, 2]})
    shares = {"tied_fraction": [0.1, 0.9], "no_success_fraction": [0.5, 0.6], "shaped_fraction": [0.3, None]}
    unsolved = [
        {"arm": arm, "reached": phase, "cases": cases, "never_solved": 6, "of_cases": 12, "samples": 24}
        for arm, counts in {"sft": (0, 1, 2), "dense": (3, 2, 1)}.items()
        for phase, cases in zip(PHASES, counts, strict=True)
    ]
    ranked = [
        {"arm": arm, "shape": "dense", "own": arm == "dense", "mixed": 4, "somers_d": value, "low": 0.4, "high": 0.9}
        for arm, value in {"(all)": 0.5, "dense": 0.6, "sft": 0.7}.items()
    ]
    return {
        "figure_groups": steps.assign(**shares),
        "figure_never_solved": pd.DataFrame(unsolved),
        "figure_ranking": pd.DataFrame(ranked),
    }


def test_every_figure_is_drawn_the_same_twice(tables) -> None:
    drawn = audit_figures.drawings(tables, ["dense"])
    assert set(drawn) == {"audit_groups", "audit_never_solved", "audit_ranking"}
    assert drawn == audit_figures.drawings(tables, ["dense"])
    for text in drawn.values():
        assert "currentColor" in text and ElementTree.fromstring(text.encode()).tag.endswith("svg")


def test_what_has_nothing_to_show_is_not_drawn(tables) -> None:
    tables["figure_ranking"] = tables["figure_ranking"].iloc[:0]
    assert "audit_ranking" not in audit_figures.drawings(tables, ["dense"])


def test_kept_is_what_is_plotted() -> None:
    frame = pd.DataFrame({"step": [0, 1], "batch": 96, "kept": [17, 80], "training_examples": [17, 120]})
    with matplotlib.rc_context(drawing.STYLE):
        (axis,) = audit_figures.kept(frame).axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axis.lines}
    assert lines == {"batch": [96, 96], "kept (batch − dropped)": [17, 80], "training_examples": [17, 120]}
    assert axis.get_ylim()[0] == 0 and axis.get_ylim()[1] > 120
    assert audit_figures.kept_svg(frame).count("<svg") == 1


def test_bars_are_the_cases_of_each_phase(tables) -> None:
    (axis,) = audit_figures.never_solved(tables["figure_never_solved"], ["dense"]).axes
    widths = [[bar.get_width() for bar in bars] for bars in axis.containers]
    assert widths == [[0, 3], [1, 2], [2, 1]]  # sft above dense, a list a phase
    assert [bar.get_x() for bar in axis.containers[2]] == [1, 5]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["sft (12 × 24)", "dense (12 × 24)"]


def test_ranking_lists_all_then_the_arms(tables) -> None:
    (axis,) = audit_figures.ranking(tables["figure_ranking"], ["dense"]).axes
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels == [f"{arm} (4 mixed groups)" for arm in ("(all)", "sft", "dense")]
    marks = [line for line in axis.lines if len(line.get_xdata()) == 1]
    assert sorted(float(line.get_xdata()[0]) for line in marks) == [0.5, 0.6, 0.7]
    assert [line.get_fillstyle() for line in marks if line.get_xdata()[0] == 0.6] == ["full"]
