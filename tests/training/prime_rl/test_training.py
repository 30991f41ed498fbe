"""A training with prime-rl from its first start to its export, with a program in the place of `rl`."""

import json
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from training.prime_rl import lines, tool
from training.test_export import logits

from tiebreak.errors import TiedError, TrainingError
from tiebreak.frames import read_frames
from tiebreak.sections.prime_rl import PrimeRl
from tiebreak.study import load
from tiebreak.training.grpo import read_steps
from tiebreak.training.prime_rl import launch, resume, view
from tiebreak.training.prime_rl.config import Spec, of_study
from tiebreak.training.prime_rl.logs import read_line
from tiebreak.training.prime_rl.training import PrimeTraining, in_folder

ROOT = Path(__file__).parents[3]


@pytest.fixture
def part(model_folder: Path) -> PrimeRl:
    return tool.part_of(model_folder)


@pytest.fixture
def training(part: PrimeRl, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrimeTraining:
    """A training on a machine that says it has 4 GPUs."""
    monkeypatch.setattr(launch, "visible_devices", lambda: 4)
    monkeypatch.setattr(launch, "POLL", 0.05)
    spec: Spec = replace(of_study(load("glyph", ROOT), "dense", 0), rlvr=tool.plan(part))
    tool.install(tmp_path / "tool", model_folder)
    (tmp_path / "work").mkdir()
    return PrimeTraining(in_folder(spec, tmp_path / "work"), model_folder, tmp_path / "tool", tmp_path / "work")


def steps(training: PrimeTraining) -> list[int]:
    """The recorded steps, the same in both files."""
    found = [row["step"] for row in read_steps(training.work / "steps.jsonl")]
    assert found == [frame[0]["step"] for frame in read_frames(training.work / "groups.jsonl.zst")]
    return found


def test_a_trial_and_the_training_after_it(training: PrimeTraining, model_folder: Path, tmp_path: Path) -> None:
    training.advance(2)
    first = tomllib.loads((training.work / "rl.toml").read_text())
    assert (first["max_steps"], first["ckpt"].get("resume_step"), steps(training)) == (2, None, [1, 2])
    training.advance(6)
    second = tomllib.loads((training.work / "rl.toml").read_text())
    assert (second["max_steps"], second["ckpt"]["resume_step"], steps(training)) == (6, 2, [1, 2, 3, 4, 5, 6])
    (record, *_), (groups, *_) = (
        read_steps(training.work / "steps.jsonl"),
        read_frames(training.work / "groups.jsonl.zst"),
    )
    assert (
        record | {"step": 1, "groups": 3, "tied": 1, "kept": 2, "dropped_zero_advantage": 2, "loss": 0.0123} == record
    )
    assert record | {"rollouts": 6, "reward_mean": 1.5, "graded_rate": 1 / 3, "seconds_waiting": 0.0} == record
    assert [(one["case_id"], one["tied"], one["rewards"]) for one in groups[:2]] == [
        ("case_0", True, [-1.0, -1.0]),
        ("case_1", False, [8.0, -1.0]),
    ]
    assert groups[1]["terms"] == [{"valid": 8.0}, {"valid": 0.0}] and groups[1]["turns"][0][-1]["role"] == "assistant"
    training.export(tmp_path / "model", 6)
    assert not torch.equal(logits(model_folder, tmp_path / "model"), logits(model_folder))
    assert (tmp_path / "model/chat_template.jinja").exists()


def test_what_is_done_is_not_done_again(training: PrimeTraining) -> None:
    training.advance(2)
    (training.tool / ".venv/bin/rl").unlink()
    training.advance(2)
    assert steps(training) == [1, 2]


def test_a_training_that_died_goes_on_from_the_step_that_all_parts_have(training: PrimeTraining) -> None:
    tool.wish(training.tool, die=3)
    with pytest.raises(TrainingError, match="prime-rl ended with status 1: Fatal error in orchestrate"):
        training.advance(6)
    out = training.spec.out
    assert resume.steps(out / "run_default/checkpoints") == [2, 4] and resume.last_step(out) == 2
    tool.wish(training.tool, die=None)
    training.advance(6)
    assert tomllib.loads((training.work / "rl.toml").read_text())["ckpt"]["resume_step"] == 2
    assert steps(training) == [1, 2, 3, 4, 5, 6]


def test_logs_that_were_not_read_before_a_kill_are_read_at_the_next_start(training: PrimeTraining) -> None:
    training.advance(2)
    for name in ("steps.jsonl", "groups.jsonl.zst"):
        (training.work / name).unlink()
    training.advance(4)
    assert steps(training) == [1, 2, 3, 4]


def test_a_tied_training_is_stopped_with_its_diagnosis_and_leaves_no_process(training: PrimeTraining) -> None:
    tool.wish(training.tool, tie=2)
    with pytest.raises(
        TrainingError, match=r"the training was stopped: all 6 rollouts .*\(zero_advantage 6\), in 3 batch"
    ):
        training.advance(6)
    left = subprocess.run(["pgrep", "-f", str(training.tool)], capture_output=True, text=True)
    assert left.stdout == ""
    assert steps(training) == [1, 2]


def test_a_run_that_prime_rl_gave_up_is_not_started_again(training: PrimeTraining) -> None:
    path = training.spec.out / "run_default/control/evicted.txt"
    path.parent.mkdir(parents=True)
    path.write_text("All 96 rollouts were filtered out on 3 consecutive attempts at step 4\n")
    with pytest.raises(TiedError, match="gave this run up: All 96 rollouts were filtered out .* remove this file"):
        training.advance(2)


def test_a_machine_without_prime_rl_or_gpus_is_named_before_anything_starts(
    training: PrimeTraining, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "visible_devices", lambda: 3)
    with pytest.raises(
        TrainingError, match=r"prime-rl takes 4 GPUs \(1 for rollouts, 2 to train, 1 for the teacher\), her"
    ):
        training.advance(2)
    with pytest.raises(TrainingError, match="prime-rl is not installed there; run: ./dev snakemake"):
        replace(training, tool=training.work).advance(2)
    monkeypatch.setattr(launch, "visible_devices", lambda: 4)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,MIG-4f")
    with pytest.raises(TrainingError, match="CUDA_VISIBLE_DEVICES names MIG-4f; prime-rl reads nothing but numbers"):
        training.advance(2)
    assert not training.spec.out.exists() and not training.spec.view.exists()


def test_the_view_speaks_as_our_renderer(model_folder: Path, part: PrimeRl, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    other = AutoTokenizer.from_pretrained(model)
    other.chat_template, other.eos_token = "{{ messages }}", "<|pad|>"
    other.save_pretrained(model)
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    view.install(model, tmp_path / "view")
    view.install(model, tmp_path / "view")
    view.prove(tmp_path / "view", part)
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert AutoTokenizer.from_pretrained(tmp_path / "view").eos_token_id == part.stop_tokens[1]
    AutoModelForCausalLM.from_pretrained(tmp_path / "view")
    assert (tmp_path / "view/model.safetensors").is_symlink()
    template = tmp_path / "view" / view.TEMPLATE_FILE
    template.write_text(template.read_text().replace("\\n\\n", "\\n"))
    with pytest.raises(TrainingError, match="its chat template says .* at character .* where our renderer says"):
        view.prove(tmp_path / "view", part)
    with pytest.raises(TrainingError, match=r"its end token is <\|pad\|>, turns end in <\|im_end\|>"):
        view.prove(model, part)


@pytest.mark.parametrize("name", ["tokenizer_size", "vocabulary", "stop_tokens"])
def test_other_ids_than_the_studys_are_named(model_folder: Path, part: PrimeRl, tmp_path: Path, name: str) -> None:
    view.install(model_folder, tmp_path / "view")
    wrong = {"tokenizer_size": part.tokenizer_size - 1, "vocabulary": part.vocabulary + 1, "stop_tokens": (0, 1)}[name]
    with pytest.raises(TrainingError, match=f"its {name} is .*; write rlvr.prime_rl.{name}: "):
        view.prove(tmp_path / "view", part.model_copy(update={name: wrong}))


def test_rollouts_that_do_not_say_what_they_are_of_are_refused(training: PrimeTraining) -> None:
    training.advance(2)
    path = training.spec.out / "run_default/rollouts/step_1/train_rollouts.jsonl"
    rows = [json.loads(text) for text in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row | {"info": {}}) + "\n" for row in rows))
    records = training.records
    records.seen.clear()
    found = lines.step(1, 1.0, 1.0, 1.0)
    line = read_line(found)
    assert line is not None
    with pytest.raises(
        TrainingError, match="a rollout does not say its case_id, family, template; the environment has"
    ):
        records.collected(line)
    path.write_text("{}\n" * 5)
    with pytest.raises(TrainingError, match="holds 5 rollouts; whole groups of 2 are expected"):
        records.collected(line)
