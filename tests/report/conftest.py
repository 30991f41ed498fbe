import importlib.util
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tiebreak import gates
from tiebreak.domains.rust import domain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.stored import stored_terms
from tiebreak.stats.analysis import analyse
from tiebreak.tables import rollouts, write_table

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


HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "\u2028\u2029\u202e\x00\x1b[31m&lt;\u061c\u3164\U000e0041"
)
CALLS = (
    'CALL apply_patch {"id":"c1","file_path":"src/lib.rs","find":"a\\nb <b>old</b>\\nc","replace":"a\\nb new\\nc"}',
    'CALL cargo_test {"id":"c2","project_path":"x"}',
)


def conversation(solved, text):
    """Turns as they are stored: a patch, a test run, an end."""
    reply = "status: success" if solved else f"status: failed\nstderr:\n{text}"
    turns = [
        ("user", f"Fix it. {text}"),
        ("assistant", CALLS[0]),
        ("tool", "RESULT c1:\nstatus: success"),
        ("assistant", CALLS[1]),
        ("tool", f"RESULT c2:\n{reply}"),
        ("assistant", f"FINAL: {text}"),
    ]
    return [
        {"role": role, "content": content, "tokens": 7 if role == "assistant" else None, "sampling_seed": None}
        for role, content in turns
    ]


def rollout(run, repetition, case, sample):
    """A stored rollout whose outcome follows from its address, with its reward under its own arm's shape."""
    arm, _, seed = run.partition("-seed")
    solved = (case + sample + len(arm)) % 3 == 0 or case == 0
    stop = "error" if (run, repetition, case, sample) == ("dense-seed1", 1, 3, 2) else "final"
    row = {
        "case_id": f"case_{case}",
        "family": "patch_test_pass",
        "difficulty": "easy",
        "template": "level",
        "arm": arm,
        "training_seed": int(seed) if seed else None,
        "repetition": repetition,
        "sample": sample,
        "root_seed": 1,
        "turns": conversation(solved, HOSTILE if sample == 0 else "done"),
        "stop": stop,
        "valid": solved,
        "success": solved,
        "graded": None if stop == "error" else solved and (case, sample) != (0, 1),
        "facts": None if stop == "error" else FACTS | {"phase": 4 if solved else 2},
        "new_tokens": 21,
        "truncated": False,
    }
    paid = paid_for(row["turns"], stop, row["facts"]).get(arm)
    return row | {"rewards": [] if paid is None else [(arm, sum(paid.values()))]}


FACTS = {"compiled": True, "tests_passed": 1, "tests_total": 2, "tampered": [], "calls": []}


def paid_for(turns, stop, facts):
    """The terms under the published shapes."""
    return stored_terms(turns, stop, facts, PUBLISHED_TABLES)


@pytest.fixture(scope="session")
def rollout_tables(tmp_path_factory):
    """The rollouts of sft and two runs of dense, two repetitions each, 4 cases by 3 samples; one run has none."""
    folder = tmp_path_factory.mktemp("rollouts")
    paths = []
    for run in ("sft", "dense-seed0", "dense-seed1", "sparse-seed0"):
        for repetition in range(2):
            rows = [rollout(run, repetition, case, sample) for case in range(4) for sample in range(3)]
            paths.append(folder / f"{run}-{repetition}.parquet")
            write_table(paths[-1], [] if run == "sparse-seed0" else rows, rollouts(domain.FACTS))
    return paths
