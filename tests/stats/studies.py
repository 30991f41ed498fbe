"""Counts tables for tests: small, seeded, and shaped like a real study."""

import numpy as np
import pandas as pd

FAMILIES = ("patch_test_pass", "patch_run_pass", "test_only")


def counts_table(
    *, arms=("sft", "sparse", "dense"), seeds=2, cases=12, repetitions=3, n=8, shift=None, seed=0, templates=4
):
    """Rows of seeded binomial counts; `shift` moves an arm's log-odds."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 1.5, cases)
    rows = []
    for arm in arms:
        for training_seed in [None] if arm == "sft" else range(seeds):
            odds = level + (shift or {}).get(arm, 0.0)
            for repetition in range(repetitions):
                for case in range(cases):
                    graded = int(rng.binomial(n, 1 / (1 + np.exp(-odds[case]))))
                    valid = min(n, graded + int(rng.integers(0, 2)))
                    rows.append(
                        {
                            "run": arm if training_seed is None else f"{arm}-seed{training_seed}",
                            "arm": arm,
                            "training_seed": training_seed or 0,
                            "repetition": repetition,
                            "case_id": f"case_{case:03d}",
                            "template": f"template_{case % templates}",
                            "family": FAMILIES[case % len(FAMILIES)],
                            "n": n,
                            "graded": graded,
                            "valid": valid,
                            "success": valid,
                            "success_not_graded": 0,
                            "errors": 0,
                        }
                    )
    return pd.DataFrame(rows)
