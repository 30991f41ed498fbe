"""One training of one arm: a stop and a start change nothing, and its records say what the trainer was given."""

import json
from pathlib import Path
from typing import Any

import pytest

from tiebreak.digest import file_digest
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training import grpo
from tiebreak.training.groups import TIE
from tiebreak.training.pool import batches
from tiebreak.training.run import Run

RUN = Run(3, "dense", 0)
PLAN = Rlvr.model_validate(
    {
        "steps": 2,
        "prompts": 2,
        "group": 2,
        "tool_rounds": 2,
        "turn_tokens": 16,
        "learning_rate": 1e-3,
        "trial": {"steps": 1},
    }
)
MOMENT = {"seconds_rollouts", "seconds_update"}


class ByLength(RustDomain):
    """Pays for length: an untrained model never makes a call, and under every real table its groups would tie."""

    def terms(self, episode: Any, shape: str) -> dict[str, float]:
        return {"length": float(len(episode.messages[-1]["content"])), "flat": 1.0}

    def outcomes(self, finished: Any) -> list[Any]:
        paid = [{"dense": sum(self.terms(episode, "dense").values())} for episode in finished]
        return [one | {"rewards": reward} for one, reward in zip(super().outcomes(finished), paid, strict=True)]


@pytest.fixture(scope="module")
def trainings(tmp_path_factory: pytest.TempPathFactory, model_folder: Path, cases: list[Any]) -> dict[str, Path]:
    """The folder of a training in one go, and of one that was stopped after its first step."""
    root = tmp_path_factory.mktemp("grpo")
    domain = ByLength(Judge(root / "verdicts"), {"dense": RewardTable()})
    prompts = [(case, domain.prompt(case)) for case in cases[:4]]
    for name, stops in (("straight", (2,)), ("stopped", (1, 2))):
        for until in stops:
            grpo.train(RUN, PLAN, domain, prompts, model=model_folder, max_length=300, until=until, work=root / name)
    return {name: root / name for name in ("straight", "stopped")}


def test_a_stopped_training_goes_on_as_if_it_had_not_stopped(trainings: dict[str, Path], model_folder: Path) -> None:
    weights = {file_digest(work / "checkpoint-2" / "model.safetensors") for work in trainings.values()}
    assert len(weights) == 1
    assert weights != {file_digest(model_folder / "model.safetensors")}, "it has learned something"
    steps = [
        [
            {key: value for key, value in step.items() if key not in MOMENT}
            for step in grpo.read_steps(work / "steps.jsonl")
        ]
        for work in trainings.values()
    ]
    assert steps[0] == steps[1]
    assert [step["step"] for step in steps[0]] == [1, 2]


def test_groups_are_recorded_with_their_rewards_term_by_term(trainings: dict[str, Path]) -> None:
    groups = [group for frame in grpo.read_frames(trainings["straight"] / "groups.jsonl.zst") for group in frame]
    assert [(group["step"], group["group"]) for group in groups] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for group in groups:
        assert [sum(terms.values()) for terms in group["terms"]] == pytest.approx(group["rewards"])
        assert group["tied"] == (max(group["rewards"]) - min(group["rewards"]) < TIE)
        assert len(group["turns"]) == PLAN.group


def test_records_behind_the_checkpoint_are_forgotten(trainings: dict[str, Path], tmp_path: Path) -> None:
    for name in ("steps.jsonl", "groups.jsonl.zst"):
        (tmp_path / name).write_bytes((trainings["straight"] / name).read_bytes())
    with (tmp_path / "steps.jsonl").open("a") as file:
        file.write('{"step": 3, "torn')
    grpo.trim(tmp_path, 1)
    assert [json.loads(line)["step"] for line in (tmp_path / "steps.jsonl").read_text().splitlines()] == [1]
    assert {group["step"] for frame in grpo.read_frames(tmp_path / "groups.jsonl.zst") for group in frame} == {1}


def test_an_export_holds_weights_and_tokenizer_and_no_trainer_state(trainings: dict[str, Path], tmp_path: Path) -> None:
    grpo.export(trainings["straight"] / "checkpoint-2", tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= names
    assert not names & {"optimizer.pt", "trainer_state.json", "training_args.bin", "rng_state.pth", "scheduler.pt"}


def test_each_pass_over_the_pool_shows_every_prompt_once_in_an_order_of_its_own() -> None:
    plan = PLAN.model_copy(update={"steps": 6, "prompts": 4})
    order = batches(list(range(8)), RUN, plan)
    passes = [order[start : start + 8] for start in range(0, 24, 8)]
    assert all(sorted(one) == list(range(8)) for one in passes)
    assert passes[0] != passes[1]
    assert order != batches(list(range(8)), Run(3, "dense", 1), plan)


def test_trimming_changes_no_value_and_no_gradient(model_folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM
    from trl import GRPOTrainer
    from trl.trainer.utils import add_fused_lm_head

    from tiebreak.training.trimmed import TrimmedTrainer

    torch.manual_seed(2)
    prompts, widths, prompt_width, width = 11, [1, 30, 7, 30, 2, 19, 4, 8, 9, 10, 11], 6, 30
    ids = torch.randint(5, 400, (prompts, prompt_width + width))
    mask = torch.zeros_like(ids)
    for row, long in enumerate(widths):
        mask[row, row % prompt_width : prompt_width + long] = 1
    found = []
    for kind in (GRPOTrainer, TrimmedTrainer):
        model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
        add_fused_lm_head(model, temperature=0.8, outputs=("log_probs", "entropy"))
        trainer = object.__new__(kind)
        trainer.accelerator = accelerator()
        logps, entropies, _ = trainer._get_per_token_logps_and_entropies(model, ids, mask, width, compute_entropy=True)
        own = mask[:, -width:]
        (logps * own).sum().backward()
        gradient = torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None])
        found.append((logps.detach() * own, entropies.detach() * own, gradient))
    for plain, trimmed in zip(*found, strict=True):
        assert torch.allclose(plain, trimmed, atol=2e-4, rtol=1e-4)


def accelerator() -> Any:
    from accelerate import Accelerator

    return Accelerator(cpu=True)


def test_a_torn_checkpoint_is_removed_and_the_whole_one_before_it_is_found(tmp_path: Path) -> None:
    from tiebreak.training.checkpoints import last_checkpoint

    for step in (1, 2, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
    for step in (1, 2):
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-2"
    assert not (tmp_path / "checkpoint-10").exists()
    (tmp_path / "checkpoint-2" / "trainer_state.json").write_text('{"global_st')
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-1"
    assert last_checkpoint(tmp_path / "nothing") is None
