"""A study that mixes its RL pool by measured bands, under the real Snakemake."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from conftest import Checkout

STUDY = "config/test/minute.yaml"
OPTIONS = ("--config", f"study={STUDY}")
TRIAL = "results/minute/arms/dense/seed0/trial.json"


def mixing(checkout: Checkout, weights: str) -> Checkout:
    """The minute study with such weights of never, sometimes and always."""
    never, sometimes, always = weights.split()
    bands = f"{{never: {never}, sometimes: {sometimes}, always: {always}}}"
    checkout.edit(STUDY, "rlvr: {", f"rlvr: {{pool: {{samples: 2, bands: {bands}}}, ")
    return checkout


def test_bands_are_measured_where_a_study_asks(fresh: Checkout, branch: Callable[[Checkout], Checkout]) -> None:
    plain = fresh.jobs(*OPTIONS)
    assert "bands" not in plain
    assert mixing(branch(fresh), "1 0 0").jobs(*OPTIONS) == plain | {"bands": 1}


@pytest.mark.slow
def test_a_trial_shows_the_mixture(prepared: Checkout, branch: Callable[[Checkout], Checkout]) -> None:
    checkout = mixing(branch(prepared), "1 0 0")
    done = checkout.minute(TRIAL)
    assert done.returncode == 0, done.stderr
    data = checkout.folder / "results/minute/data"
    rows = pq.read_table(data / "bands.parquet").to_pylist()
    pool = pq.read_table(data / "pool.parquet")["case_id"].to_pylist()
    assert [row["case_id"] for row in rows] == pool and {row["samples"] for row in rows} == {2}
    assert {row["band"] for row in rows} == {"never"}, "a model that has learned nothing solves nothing"
    record = json.loads((checkout.folder / "results/minute/records/trial-dense-0.json").read_text())
    assert "results/minute/data/bands.parquet" in [item["path"] for item in record["inputs"]]
    checkout.edit(STUDY, "always: 0", "always: 1")
    jobs = checkout.jobs(TRIAL, *OPTIONS)
    assert jobs["trial"] == 1 and "bands" not in jobs, "other weights measure nothing anew"
    done = checkout.minute(TRIAL)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "no prompt of the pool is in band always (never 8, sometimes 0, always 0)" in done.stderr
