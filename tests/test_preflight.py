"""Which targets are refused before Snakemake looks for a rule that makes them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tiebreak.errors import ConfigError
from tiebreak.paths import Paths
from tiebreak.preflight import allotment, announce_page, check_targets
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


def test_a_dry_run_says_who_would_get_which_gpus() -> None:
    jobs = {("rlvr", 4): 15, ("evaluation", 1): 3, ("sft", 1): 1}
    assert allotment(jobs, ["0", "1", "2", "3"]) == [
        "  rlvr: 15 jobs with 4 GPUs each, 1 at a time on 0, 1, 2, 3",
        "  evaluation: 3 jobs with 1 GPU each, 3 at a time on 0, 1, 2, 3",
        "  sft: 1 job with 1 GPU each, 1 at a time on 0, 1, 2, 3",
    ]
    assert allotment({("rlvr", 4): 1}, ["0"]) == ["  rlvr: 1 job with 4 GPUs each, not on this machine, which has 1"]
    assert allotment({}, ["0"]) == []


def test_a_run_that_led_to_the_report_says_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for rules, said in (
        (["cases"], ""),
        (["cases", "report"], "tiebreak: the report is results/mine/report/index.html\n"),
    ):
        jobs = [SimpleNamespace(rule=SimpleNamespace(name=name)) for name in rules]
        announce_page(SimpleNamespace(dag=SimpleNamespace(jobs=jobs)), Paths("mine"))
        assert capsys.readouterr().err == said
