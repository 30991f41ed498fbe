from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.errors import ConfigError
from tiebreak.paths import Paths, job_name, parse_run, run_name

ARMS = st.from_regex(r"\A[a-z][a-z0-9_]{0,12}\Z")


@given(ARMS, st.integers(0, 999))
def test_a_run_name_is_read_back(arm: str, seed: int) -> None:
    assert parse_run(run_name(arm, seed)) == (arm, seed)


def test_sft_is_a_run_without_a_seed() -> None:
    assert parse_run("sft") == ("sft", None)


@pytest.mark.parametrize("name", ["dense", "dense-seed", "Dense-seed0", "-seed0", "dense-seed0x", ""])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="expected sft or a name such as dense-seed0"):
        parse_run(name)


@given(ARMS.filter(lambda arm: arm != "sft"), st.integers(0, 99))
def test_a_training_folder_names_its_run(arm: str, seed: int) -> None:
    paths = Paths("laptop")
    assert paths.run_of_training(paths.decision(run_name(arm, seed))) == run_name(arm, seed)


def test_places_that_people_are_told() -> None:
    paths = Paths("laptop")
    assert paths.summary("dense") == Path("results/laptop/arms/dense/summary.json")
    assert paths.rollouts("sft", 2) == Path("results/laptop/evals/sft/rep2/rollouts.parquet")
    assert paths.model("dense-seed1") == Path("results/laptop/arms/dense/seed1/model")
    assert paths.audits == Path("results/laptop/audits/audits.json")
    assert paths.model("sft") == Path("results/laptop/sft/model")


def test_a_job_is_named_by_its_rule_and_wildcards() -> None:
    assert job_name("sft", {}) == "sft"
    assert job_name("rlvr", {"seed": "0", "arm": "dense"}) == "rlvr-dense-0"
