"""The minute study, end to end: it runs once, leaves nothing to do, and gives the same bytes whatever interrupts it."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow.parquet as pq
import pytest

from tiebreak.digest import file_digest
from tiebreak.frames import read_frames
from tiebreak.seeds import derive

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
STUDY = "config/test/minute.yaml"
FOLDER = "evals/dense-seed0/rep1"
JOB = "evaluation-1-dense-seed0"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_finished_study_has_nothing_to_do(minute: Checkout) -> None:
    done = minute.minute()
    assert done.returncode == 0 and "Nothing to be done" in done.stdout + done.stderr
    assert not (minute.results / "work").exists() or not [
        path for path in (minute.results / "work").glob("*/*") if path.name != "finished"
    ]


def test_every_job_left_its_record_and_its_log(minute: Checkout) -> None:
    records = [load(path) for path in (minute.results / "records").glob("*.json")]
    rules = {path.stem for path in (minute.folder / "scripts").glob("*.py")}
    asked = {"replies", "bands", "budgets", "prime_rl", "vllm_server", "shard", "release", "publish"}
    assert {record["rule"] for record in records} == rules - asked, "these a study asks for"
    for record in records:
        for item in record["outputs"]:
            assert (minute.folder / item["path"]).exists() and len(item["sha256"]) == 64


def test_traces_are_counted_in_tokens_as_training_counts_them(minute: Checkout) -> None:
    found, record = load(minute.results / "data/sft_tokens.json"), load(minute.results / "sft/record.json")
    assert found == record and found["traces"] == 24 and found["truncated"] == 0
    sample = load(minute.results / "data/sft_sample.json")
    assert len(sample) == 6 and all(sum(p["tokens"] for p in one["pieces"]) == one["tokens"] for one in sample)
    assert (sample[0]["tokens"], sample[-1]["tokens"]) == (found["tokens_min"], found["tokens_max"])


def test_the_report_shows_the_numbers_of_the_analysis(minute: Checkout) -> None:
    analysis = load(minute.results / "stats/analysis.json")
    page = (minute.results / "report/index.html").read_text(encoding="utf-8")
    assert set(analysis["arms"]) == {"sft", "sparse", "dense"}
    for arm, row in analysis["arms"].items():
        first, best = (
            f"{p['value']:.3f} [{p['low']:.3f}, {p['high']:.3f}]" for p in (row["pass_at_1"], row["pass_at_k"])
        )
        cells = [arm, len(row["runs"]), first, best, f"{row['valid_rate']:.3f}"]
        cells += [row[name] for name in ("cases_never", "cases_mixed", "cases_always", "graded", "samples", "errors")]
        assert "</td><td>".join(map(str, cells)) in re.sub(r"</?a\b[^>]*>", "", page)
    with (minute.results / "report/tables/figure_levels.csv").open() as file:
        levels = {row["arm"]: float(row["value"]) for row in csv.DictReader(file) if row["kind"] == "arm"}
    assert levels == {arm: row["pass_at_1"]["value"] for arm, row in analysis["arms"].items()}


def test_the_audits_read_every_rollout_and_agree_with_what_is_stored(minute: Checkout) -> None:
    audits = load(minute.results / "audits/audits.json")
    rows = dict.fromkeys(("evals", "probes"), 0)
    for name in rows:
        for path in (minute.results / name).rglob("rollouts.parquet"):
            rows[name] += pq.read_metadata(path).num_rows
    assert (audits["rollouts"]["evaluation"], audits["rollouts"]["probe"]) == (rows["evals"], rows["probes"])
    assert audits["checks"]["rewards"]["compared"] > 0 == audits["checks"]["rewards"]["differing"]
    assert audits["checks"]["steps"] == {"compared": 4, "differing": []}
    lost = [row for row in audits["tables"]["never_solved_counts"] if row["arm"] == "sft"]
    assert {row["of_cases"] for row in lost} == {8}


def test_the_report_names_the_jobs_behind_it(minute: Checkout) -> None:
    with (minute.results / "report/tables/jobs.csv").open() as file:
        rows = {row["output"]: row for row in csv.DictReader(file)}
    rollouts = rows[f"results/minute/{FOLDER}/rollouts.parquet"]
    assert rollouts["sha256"] == file_digest(minute.results / FOLDER / "rollouts.parquet")
    assert (rollouts["job"], rollouts["threads"]) == (JOB, "1")
    assert {"results/minute/data/blueprints.jsonl", "results/minute/stats/analysis.json"} <= set(rows)
    page = (minute.results / "report/index.html").read_text(encoding="utf-8")
    assert rollouts["sha256"][:10] in page
    assert f"./dev snakemake --cores all --config study={STUDY}\n" in page


def test_the_report_says_what_was_spent_and_shows_every_rollout(minute: Checkout) -> None:
    with (minute.results / "report/tables/figure_costs.csv").open() as file:
        rows = {row["stage"]: row for row in csv.DictReader(file)}
    tables = [pq.read_table(path) for path in minute.results.glob("evals/*/*/rollouts.parquet")]
    assert int(rows["evaluations"]["tokens_sampled"]) == sum(sum(t["new_tokens"].to_pylist()) for t in tables)
    assert int(rows["rlvr"]["tokens_sampled"]) >= int(rows["rlvr"]["tokens_trained"])
    assert {row["gpu_hours"] for row in rows.values()} == {"0.0"}
    page = (minute.results / "report/index.html").read_text(encoding="utf-8")
    assert f"the viewer</a>: {sum(map(len, tables))}. Of " in page and ", 0 differ from the sum of the terms" in page
    names = {path.name for path in (minute.results / "report/rollouts").glob("*.js")}
    assert names == {"index.js"} | {
        f"{run}-rep{rep}-0.js" for run in ("sft", "sparse-seed0", "dense-seed0") for rep in (0, 1)
    }


def test_snakemakes_own_report_has_the_page_with_its_caption(minute: Checkout, tmp_path: Path) -> None:
    done = minute.snakemake("--report", str(tmp_path / "own.zip"), "--config", f"study={STUDY}")
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "own.zip") as made:
        page = (minute.results / "report/index.html").read_bytes()
        assert page in [made.read(name) for name in made.namelist() if name.endswith("index.html")]
        assert b"what each arm came to" in made.read("own/report.html")


def test_an_evaluation_is_recorded_with_its_threads_versions_and_seeds(minute: Checkout) -> None:
    record = load(minute.results / f"records/{JOB}.json")
    assert record["environment"]["OMP_NUM_THREADS"] == "1" == str(record["params"]["threads"])
    assert {"python", "torch", "transformers"} <= set(record["versions"]) and record["params"]["root_seed"] == 7
    rows = pq.read_table(minute.results / FOLDER / "rollouts.parquet").to_pylist()
    assert len(rows) == 8 * 2
    for row in rows:
        seeds = [turn["sampling_seed"] for turn in row["turns"] if turn["role"] == "assistant"]
        names = [("eval", 1, row["case_id"], row["sample"], number) for number in range(len(seeds))]
        assert seeds and seeds == [derive(7, *name) for name in names]


def test_a_fourth_arm_runs_its_own_rules_and_the_comparisons(
    minute: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    checkout = branch(minute)
    checkout.edit(STUDY, "  sparse: {}\n", "  sparse: {}\n  fourth: {phase: 1.0}\n")
    own = {"ties": 1, "trial": 1, "rlvr": 1, "probe": 1, "evaluation": 2}
    assert checkout.jobs("--config", f"study={STUDY}") == own | {"arm": 1, "analysis": 1, "audits": 1, "report": 1}


def digest_of_another(checkout: Checkout) -> str:
    """Remove the rollouts, evaluate again, and give the digest."""
    (checkout.results / FOLDER / "rollouts.parquet").unlink()
    done = checkout.minute(f"results/minute/{FOLDER}/rollouts.parquet")
    assert done.returncode == 0, done.stderr
    return file_digest(checkout.results / FOLDER / "rollouts.parquet")


def test_an_evaluation_gives_the_same_bytes_twice_and_killed_and_resumed(
    minute: Checkout, branch: Callable[[Checkout], Checkout]
) -> None:
    once = file_digest(minute.results / FOLDER / "rollouts.parquet")
    checkout = branch(minute)
    assert digest_of_another(checkout) == once
    (checkout.results / FOLDER / "rollouts.parquet").unlink()
    done = kill_after_a_block(checkout)
    assert 1 <= len(done) < 4, "killed in the middle"
    assert not (checkout.results / FOLDER / "rollouts.parquet").exists()
    again = checkout.minute(f"results/minute/{FOLDER}/rollouts.parquet")
    assert again.returncode == 0, again.stderr
    assert file_digest(checkout.results / FOLDER / "rollouts.parquet") == once
    kept = {
        (row["case_id"], row["sample"]): row
        for row in pq.read_table(checkout.results / FOLDER / "timings.parquet").to_pylist()
    }
    for row in (row["timing"] for block in done for row in block):
        assert kept[row["case_id"], row["sample"]] == row, "what was done is not done again"


def kill_after_a_block(checkout: Checkout) -> list[list[dict[str, Any]]]:
    """Start the evaluation, kill its job (SIGKILL) as soon as a block is stored; returns the blocks that are there."""
    target = f"results/minute/{FOLDER}/rollouts.parquet"
    arguments = ["--cores", "1", target, "--config", f"study={STUDY}"]
    with (checkout.folder / "killed.log").open("w") as log:
        snakemake = subprocess.Popen(**checkout.command(*arguments), stdout=log, stderr=log)
    for found in stored_blocks(checkout, snakemake):
        for child in psutil.Process(snakemake.pid).children(recursive=True):
            if any("evaluation.py" in word for word in child.cmdline()):
                child.kill()
        assert snakemake.wait() == 1
        return read_frames(found)
    raise AssertionError("the evaluation ended before a stored block was seen")


def stored_blocks(checkout: Checkout, snakemake: subprocess.Popen[str]) -> Iterator[Path]:
    """The file of finished blocks, once it holds something, while the job runs."""
    while snakemake.poll() is None:
        for path in (checkout.results / "work" / JOB).glob("*/blocks.jsonl.zst"):
            if path.stat().st_size:
                yield path
        time.sleep(0.002)
