"""An evaluation in shards is the evaluation: the same bytes, the same summary."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
import test_sampling as whole
from hypothesis import given
from hypothesis import strategies as st

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.fathom.repl import LIMITS
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import DataError
from tiebreak.job import Job, write_json
from tiebreak.job_domain import WAITING
from tiebreak.job_sampling import gather, same_engine, share, summary, unit_of, workers_of
from tiebreak.paths import Paths
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


@pytest.mark.parametrize(
    ("engine", "toolbox", "found"),
    [("hf", {"responder": "policy"}, 1), ("vllm", {}, 4), ("vllm", {"responder": "policy"}, 32)],
)
def test_conversations_that_wait_for_the_policy_hold_up_no_others(
    engine: str, toolbox: dict[str, str], found: int
) -> None:
    params = Named({"evaluation": {"engine": engine}, "toolbox": toolbox})
    job = SimpleNamespace(params=params, part=lambda name, kind: SimpleNamespace(device="cpu"), threads=1, cpus=4)
    assert workers_of(cast(Job, job)) == found


def test_all_that_may_run_at_a_time_come_to_the_limit_of_cpu_time_first() -> None:
    assert WAITING * LIMITS.cpu_seconds < LIMITS.wall_seconds


def test_shards_put_together_are_the_whole(model_folder: Path, cases: list[Any], tmp_path: Path) -> None:
    domain = RustDomain(Judge(tmp_path / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})
    engine = whole.engine(model_folder)
    wanted, rows = whole.run(engine, domain, cases[:5], tmp_path)
    parts = [tmp_path / str(shard) for shard in range(3)]
    for number, part in enumerate(parts):
        prompts = [(case, domain.prompt(case)) for case in share(cases[:5], number, 3, whole.PLAN.block)]
        mine = play_blocks(engine, domain, prompts, whole.PLAN, work=part)
        write_rows(mine, domain, part / "rollouts.parquet", part / "timings.parquet")
    job = gathering(tmp_path, parts)
    with pytest.raises(DataError, match=r"shard-0-sft-0.json: no record says how this shard was sampled"):
        gather(job, whole.PLAN, domain.facts)
    described = [engine.describe() for _ in parts]
    leave_records(job, described)
    assert gather(job, whole.PLAN, domain.facts) == summary(whole.PLAN, rows, stopped=None)
    assert file_digest(tmp_path / "gathered/rollouts.parquet") == wanted
    assert tables.read_table(tmp_path / "gathered/timings.parquet").num_rows == len(rows)


def gathering(folder: Path, parts: list[Path]) -> Job:
    """A job of rule `evaluation` that puts shards together."""
    made = {name: [str(part / f"{name}.parquet") for part in parts] for name in NAMES}
    job = SimpleNamespace(
        input=Named(made | {"model": "model"}),
        output=Named({name: str(folder / "gathered" / f"{name}.parquet") for name in NAMES}),
        wildcards=Named({"run": "sft", "rep": "0"}),
        paths=Paths("some", folder),
    )
    return cast(Job, job)


def leave_records(job: Job, engines: list[dict[str, Any]]) -> None:
    """The part of the shards' records that says what sampled them; a run that a gate stopped has no engine there."""
    for number, engine in enumerate(engines):
        resolved = {"engine": engine} if engine else {}
        write_json(job.paths.record(f"shard-0-sft-{number}"), {"resolved": resolved})


def test_shards_of_two_engines_are_not_put_together(tmp_path: Path) -> None:
    job = gathering(tmp_path, [tmp_path / "0", tmp_path / "1"])
    one = {"engine": "vllm", "vllm": "0.11.0", "gpus": ["NVIDIA H200"], "adapter_effect": 0.5}
    leave_records(job, [one, one | {"adapter_effect": 0.25}])
    same_engine(job)
    leave_records(job, [{}, {}])
    same_engine(job)
    leave_records(job, [one, one | {"vllm": "0.12.0"}])
    with pytest.raises(DataError, match=r"shard-0-sft-1.json: .* than shard 0 \(vllm '0.12.0' and '0.11.0'\); remove"):
        gather(job, whole.PLAN, pa.struct([]))
