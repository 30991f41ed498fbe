"""The study's rules through a real one-node Slurm with four pretended GPUs (tests/slurm/cluster.py).

With `--slurm`, the whole minute study goes through it as well, which takes about ten minutes.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from slurm.cluster import Missing, answer, check, cluster

from tiebreak.digest import file_digest
from tiebreak.frames import read_frames

if TYPE_CHECKING:
    from conftest import Checkout

pytestmark = pytest.mark.slow
MINUTE = "config/test/minute.yaml"
LAPTOP = "config/studies/laptop.yaml"
FOLDER = "evals/dense-seed0/rep1"
JOB = "evaluation-1-dense-seed0"
TRIAL = "results/laptop/arms/dense/seed0/trial.json"
SITE = ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5"]
"""What a cluster without accounting needs; the rest is the profile's."""


@pytest.fixture(scope="module")
def slurm() -> Iterator[Path]:
    try:
        check()
    except Missing as problem:
        pytest.skip(str(problem))
    with cluster() as folder:
        yield folder


def command(checkout: Checkout, slurm: Path, *arguments: str) -> dict[str, object]:
    """The arguments of `subprocess` for a Snakemake that submits to the cluster."""
    made = checkout.command("--profile", "profiles/slurm", *SITE, *arguments)
    environment = dict(made["env"])  # type: ignore[call-overload]
    environment |= {"SLURM_CONF": f"{slurm}/slurm.conf", "PATH": f"{slurm}/bin:{environment['PATH']}"}
    return made | {"env": environment}


def submit(checkout: Checkout, slurm: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**command(checkout, slurm, *arguments), capture_output=True, timeout=1500)


def job_ids(text: str) -> list[str]:
    return re.findall(r"SLURM jobid (\d+)", text)


def on_gpus(fresh: Checkout, folder: Path) -> Checkout:
    """The laptop study on GPUs, all of it pretended finished but one trial."""
    checkout = fresh.copy_to(folder)
    checkout.edit(LAPTOP, "  max_length: 1024\n", "  max_length: 1024\n  device: cuda\n")
    checkout.edit(LAPTOP, "  trainer: trl\n", "  trainer: trl\n  lora_rank: 8\n")
    checkout.pretend_finished()
    (checkout.folder / TRIAL).unlink()
    return checkout


@pytest.mark.parametrize(
    ("settings", "key"),
    [([], "TresPerJob"), (["--set-resources", "trial:gres=gpu:4", "trial:gpu=0"], "TresPerNode")],
    ids=["gpus", "gres"],
)
def test_requests_arrive_as_asked(fresh: Checkout, slurm: Path, tmp_path: Path, settings: list[str], key: str) -> None:
    """The job itself ends when it finds nothing in its inputs; here only what it was given counts."""
    checkout = on_gpus(fresh, tmp_path / "main")
    done = submit(checkout, slurm, *settings, "--retries", "0", "--", TRIAL)
    (job,) = job_ids(done.stdout + done.stderr)
    facts = dict(part.split("=", 1) for part in answer(slurm, "scontrol", "show", "job", job).split() if "=" in part)
    assert facts[key] == "gres:gpu:4"
    assert (facts["NumCPUs"], facts["MinMemoryNode"], facts["TimeLimit"]) == ("1", "96000M", "02:00:00")
    log = (checkout.folder / "logs/laptop/arms/dense/seed0/trial.log").read_text(encoding="utf-8")
    assert "4 GPUs are needed" not in log, "the four that Slurm gave were there to be leased"


def test_an_impossible_request_fails_at_once_with_its_reason(fresh: Checkout, slurm: Path, tmp_path: Path) -> None:
    checkout = on_gpus(fresh, tmp_path / "main")
    checkout.edit(LAPTOP, "  trainer: trl\n", "  trainer: trl\n  gpus: 5\n")
    done = submit(checkout, slurm, "--retries", "0", "--rerun-triggers", "mtime", "--", TRIAL)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and job_ids(said) == []
    assert "Requested node configuration is not available" in said or "Invalid generic resource" in said, said[-3000:]


def test_a_killed_job_goes_on_from_its_last_block(
    minute: Checkout, branch: Callable[[Checkout], Checkout], slurm: Path
) -> None:
    checkout = branch(minute)
    target = checkout.results / FOLDER / "rollouts.parquet"
    once = file_digest(target)
    target.unlink()
    arguments = [f"results/minute/{FOLDER}/rollouts.parquet", "--config", f"study={MINUTE}"]
    log = checkout.folder / "slurm.log"
    with log.open("w") as said:
        snakemake = subprocess.Popen(**command(checkout, slurm, *arguments), stdout=said, stderr=said)
    done = kill_after_a_block(checkout, snakemake, log, slurm)
    assert snakemake.wait(timeout=300) == 0, log.read_text()
    assert 1 <= done < 4, "killed in the middle"
    assert len(job_ids(log.read_text())) == 2, "submitted again, by the profile's retries"
    assert file_digest(target) == once


def kill_after_a_block(checkout: Checkout, snakemake: subprocess.Popen[str], log: Path, slurm: Path) -> int:
    """Kill the job with SIGKILL as soon as it stored a block; how many it had stored."""
    while snakemake.poll() is None:
        for path in (checkout.results / "work" / JOB).glob("*/blocks.jsonl.zst"):
            if path.stat().st_size:
                (job,) = job_ids(log.read_text())
                answer(slurm, "scancel", "--signal=KILL", "--full", job)
                return len(read_frames(path))
        time.sleep(0.002)
    raise AssertionError("the job ended before a stored block was seen: " + log.read_text())


def test_the_whole_minute_study_says_the_same_on_a_cluster(
    fresh: Checkout, minute: Checkout, slurm: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--slurm"):
        pytest.skip("takes ten minutes; asked for with --slurm")
    checkout = fresh.copy_to(tmp_path / "main")
    done = submit(checkout, slurm, "--config", f"study={MINUTE}")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("data/cases.jsonl", "stats/analysis.json", f"{FOLDER}/rollouts.parquet"):
        assert file_digest(checkout.results / name) == file_digest(minute.results / name), name


def test_the_cluster_leaves_nothing_behind() -> None:
    """In a process of its own, which the others' cluster does not touch."""
    try:
        with cluster() as folder:
            names = [(folder / f"{name}.pid").read_text().strip() for name in ("slurmd", "slurmctld", "munge")]
            assert all(Path(f"/proc/{name}").exists() for name in names)
    except Missing as problem:
        pytest.skip(str(problem))
    assert not folder.exists() and os.sep in str(folder)
    assert not any(Path(f"/proc/{name}").exists() for name in names)
