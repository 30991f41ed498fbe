import importlib.util
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tiebreak import gates
from tiebreak.stats.analysis import analyse

STUDIES = Path(__file__).parents[1] / "stats" / "studies.py"
ARMS = ["sparse", "dense"]


@pytest.fixture(scope="session")
def counts_table():
    """The maker of small studies that the tests of the statistics use."""
    spec = importlib.util.spec_from_file_location("tiebreak_test_studies", STUDIES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.counts_table


@pytest.fixture(scope="session")
def analysis(counts_table):
    """A small study, really analysed."""
    return analyse(
        counts_table(),
        alpha=0.05,
        cluster="template",
        k=8,
        seed=7,
        draws=300,
        probe=counts_table(repetitions=1, cases=24, templates=12, shift={"dense": 2.0}, seed=3),
        stopped={"compiler-seed0": "9 of 10 groups tie <script>alert(1)</script>"},
        strata={"patch": ["patch_test_pass", "patch_run_pass"]},
        arms=ARMS,
    )


@pytest.fixture(scope="session")
def steps():
    """Training records as the trainer writes them; the first step of a run has no update yet."""
    rng = np.random.default_rng(1)
    return {
        f"{arm}-seed{seed}": [
            {
                "step": step,
                "groups": 16,
                "tied": (tied := int(rng.integers(0, 9))),
                "kept": 16 - tied,
                "reward_mean": None if step == 1 else float(rng.normal(3, 1)),
                "graded_rate": float(rng.random()),
                "seconds_rollouts": 12.0,
                "seconds_update": 3.0,
            }
            for step in range(1, 6)
        ]
        for arm in ARMS
        for seed in range(2)
    }


@pytest.fixture(scope="session")
def decisions(steps):
    """The trial of each run, and one that stopped its run."""
    made = {
        run: gates.trial(run, sum(row["tied"] for row in rows), 80, max_tied=0.8, by_step=rows)
        for run, rows in steps.items()
    }
    made["compiler-seed0"] = gates.trial("compiler-seed0", 9, 10, max_tied=0.8)
    return {run: asdict(decision) for run, decision in made.items()}


@pytest.fixture(scope="session")
def verdicts():
    """What the gates before training said."""
    return [
        asdict(gates.leakage({"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn g() {}"}})),
        asdict(gates.ties("dense", [[0.0, 1.0]] * 9 + [[0.0, 0.0]], max_tied=0.8)),
    ]
