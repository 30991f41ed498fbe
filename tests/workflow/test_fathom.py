"""The fathom domain under the real Snakemake: its jobs and, slow, all of its minute study: data, gates, rollouts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tiebreak.domains.fathom.tasks import load_tasks

if TYPE_CHECKING:
    from conftest import Checkout

STUDY = "config/test/fathom-minute.yaml"
OPTIONS = ("--config", f"study={STUDY}")


def load(checkout: Checkout, name: str) -> Any:
    return json.loads((checkout.folder / "results/fathom-minute" / name).read_text(encoding="utf-8"))


def test_it_has_the_same_rules_as_a_rust_study(fresh: Checkout) -> None:
    jobs = fresh.jobs(*OPTIONS)
    assert jobs == fresh.jobs("--config", "study=config/test/minute.yaml")


@pytest.mark.slow
def test_the_whole_study(fresh: Checkout) -> None:
    done = fresh.snakemake("--cores", "2", *OPTIONS)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = load_tasks(fresh.folder / "results/fathom-minute/data/cases.jsonl")
    assert len(cases) == 44
    traces = pq.read_table(fresh.folder / "results/fathom-minute/data/sft.parquet").to_pylist()
    answers = {case.case_id: case.answer for case in cases}
    assert all(f"<answer>{answers[row['case_id']]}</answer>" in row["turns"][-1]["content"] for row in traces)
    parity = load(fresh, "gates/parity.json")
    assert parity["go"]
    assert parity["measure"]["differing"] == {"sft": 0, "pool": 0, "holdout": 0, "pool of v2_drifted": 8}
    assert "⟦C⟧ontext:" in parity["reason"]
    for arm, dead in (("v1_gate", ["recursion"]), ("v2_drifted", ["recursion"])):
        assert load(fresh, f"gates/ties/{arm}.json")["measure"]["dead_on_synthetic_group"] == dead
    groups = (fresh.folder / "results/fathom-minute/arms/v2_drifted/seed0/groups.jsonl").read_text().splitlines()
    shown = [turns[1]["content"] for line in groups for turns in json.loads(line)["turns"]]
    assert shown and all(text.startswith("Context:\n") for text in shown)
    rollouts = pq.read_table(
        fresh.folder / "results/fathom-minute/evals/v2_drifted-seed0/rep0/rollouts.parquet"
    ).to_pylist()
    assert {row["case_id"] for row in rollouts} == set(load(fresh, "data/splits.json")["holdout"])
    assert all(not row["turns"][1]["content"].startswith("Context:") for row in rollouts)
    assert all(row["facts"]["gold_answer"] == answers[row["case_id"]] for row in rollouts)
