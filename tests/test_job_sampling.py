"""An evaluation in shards is the evaluation: the same bytes, the same summary."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import test_sampling as whole
from hypothesis import given
from hypothesis import strategies as st

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.job import Job
from tiebreak.job_sampling import gather, share, summary, unit_of
from tiebreak.publish.replay import Named
from tiebreak.sampling import play_blocks, write_rows

NAMES = ("rollouts", "timings")


@given(st.integers(0, 60), st.integers(1, 9), st.integers(1, 7))
def test_shards_have_the_batches_of_the_whole(size: int, parts: int, unit: int) -> None:
    shares = [share(range(size), part, parts, unit) for part in range(parts)]
    assert sorted(one for found in shares for one in found) == list(range(size))
    batches = [found[start : start + unit] for found in shares for start in range(0, len(found), unit)]
    assert sorted(batches) == [list(range(size))[start : start + unit] for start in range(0, size, unit)]


@pytest.mark.parametrize(("engine", "unit"), [("hf", 2), ("vllm", 1)])
def test_only_an_engine_in_step_needs_whole_blocks(engine: str, unit: int) -> None:
    params = Named({"evaluation": {"engine": engine}})
    job = SimpleNamespace(params=params, part=lambda name, kind: SimpleNamespace(device="cpu"))
    assert unit_of(cast(Job, job), whole.PLAN) == unit
    assert whole.PLAN.block == 2


def test_shards_put_together_are_the_whole(model_folder: Path, cases: list[Any], tmp_path: Path) -> None:
    domain = RustDomain(Judge(tmp_path / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})
    engine = whole.engine(model_folder)
    wanted, rows = whole.run(engine, domain, cases[:5], tmp_path)
    parts = [tmp_path / str(shard) for shard in range(3)]
    for number, part in enumerate(parts):
        prompts = [(case, domain.prompt(case)) for case in share(cases[:5], number, 3, whole.PLAN.block)]
        mine = play_blocks(engine, domain, prompts, whole.PLAN, work=part)
        write_rows(mine, domain, part / "rollouts.parquet", part / "timings.parquet")
    job = SimpleNamespace(
        input=Named({name: [str(part / f"{name}.parquet") for part in parts] for name in NAMES} | {"model": "model"}),
        output=Named({name: str(tmp_path / "gathered" / f"{name}.parquet") for name in NAMES}),
    )
    assert gather(cast(Job, job), whole.PLAN, domain.facts) == summary(whole.PLAN, rows, stopped=None)
    assert file_digest(tmp_path / "gathered/rollouts.parquet") == wanted
    assert tables.read_table(tmp_path / "gathered/timings.parquet").num_rows == len(rows)
