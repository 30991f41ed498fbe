"""The same sampling gives the same bytes: run twice, or killed in the middle and resumed; nothing is played twice."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine, HfSession
from tiebreak.errors import DataError
from tiebreak.prompts import prompt_rows
from tiebreak.sampling import Plan, prompts_of, sample, spread
from tiebreak.seeds import derive

PLAN = Plan(5, ("eval", 0), "dense", 1, 0, samples=2, tool_rounds=2, block=2)


@given(st.integers(0, 300), st.one_of(st.none(), st.integers(1, 300)))
def test_a_part_of_the_prompts_is_spread_over_all_of_them(size: int, count: int | None) -> None:
    picked = spread(list(range(size)), count)
    assert len(picked) == len(set(picked)) == (size if count is None else min(size, count))
    gaps = {later - earlier for earlier, later in pairwise([*picked, size])}
    assert picked == sorted(picked) and (not picked or picked[0] == 0) and (not gaps or max(gaps) - min(gaps) <= 1)


class Killed(Exception):
    """Stands for the signal that ends a job."""


class Mortal(HfEngine):
    """The engine, counting its batches, that dies before batch number `dies`."""

    sessions = 0
    dies: int | None = None

    def session(self, size: int) -> HfSession:
        if self.sessions == self.dies:
            raise Killed
        self.sessions += 1
        return super().session(size)


@pytest.fixture
def domain(tmp_path: Path) -> RustDomain:
    return RustDomain(Judge(tmp_path / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})


def engine(folder: Path) -> Mortal:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    return Mortal(model, AutoTokenizer.from_pretrained(folder), Sampling(0.8, 24, 400))


def run(
    maker: Mortal, domain: RustDomain, cases: Sequence[Any], folder: Path, plan: Plan = PLAN
) -> tuple[str, list[dict[str, Any]]]:
    prompts = [(case, domain.prompt(case)) for case in cases]
    out = folder / "rollouts.parquet"
    rows = sample(maker, domain, prompts, plan, work=folder / "work", rollouts=out, timings=folder / "timings.parquet")
    return file_digest(out), rows


def test_twice_and_killed_and_resumed_are_the_same_bytes(
    tmp_path: Path, model_folder: Path, domain: RustDomain, cases: list[Any]
) -> None:
    first, rows = run(engine(model_folder), domain, cases, tmp_path / "a")
    again, _ = run(engine(model_folder), domain, cases, tmp_path / "b")
    dying = engine(model_folder)
    dying.dies = 2
    with pytest.raises(Killed):
        run(dying, domain, cases, tmp_path / "c")
    rest = engine(model_folder)
    resumed, _ = run(rest, domain, cases, tmp_path / "c")
    assert first == again == resumed
    assert rest.sessions == 1, "two of three blocks were done and are not played again"
    assert len(rows) == len(cases) * PLAN.samples


def test_every_turn_has_its_named_seed(
    tmp_path: Path, model_folder: Path, domain: RustDomain, cases: list[Any]
) -> None:
    _, rows = run(engine(model_folder), domain, cases[:2], tmp_path)
    for row in rows:
        own = [turn for turn in row["turns"] if turn["role"] == "assistant"]
        names = [("eval", 0, row["case_id"], row["sample"], number) for number in range(len(own))]
        assert [turn["sampling_seed"] for turn in own] == [derive(5, *name) for name in names]
        assert row["new_tokens"] == sum(turn["tokens"] for turn in own)


def test_repetitions_differ_by_their_seeds(
    tmp_path: Path, model_folder: Path, domain: RustDomain, cases: list[Any]
) -> None:
    other = Plan(5, ("eval", 1), "dense", 1, 1, samples=2, tool_rounds=2, block=2)
    _, zero = run(engine(model_folder), domain, cases, tmp_path / "a")
    _, one = run(engine(model_folder), domain, cases, tmp_path / "b", other)
    assert [row["turns"] for row in zero] != [row["turns"] for row in one]


def test_the_prompts_come_from_the_table_byte_for_byte(tmp_path: Path, domain: RustDomain, cases: list[Any]) -> None:
    path = tmp_path / "holdout.parquet"
    rows = prompt_rows(domain, cases, "Be brief.")
    tables.write_table(path, rows, tables.PROMPTS)
    found = prompts_of(path, cases)
    assert {case.case_id: messages for case, messages in found} == {
        c.case_id: domain.prompt(c, "Be brief.") for c in cases
    }
    with pytest.raises(DataError, match="not among the cases"):
        prompts_of(path, cases[1:])
    tables.write_table(path, [row | {"prompt": "hello"} for row in rows], tables.PROMPTS)
    with pytest.raises(DataError, match="no conversation"):
        prompts_of(path, cases)
