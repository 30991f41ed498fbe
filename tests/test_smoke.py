"""The smoke test of a study, for real on the minute studies, and what it says of one that cannot work."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak import smoke
from tiebreak.cli import main
from tiebreak.cli.smoke import judged
from tiebreak.paths import Paths
from tiebreak.smoke.part import Line, NotHereError, Slice
from tiebreak.smoke.tasks import HANDFUL, data, few, parity
from tiebreak.smoke.training import rlvr, ties
from tiebreak.study import Study, load

REPO = Path(__file__).resolve().parents[1]
STAGES = ["data", "parity", "model", "sft", "ties", "rlvr"]


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))


def fathom(**changes: object) -> Study:
    return load("config/test/fathom-minute.yaml", REPO).model_copy(update=changes)


def lines(study: Study, folder: Path, *, gpu: bool = False) -> dict[str, Line]:
    found = smoke.smoke(study, Paths(study.name, folder / "results"), folder, gpu=gpu)
    return {line.subject: line for line in found}


def test_a_study_that_works_goes_through_all_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["smoke", "--study", str(REPO / "config/test/fathom-minute.yaml"), "--results", str(tmp_path)])
    said = capsys.readouterr().out.splitlines()
    assert status == 0, said
    assert [line.split()[1] for line in said[:-1]] == ["sandbox", *STAGES]
    assert all(line.startswith("ok ") for line in said[:-1])
    assert "16 of 16 blueprints materialize" in said[1]
    assert "the same prompt, byte for byte" in said[2] and "⟦C⟧ontext:" in said[2]
    assert "fresh weights" in said[3]  # nothing was made yet
    assert "recursion is dead" in said[5] and "hardly trained" in said[5]
    assert said[-1] == "GO: 7 of 7 stages went well"
    assert list(tmp_path.iterdir()) == []


def test_a_program_reads_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(smoke, "smoke", lambda *_, **__: iter([Line("data", "ok", "16 of 16", 1.5)]))
    assert main(["smoke", "--json", "--study", str(REPO / "config/test/fathom-minute.yaml")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["reason"]) == ("GO", "2 of 2 stages went well")
    assert found["stages"][1] == {"subject": "data", "state": "ok", "found": "16 of 16", "seconds": 1.5}


def test_a_trace_that_does_not_fit_is_a_no_go_and_the_rest_is_not_tried(tmp_path: Path) -> None:
    study = fathom()
    short = study.model.model_copy(update={"max_length": 64})
    found = lines(fathom(model=short), tmp_path)
    assert {name: line.state for name, line in found.items()} == {
        "data": "ok",
        "parity": "ok",
        "model": "ok",
        "sft": "no-go",
        "ties": "not tried",
        "rlvr": "not tried",
    }
    assert "model.max_length" in found["sft"].found
    assert judged(list(found.values())) == ("NO-GO", "sft (not tried: ties, rlvr)")


def test_a_model_of_the_hub_is_neither_downloaded_nor_run_without_its_gpu(tmp_path: Path) -> None:
    hub = {"base": "Qwen/Qwen2.5-Coder-1.5B-Instruct", "revision": "0" * 40}
    model = fathom().model
    found = lines(fathom(model=model.model_copy(update=hub)), tmp_path)
    assert (found["model"].state, found["sft"].state) == ("not tried", "not tried")
    assert "not on this machine" in found["model"].found
    found = lines(fathom(model=model.model_copy(update=hub | {"device": "cuda"})), tmp_path / "gpu")
    assert "wants a GPU" in found["model"].found
    assert judged(list(found.values()))[0] == "NOT KNOWN"


def test_a_drift_that_no_arm_declares_is_a_no_go(tmp_path: Path) -> None:
    study = fathom()
    drifting = study.rlvr.model_copy(update={"system_message": "You are somebody else."})
    (tmp_path / "drift").mkdir()
    part = Slice(fathom(rlvr=drifting), Paths("s", tmp_path), tmp_path / "drift", gpu=False)
    assert smoke.tried(data, part).state == "ok"
    line = smoke.tried(parity, part)
    assert line.state == "no-go" and "the pool prompt differs at byte" in line.found


def test_no_language_model_is_asked() -> None:
    with pytest.raises(NotHereError, match="asks none"):
        few({"generate": None, "import": None, "llm": {"endpoint": "x"}})
    assert few({"generate": {"cases": 9000}, "llm": {}}) == {"generate": {"cases": HANDFUL}}


def test_what_a_server_samples_is_not_tried_on_another_engine(tmp_path: Path) -> None:
    """On a GPU machine: transformers on the CPU would take hours over it, and say nothing of vLLM."""
    own = fathom()
    study = fathom(
        model=own.model.model_copy(update={"device": "cuda"}),
        rlvr=own.rlvr.model_copy(update={"lora_rank": 8, "engine": None}),
        evaluation=own.evaluation.model_copy(update={"engine": None}),
    )
    part = Slice(study, Paths("s", tmp_path), tmp_path, gpu=True, members={"sft": [0]}, policy=tmp_path)
    found = [smoke.tried(stage, part) for stage in (ties, rlvr)]
    assert [line.state for line in found] == ["not tried"] * 2
    assert f"to try it, make {part.paths.ties('v1_gate')}" in found[0].found
    assert f"to try it, make {part.paths.decision('v1_gate-seed0')}" in found[1].found


def test_an_unforeseen_error_is_a_no_go_by_its_name(tmp_path: Path) -> None:
    def broken(part: Slice) -> str:
        raise RuntimeError("no room")

    line = smoke.tried(broken, Slice(fathom(), Paths("s", tmp_path), tmp_path, gpu=False))
    assert (line.subject, line.state, line.found) == ("broken", "no-go", "RuntimeError: no room")


def test_only_ties_that_are_surely_too_many_stop_a_trained_model() -> None:
    assert judged([Line("a", "ok", "")])[0] == "GO"
    line = Line("ties", "no-go", "")
    assert judged([line, replace(line, subject="x", state="not tried")])[0] == "NO-GO"


@pytest.mark.slow
def test_the_rust_domain(tmp_path: Path) -> None:
    study = load("config/test/minute.yaml", REPO)
    found = lines(study, tmp_path)
    assert [line.state for line in found.values()] == ["ok"] * 6, found
    assert all(arm in found["ties"].found for arm in study.arms)
