from dataclasses import asdict

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.fathom.domain import FACTS
from tiebreak.report import effort
from tiebreak.report.page import build
from tiebreak.stats.arms import Settings
from tiebreak.tables import rollouts, write_table

SETTINGS = Settings(alpha=0.05, cluster="template", k=2, seed=3, draws=200, arms=["soft"])
ANALYSIS = {"settings": asdict(SETTINGS), "arms": {"sft": {}, "soft": {}}}
COUNTED = ("calls", "prompt_tokens")


def row(arm, case, sample, *, graded, calls=0, budget=4, repetition=0, stop="final"):
    """A stored rollout of a task of 1,000 times its case's number, plus 100 characters."""
    facts = {
        "answer": "x",
        "gold_answer": "x",
        "calls": calls,
        "refused": 0,
        "most_calls": budget,
        "depth": 0,
        "context": 1000 * case + 100,
        "prompt_tokens": 50,
        "completion_tokens": 9,
        "blocks": [],
    }
    return {
        "case_id": f"case_{case}",
        "family": "niah" if case % 2 else "counting",
        "difficulty": "easy",
        "template": f"template_{case}",
        "arm": arm,
        "training_seed": None if arm == "sft" else 0,
        "repetition": repetition,
        "sample": sample,
        "root_seed": 1,
        "turns": [],
        "stop": stop,
        "valid": True,
        "success": graded,
        "graded": None if stop == "error" else graded,
        "facts": facts,
        "rewards": [],
        "new_tokens": 9,
        "truncated": False,
    }


@pytest.fixture
def table(tmp_path):
    """A maker of tables of rollouts."""

    def make(name, rows):
        write_table(tmp_path / f"{name}.parquet", rows, rollouts(FACTS))
        return tmp_path / f"{name}.parquet"

    return make


@pytest.fixture
def evaluated(table):
    """Two repetitions of sft and of one run of soft, and a stopped run; soft solves one more case and calls."""
    paths = [table("stopped", [])]
    for arm, solves in (("sft", {1}), ("soft", {1, 2})):
        for repetition in range(2):
            rows = [
                row(arm, case, sample, graded=case in solves, calls=int(arm == "soft"), repetition=repetition)
                for case in (1, 2, 4)
                for sample in range(2)
            ]
            paths.append(table(f"{arm}{repetition}", [*rows, row(arm, 1, 9, graded=False, stop="error")]))
    return paths


def test_tasks_are_counted_by_arm_kind_and_size(evaluated):
    found = effort.tables(evaluated, [], ANALYSIS, COUNTED, "context")
    assert set(found) == {"tasks", "figure_sizes"}
    rows = found["tasks"].to_dict("records")
    assert [(r["arm"], r["family"], r["size"], r["cases"], r["rollouts"], r["graded"]) for r in rows] == [
        ("sft", "counting", "2048 to 4095", 1, 4, 0),
        ("sft", "counting", "4096 to 8191", 1, 4, 0),
        ("sft", "niah", "1024 to 2047", 1, 4, 4),
        ("soft", "counting", "2048 to 4095", 1, 4, 4),
        ("soft", "counting", "4096 to 8191", 1, 4, 0),
        ("soft", "niah", "1024 to 2047", 1, 4, 4),
    ]
    assert {(r["arm"], r["calls"], r["prompt_tokens"]) for r in rows} == {
        ("sft", 0.0, 50.0),
        ("soft", 1.0, 50.0),
    }
    sizes = found["figure_sizes"]
    assert sizes["size"].drop_duplicates().tolist() == ["1024 to 2047", "2048 to 4095", "4096 to 8191"]
    assert sizes[sizes["arm"] == "soft"]["value"].tolist() == [1.0, 1.0, 0.0]


def test_budgets_stand_beside_the_first_repetition(evaluated, table):
    limited = [
        table(f"limited-{arm}", [row(arm, case, s, graded=case == 1, budget=0) for case in (1, 2, 4) for s in range(2)])
        for arm in ("sft", "soft")
    ]
    found = effort.tables(evaluated, limited, ANALYSIS, COUNTED, "context")["figure_budgets"]
    assert found[["arm", "budget", "calls", "cases", "samples", "graded", "front"]].to_numpy().tolist() == [
        ["sft", 0, 0.0, 3, 6, 2, True],
        ["sft", 4, 0.0, 3, 6, 2, True],
        ["soft", 0, 0.0, 3, 6, 2, True],
        ["soft", 4, 1.0, 3, 6, 4, True],
    ]
    assert found["value"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])


def test_a_domain_that_counts_nothing_has_no_tables(evaluated):
    assert effort.tables(evaluated, [], ANALYSIS, (), None) == {}


@given(st.integers(1, 10**7))
def test_a_band_holds_its_size(size):
    low, high = map(int, effort.band(size).split(" to "))
    assert low <= size <= high == 2 * low - 1


POINTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


@given(POINTS)
def test_the_front_is_what_no_point_beats(points):
    rows = [{"calls": calls, "value": value} for calls, value in points]
    front = [row for row in rows if effort.on_front(row, rows)]
    assert front
    ranked = pd.DataFrame(front).drop_duplicates().sort_values("calls")
    assert ranked["calls"].is_unique and ranked["value"].is_monotonic_increasing and ranked["value"].is_unique
    for row in rows:
        assert any(best["calls"] <= row["calls"] and best["value"] >= row["value"] for best in front)


def test_the_page_shows_the_tables(analysis, steps, evaluated, table, tmp_path):
    limited = [table("limited", [row("sft", 1, 0, graded=True, budget=0)])]
    found = effort.tables(evaluated, limited, ANALYSIS, COUNTED, "context")
    text = build(analysis, steps, [], {}, {}, tmp_path, effort=found).read_text(encoding="utf-8")
    assert '<td class="word">soft</td><td class="word">niah</td><td class="word">1024 to 2047</td><td>1</td>' in text
    assert "<td>4 of 4</td><td>1.000</td><td>1.00</td><td>50.00</td>" in text
    for name in ("sizes", "budgets"):
        assert (tmp_path / f"figures/{name}.svg").is_file() and f"tables/figure_{name}.csv" in text
    assert len(pd.read_csv(tmp_path / "tables/tasks.csv")) == len(found["tasks"])
