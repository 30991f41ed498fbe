"""The jobs `trial` and `rlvr`, run as Snakemake runs them, with the trainer that the study names."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, Wildcards
from training.prime_rl import tool
from training.test_export import logits
from training.test_grpo import PLAN, RUN, ByLength

from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.gates import Decision, write
from tiebreak.job_training import TrlTrainer
from tiebreak.training.prime_rl import launch

ROOT = Path(__file__).parents[1]
FOLDER = "results/s/arms/dense/seed0"
TRIAL = {"trial": "trial.json", "decision": "decision.json"}
DECIDED = {name: f"{FOLDER}/{path}" for name, path in TRIAL.items()}
TRAINED = {"model": "model", "steps": "steps.jsonl", "groups": "groups.jsonl"}


def script(rule: str, inputs: dict[str, Any], outputs: dict[str, str], params: dict[str, Any]) -> None:
    """Run the script of a rule."""
    values = {"study": "s", "root_seed": 7, "code": "c", "toolchain": "t", "threads": 1} | params
    snakemake = SimpleNamespace(
        input=InputFiles(fromdict=inputs),
        output=OutputFiles(fromdict={name: f"{FOLDER}/{path}" for name, path in outputs.items()}),
        params=Params(fromdict=values),
        wildcards=Wildcards(fromdict={"arm": "dense", "seed": "0"}),
        log=Log([f"logs/{rule}.log"]),
        threads=1,
        rule=rule,
    )
    runpy.run_path(str(ROOT / "scripts" / f"{rule}.py"), init_globals={"snakemake": snakemake})


@pytest.fixture
def job(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and parameters of a trial with prime-rl, on a machine that says it has 4 GPUs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch, "visible_devices", lambda: 4)
    monkeypatch.setattr(launch, "POLL", 0.05)
    tool.install(tmp_path / "tools/prime-rl", model_folder)
    (tmp_path / "tools/installed.json").write_text("{}")
    for name in ("cases.jsonl", "pool.parquet"):
        (tmp_path / name).write_text("prime-rl's environment reads them")
    write(tmp_path / "ties.json", Decision("ties", True, "fine", {}, 0.8, "dense"))
    files = {"cases": "cases.jsonl", "pool": "pool.parquet", "ties": "ties.json", "tool": ["tools/installed.json"]}
    params = {
        "arm": {"compiled": 0.5, "faults": []},
        "rlvr": tool.plan(tool.part_of(model_folder)).model_dump(mode="json"),
        "model": {"base": "tiny"},
        "toolbox": {},
    }
    return {"model": str(model_folder)} | files, params


def decided() -> Any:
    """The trial's decision."""
    return json.loads(Path(FOLDER, "decision.json").read_text())


def test_a_study_with_prime_rl_runs_its_trial_and_its_training(
    job: tuple[dict[str, Any], dict[str, Any]], model_folder: Path
) -> None:
    inputs, params = job
    script("trial", inputs, TRIAL, params)
    tied = [{"step": step, "groups": 3, "tied": 1} for step in (1, 2)]
    assert decided()["go"] and decided()["measure"]["steps"] == tied
    script("rlvr", inputs | DECIDED, TRAINED, params)
    steps = [json.loads(line) for line in Path(FOLDER, "steps.jsonl").read_text().splitlines()]
    groups = Path(FOLDER, "groups.jsonl").read_text().splitlines()
    assert ([row["step"] for row in steps], len(groups)) == ([1, 2, 3, 4, 5, 6], 18)
    assert not torch.equal(logits(model_folder, Path(FOLDER, "model")), logits(model_folder))


def test_a_trial_whose_batches_all_tie_is_a_no_go_and_no_failure(
    job: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    inputs, params = job
    tool.wish(Path("tools/prime-rl"), tie=1)
    script("trial", inputs, TRIAL, params)
    assert not decided()["go"] and "all 6 rollouts of the batch were dropped (zero_advantage 6)" in decided()["reason"]
    script("rlvr", inputs | DECIDED, TRAINED, params)
    stopped = json.loads(Path(FOLDER, "model/stopped.json").read_text())
    assert (stopped["gate"], stopped["reason"]) == ("trial", decided()["reason"])
    assert len(Path(FOLDER, "steps.jsonl").read_text().splitlines()) == 1


def test_an_adapter_of_trl_is_exported_with_its_proof(model_folder: Path, cases: list[Any], tmp_path: Path) -> None:
    domain = ByLength(Judge(tmp_path / "verdicts"), {"dense": RewardTable()})
    prompts = [(case, domain.prompt(case)) for case in cases[:4]]
    plan = PLAN.model_copy(update={"lora_rank": 4})
    trainer = TrlTrainer(RUN, plan, domain, prompts, model_folder, 300, tmp_path / "work")
    assert {group["step"] for group in trainer.advance(2)} == {1, 2}
    trainer.export(tmp_path / "model", tmp_path / "steps.jsonl", tmp_path / "groups.jsonl")
    assert not torch.equal(logits(model_folder, tmp_path / "model"), logits(model_folder))
    config = json.loads((tmp_path / "model/adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["base_model_name_or_path"]) == (4, 8, str(model_folder))
