"""The fathom domain under the real Snakemake: its jobs and, slow, all of its minute study: data, gates, rollouts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tiebreak.domains.fathom.tasks import load_tasks
from tiebreak.paths import Paths
from tiebreak.publish.card import card
from tiebreak.publish.release import build
from tiebreak.publish.verify import Options, verify
from tiebreak.study import load as load_study

if TYPE_CHECKING:
    from conftest import Checkout

STUDY = "config/test/fathom-minute.yaml"
OPTIONS = ("--config", f"study={STUDY}")


def load(checkout: Checkout, name: str) -> Any:
    return json.loads((checkout.folder / "results/fathom-minute" / name).read_text(encoding="utf-8"))


def test_it_has_the_same_rules_as_a_rust_study(fresh: Checkout) -> None:
    jobs = fresh.jobs(*OPTIONS)
    assert jobs == fresh.jobs("--config", "study=config/test/minute.yaml") | {"budgets": 3}


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
    assert parity["measure"]["differing"] == {"sft": 0, "pool": 0, "holdout": 0, "pool of v1_drifted": 8}
    assert "⟦C⟧ontext:" in parity["reason"]
    for arm, dead in (("v1_gate", ["recursion"]), ("v1_drifted", ["recursion"])):
        assert load(fresh, f"gates/ties/{arm}.json")["measure"]["dead_on_synthetic_group"] == dead
    groups = (fresh.folder / "results/fathom-minute/arms/v1_drifted/seed0/groups.jsonl").read_text().splitlines()
    shown = [turns[1]["content"] for line in groups for turns in json.loads(line)["turns"]]
    assert shown and all(text.startswith("Context:\n") for text in shown)
    rollouts = pq.read_table(
        fresh.folder / "results/fathom-minute/evals/v1_drifted-seed0/rep0/rollouts.parquet"
    ).to_pylist()
    assert {row["case_id"] for row in rollouts} == set(load(fresh, "data/splits.json")["holdout"])
    assert all(not row["turns"][1]["content"].startswith("Context:") for row in rollouts)
    assert all(row["facts"]["gold_answer"] == answers[row["case_id"]] for row in rollouts)
    lengths = {case.case_id: len(case.document) for case in cases}
    assert all(row["facts"]["context"] == lengths[row["case_id"]] for row in rollouts)
    check_budgets(fresh, rollouts)
    check_report(fresh)
    check_release(fresh)


def check_budgets(checkout: Checkout, evaluated: list[dict[str, Any]]) -> None:
    """The rollouts without calls are those of repetition 0, seed by seed, as long as nothing was refused."""
    limited = pq.read_table(checkout.folder / "results/fathom-minute/budgets/v1_drifted-seed0/rollouts.parquet")
    pairs = list(zip(limited.to_pylist(), evaluated, strict=True))
    for row, other in pairs:
        assert (row["facts"]["most_calls"], other["facts"]["most_calls"]) == (0, 16)
        assert row["turns"][2]["sampling_seed"] == other["turns"][2]["sampling_seed"]
        assert row["facts"]["refused"] or row["turns"] == other["turns"]


def check_report(checkout: Checkout) -> None:
    """Kinds and sizes, budgets of calls, and what the fault did, on the page and as tables."""
    report = checkout.folder / "results/fathom-minute/report"
    page = (report / "index.html").read_text(encoding="utf-8")
    tables = {name: read_csv(report / f"tables/{name}.csv") for name in ("tasks", "figure_sizes", "figure_budgets")}
    assert sum(int(row["rollouts"]) for row in tables["tasks"]) == 3 * 2 * 8 * 2
    assert {row["size"] for row in tables["figure_sizes"]} == {"512 to 1023"}
    points = [(row["arm"], row["budget"], row["samples"]) for row in tables["figure_budgets"]]
    assert points == [(arm, budget, "16") for arm in ("sft", "v1_gate", "v1_drifted") for budget in ("0", "16")]
    (fault,) = read_csv(report / "tables/effects.csv")
    assert (fault["cause"], fault["under"], fault["b"]) == ("fault", "v1_gate", "drifted_prompt")
    trials = {arm: load(checkout, f"arms/{arm}/seed0/decision.json") for arm in ("v1_gate", "v1_drifted")}
    shares = [trials[arm]["measure"]["tied"]["value"] for arm in trials]
    assert float(fault["value"]) == pytest.approx(shares[1] - shares[0])
    assert "Under v1_gate, the tied fraction with drifted_prompt differs from that with no fault by" in page


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_release(checkout: Checkout) -> None:
    """Its release is computed again and every rollout played again, those under a budget of calls with that budget."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(checkout.folder)
        release = (checkout.folder / build(Paths("fathom-minute"), load_study(STUDY), card)).resolve()
        verdicts = {one.subject: one for one in verify(release, Options(regrade=None))}
        assert [one for one in verdicts.values() if one.fails] == []
        again = verdicts["rollouts played again"]
        sampled, trained = 3 * (2 * 8 * 2 + 4 * 2 + 8 * 2), 2 * 2 * 2 * 2
        assert (again.state, again.count) == ("bit-exact", sampled + trained)
