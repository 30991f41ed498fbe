import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.report.costs import costs, elapsed, tokens, total


def job(rule, seconds, started="2026-11-29T14:00:00Z"):
    return {"rule": rule, "seconds": seconds, "started": started}


JOBS = [
    job("cases", 10.0),
    job("trial", 1800.0, "2026-11-29T14:00:10Z"),
    job("rlvr", 3600.0, "2026-11-29T14:30:10Z"),
    job("evaluation", 900.0, "2026-11-29T15:30:10Z"),
    job("own", 1.0),
]


def test_a_stage_is_the_sum_of_its_jobs_and_holds_its_gpus_all_the_time():
    frame = costs(JOBS, {"rlvr": 4, "evaluation": 1}, {"rlvr": {"tokens_sampled": 100, "tokens_trained": 60}})
    assert frame["stage"].tolist() == ["data", "rlvr", "evaluations", "own"]
    assert frame["seconds"].tolist() == [10.0, 5400.0, 900.0, 1.0]
    assert frame["gpu_hours"].tolist() == [0.0, 6.0, 0.25, 0.0]
    row = frame.set_index("stage").loc["rlvr"]
    assert (row["jobs"], row["tokens_sampled"], row["tokens_trained"]) == (2, 100, 60)
    assert pd.isna(frame.set_index("stage").loc["evaluations", "tokens_sampled"])
    assert total(frame)["gpu_hours"] == 6.25 and total(frame)["tokens_sampled"] == 100


def test_elapsed_is_from_the_first_start_to_the_last_end():
    assert elapsed(JOBS) == 10 + 1800 + 3600 + 900
    assert elapsed([]) is None


def test_tied_groups_were_sampled_and_not_trained_on(tmp_path):
    groups = [{"new_tokens": [3, 4], "tied": False}, {"new_tokens": [5, 5], "tied": True}]
    (tmp_path / "groups.jsonl").write_text("".join(json.dumps(group) + "\n" for group in groups))
    pq.write_table(pa.table({"new_tokens": pa.array([7, 8], pa.int32())}), tmp_path / "probe.parquet")
    pq.write_table(pa.table({"new_tokens": pa.array([], pa.int32())}), tmp_path / "stopped.parquet")
    probes = [tmp_path / "probe.parquet", tmp_path / "stopped.parquet"]
    assert tokens([tmp_path / "groups.jsonl"], probes, 11, probes[:1]) == {
        "rlvr": {"tokens_sampled": 17, "tokens_trained": 7},
        "probes": {"tokens_sampled": 15},
        "evaluations": {"tokens_sampled": 11},
        "call budgets": {"tokens_sampled": 15},
    }
