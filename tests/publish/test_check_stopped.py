"""A run has no rollouts only where its trial's decision says so; a reason that is put beside a model is found."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tiebreak import gates
from tiebreak.paths import Paths
from tiebreak.provenance import path_digest
from tiebreak.publish.check_stopped import check_stopped
from tiebreak.publish.context import Context

RUNS = ["dense-seed0", "sparse-seed0"]
REASON = {"gate": "trial", "reason": "all groups tie"}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """Two runs; the gate stopped the second."""
    paths = Paths("s", tmp_path / "results")
    for run in RUNS:
        go = run == RUNS[0]
        gates.write(paths.decision(run), gates.Decision("trial", go, REASON["reason"], {}, None, run))
    write(paths, RUNS[1], REASON)
    digests = {RUNS[0]: "0" * 64, RUNS[1]: path_digest(paths.model(RUNS[1]))}
    records = [
        {
            "rule": "rlvr",
            "wildcards": {"arm": run.partition("-")[0], "seed": "0"},
            "outputs": [{"name": "model", "sha256": digest}],
        }
        for run, digest in digests.items()
    ]
    named = Context.named
    found = SimpleNamespace(paths=paths, place=tmp_path, records=records, study=SimpleNamespace(trained_runs=RUNS))
    found.named = lambda path: named(cast(Context, found), path)
    return cast(Context, found)


def write(paths: Paths, run: str, said: dict[str, str]) -> None:
    paths.model(run).mkdir(parents=True, exist_ok=True)
    (paths.model(run) / "stopped.json").write_text(json.dumps(said))


def verdict(context: Context) -> str:
    (found,) = check_stopped(context)
    return f"{found.state}: {found.detail}"


def test_what_its_gate_stopped_has_its_reason(context: Context) -> None:
    assert verdict(context).startswith("bit-exact: sparse-seed0")


def test_a_run_that_went_on_cannot_be_made_to_disappear(context: Context) -> None:
    write(context.paths, RUNS[0], REASON)
    assert verdict(context) == (
        "differs: results/s/arms/dense/seed0/model/stopped.json: 'there', expected \"absent by its trial's decision\""
    )


def test_a_stopped_run_without_its_reason_and_another_reason_are_found(context: Context) -> None:
    write(context.paths, RUNS[1], REASON | {"reason": "whatever"})
    assert "'whatever'" in verdict(context)
    (context.paths.model(RUNS[1]) / "stopped.json").unlink()
    assert verdict(context).startswith("differs: results/s/arms/sparse/seed0/model/stopped.json: 'absent'")


def test_a_reason_that_its_training_did_not_record_is_found(context: Context) -> None:
    (context.paths.model(RUNS[1]) / "stopped.json").write_text(json.dumps(REASON, indent=3))
    assert "SHA-256 is" in verdict(context) and "by the record of its training" in verdict(context)
