"""A job, run as Snakemake would run it, in a folder of its own."""

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, Wildcards

from tiebreak import devices
from tiebreak.errors import GateError
from tiebreak.job import Job, Tee
from tiebreak.job_domain import open_domain
from tiebreak.sections.evaluation import Probe


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    (tmp_path / "in.txt").write_text("input")
    return tmp_path


def task(**params: Any) -> SimpleNamespace:
    """The object that Snakemake gives a script."""
    values = {"study": "s", "code": "c", "toolchain": "t", "probe": {"prompts": 4, "samples": 2}} | params
    return SimpleNamespace(
        input=InputFiles(fromdict={"source": "in.txt", "many": ["in.txt", "in.txt"]}),
        output=OutputFiles(fromdict={"made": "results/s/out/made.json"}),
        params=Params(fromdict=values),
        wildcards=Wildcards(fromdict={"seed": "0", "arm": "dense"}),
        log=Log(["logs/s/rule.log"]),
        threads=1,
        rule="rule",
    )


def run(snakemake: SimpleNamespace, **options: bool) -> Job:
    with Job(snakemake, **options) as job:
        job.write_json(job.output.made, {"x": 1})
        print("seen", file=sys.stderr)
    return job


def test_a_job_writes_its_log_and_a_record_of_what_it_read_and_made(folder: Path) -> None:
    run(task(threads=3))
    assert (folder / "logs/s/rule.log").read_text() == "seen\n"
    record = json.loads((folder / "results/s/records/rule-dense-0.json").read_text())
    assert [item["name"] for item in record["inputs"]] == ["many.0", "many.1", "source"]
    assert record["outputs"][0]["path"] == "results/s/out/made.json" and len(record["outputs"][0]["sha256"]) == 64
    threads = record["environment"]["OMP_NUM_THREADS"]
    assert (threads, record["params"]["threads"], record["wildcards"]["arm"]) == ("3", 3, "dense")
    assert sys.stderr is sys.__stderr__ or not isinstance(sys.stderr, Tee)


def test_a_record_says_what_was_resolved_and_where(folder: Path) -> None:
    with Job(task()) as job:
        job.resolved["engine"] = {"temperature": 0.5}
        job.write_json(job.output.made, {})
    record = json.loads((folder / "results/s/records/rule-dense-0.json").read_text())
    assert record["resolved"] == {"engine": {"temperature": 0.5}}
    assert record["command"] == "./dev snakemake --cores all results/s/out/made.json --config study=s".split()
    assert record["git"] == {"commit": None, "dirty": None} and record["locks"] == {}, "no repository is here"
    assert record["versions"]["snakemake"] and record["started"] <= record["ended"]


def test_programs_are_told_where_some_ran_and_only_there(folder: Path) -> None:
    from tiebreak.domains.rust.asks import Ask

    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn a() {}\n",
    }
    for asks in ([], [Ask.of("cargo_test", files)]):
        with Job(task(domain="rust", shapes={})) as job:
            domain = open_domain(job)
            domain.judge(asks)  # type: ignore[attr-defined]
            job.write_json(job.output.made, {})
        resolved = json.loads((folder / "results/s/records/rule-dense-0.json").read_text())["resolved"]
        assert bool(resolved) == bool(asks)
    assert resolved["verdicts"] == {"asked": 1, "from_cache": 0, "ran": 1}
    assert resolved["tools"]["rustc"].startswith("rustc 1.") and "files" in resolved["confinement"]


def test_a_job_that_is_run_again_from_its_record_leaves_none(folder: Path) -> None:
    run(task())
    theirs = folder / "results/s/work/rule-dense-0/thesis/mine.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("dear data")
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    again, recorded = task(), json.loads((folder / "results/s/records/rule-dense-0.json").read_text())
    again.recorded = recorded
    job = run(again, training=True)
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before
    assert job.surroundings().items() <= recorded.items() and {"git", "host", "versions"} <= set(job.surroundings())
    assert theirs.read_text() == "dear data", "a record that leads elsewhere must not remove what lies there"


def test_a_job_holds_the_gpus_that_it_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.SIMULATED, "4,5,6")
    monkeypatch.setattr(devices, "lock_folder", lambda: folder / "leases")
    with Job(task(gpus=2)) as job:
        job.write_json(job.output.made, {"visible": os.environ[devices.VISIBLE]})
    assert json.loads(Path(job.output.made).read_text()) == {"visible": "4,5"}
    record = json.loads((folder / "results/s/records/rule-dense-0.json").read_text())
    assert [item["device"] for item in record["gpus"]] == ["4", "5"]
    with devices.lease(3, wait_seconds=0) as free:
        assert free == ["4", "5", "6"]


def test_gpus_that_are_not_there_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(devices.SIMULATED, "0")
    with pytest.raises(SystemExit) as stopped:
        run(task(gpus=4))
    assert stopped.value.code == 1
    assert "4 GPUs are needed, 1 are here (0)" in capsys.readouterr().err
    assert not isinstance(sys.stderr, Tee)


def test_a_refusal_is_its_text_alone_and_exit_status_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught, Job(task()):
        raise GateError("the prompts differ")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "rule-dense-0: the prompts differ\n"
    assert (folder / "logs/s/rule.log").read_text() == "rule-dense-0: the prompts differ\n"
    assert not (folder / "results/s/records").exists()


def test_a_crash_leaves_its_traceback_in_the_log(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), Job(task()):
        print(1 // 0)
    assert "ZeroDivisionError" in (folder / "logs/s/rule.log").read_text()


def test_work_survives_a_crash_and_is_found_again_and_goes_when_the_job_succeeds(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), Job(task()) as job:
        (job.work / "half").write_text("done")
        print(1 // 0)
    with Job(task()) as job:
        assert (job.work / "half").read_text() == "done"
        job.write_json(job.output.made, {})
    assert not job.workplace.exists()


def test_a_gates_evidence_says_of_what_it_is_and_goes_when_the_gate_lets_the_study_pass(folder: Path) -> None:
    with pytest.raises(SystemExit), Job(task()) as job:
        decision, record = job.paths.stopped(job.name)
        assert job.evidence(job.output.made, go=False) == decision
        decision.write_text("no-go")
        raise GateError("the prompts differ")
    found = json.loads(record.read_text())
    assert found["params"]["study"] == "s"
    assert {item["path"] for item in found["inputs"]} == {"in.txt"} and len(found["inputs"][0]["sha256"]) == 64
    with Job(task()) as job:
        job.write_json(job.evidence(job.output.made, go=True), {})
    assert not decision.exists() and not record.exists()


@pytest.mark.parametrize("change", ["parameter", "input"])
def test_work_is_not_found_by_a_job_that_is_another(folder: Path, change: str) -> None:
    first = Job(task()).work
    if change == "input":
        (folder / "in.txt").write_text("another input")
    assert Job(task(code="edited") if change == "parameter" else task()).work != first


def test_a_training_is_set_aside_when_it_is_made_again(folder: Path) -> None:
    run(task(), training=True)
    (folder / "results/s/out/made.json").unlink()
    run(task(code="edited"), training=True)
    previous = list((folder / "results/s/out/previous").iterdir())
    assert len(previous) == 1 and json.loads((previous[0] / "made.json").read_text()) == {"x": 1}


def test_a_part_is_typed() -> None:
    assert Job(task()).part("probe", Probe) == Probe(prompts=4, samples=2)


def test_a_progress_bar_is_shown_whole_and_logged_once() -> None:
    shown, log = io.StringIO(), io.StringIO()
    tee = Tee(shown, log)
    for text in ("\r10 %", "\r50 %", "\r100 %\n", "done", "\n"):
        tee.write(text)
    assert shown.getvalue() == "\r10 %\r50 %\r100 %\ndone\n"
    assert log.getvalue() == "100 %\ndone\n"
