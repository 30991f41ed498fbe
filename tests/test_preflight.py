"""Which targets are refused before Snakemake looks for a rule that makes them."""

from pathlib import Path

import pytest

from tiebreak.errors import ConfigError
from tiebreak.preflight import check_targets
from tiebreak.study import load

STUDY = load("laptop", Path(__file__).parents[1])

RIGHT = [
    "all",
    "--cores",
    "results/laptop/arms/dense/summary.json",
    "results/laptop/arms/dense/seed1/model",
    "results/laptop/gates/ties/sparse.json",
    "results/laptop/gates/parity.json",
    "results/laptop/evals/sft/rep2/rollouts.parquet",
    "results/laptop/evals/compiler-seed1/rep0/summary.json",
    "results/laptop/probes/sft/rollouts.parquet",
    "results/shared.html",
    "results/talks/page.html",
]
WRONG = [
    ("results/laptop/arms/dens/summary.json", "study laptop has no arm dens (arms: sparse, dense, compiler); did you"),
    ("results/laptop/gates/ties/quick.json", "study laptop has no arm quick (arms: sparse, dense, compiler); add it"),
    ("results/laptop/probes/quick-seed0/rollouts.parquet", "has no arm quick"),
    ("results/laptop/arms/dense/seed2/model", "no training seed 2, the last is 1; raise rlvr.training_seeds"),
    ("results/laptop/evals/dense-seed7/rep0/rollouts.parquet", "no training seed 7, the last is 1"),
    ("results/laptop/evals/sft/rep3/rollouts.parquet", "no repetition 3, the last is 2; raise evaluation.repetitions"),
    ("results/minute/arms/dense/summary.json", "the study is laptop; for this one: --config study=minute"),
    ("results/minute/report/index.html", "the study is laptop; for this one: --config study=minute"),
]


def test_what_the_study_has_is_let_through() -> None:
    check_targets(RIGHT, STUDY)


@pytest.mark.parametrize(("target", "message"), WRONG)
def test_what_it_has_not_is_named(target: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_targets(["all", target], STUDY)
    assert str(caught.value).startswith(f"{target}: ") and message in str(caught.value)
