"""An evaluation in shards is the evaluation: the same bytes, the same summary."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import test_sampling as whole

from tiebreak import tables
from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.frames import read_frames
from tiebreak.job import Job
from tiebreak.job_sampling import gather, summary
from tiebreak.publish.replay import Named
from tiebreak.sampling import write_rows

NAMES = ("rollouts", "timings")


def test_shards_put_together_are_the_whole(model_folder: Path, cases: list[Any], tmp_path: Path) -> None:
    domain = RustDomain(Judge(tmp_path / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})
    wanted, rows = whole.run(whole.engine(model_folder), domain, cases[:3], tmp_path)
    kept = [row for block in read_frames(tmp_path / "work/blocks.jsonl.zst") for row in block]
    parts = [tmp_path / str(shard) for shard in range(3)]
    for part, case in zip(parts, cases, strict=False):
        mine = [row for row in kept if row["rollout"]["case_id"] == case.case_id]
        write_rows(mine, domain, part / "rollouts.parquet", part / "timings.parquet")
    job = SimpleNamespace(
        input=Named({name: [str(part / f"{name}.parquet") for part in parts] for name in NAMES} | {"model": "model"}),
        output=Named({name: str(tmp_path / "gathered" / f"{name}.parquet") for name in NAMES}),
    )
    assert gather(cast(Job, job), whole.PLAN, domain.facts) == summary(whole.PLAN, rows, stopped=None)
    assert file_digest(tmp_path / "gathered/rollouts.parquet") == wanted
    assert tables.read_table(tmp_path / "gathered/timings.parquet").num_rows == len(rows)
