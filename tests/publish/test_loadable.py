"""The tables that people load say what the study's own say."""

from pathlib import Path

import pyarrow.parquet as pq
from publish.small import rollout

from tiebreak import tables
from tiebreak.domains.rust.domain import FACTS
from tiebreak.publish.loadable import write_rollouts


def test_rollouts_keep_every_value_and_their_rewards_become_a_list(tmp_path: Path) -> None:
    sources = []
    for number in range(2):
        rows = [rollout(f"case_{number}", sample) for sample in range(3)]
        sources.append(tmp_path / f"{number}.parquet")
        tables.write_table(sources[-1], rows, tables.rollouts(FACTS))
    write_rollouts(tmp_path / "all.parquet", sources)
    stored = [row for path in sources for row in pq.read_table(path).to_pylist()]
    written = pq.read_table(tmp_path / "all.parquet").to_pylist()
    for row in written:
        row["rewards"] = [(item["shape"], item["reward"]) for item in row["rewards"]]
    assert written == stored
    first = (tmp_path / "all.parquet").read_bytes()
    write_rollouts(tmp_path / "all.parquet", sources)
    assert (tmp_path / "all.parquet").read_bytes() == first
