"""RLVR with TRL's GRPOTrainer, its rollouts played by our own loop: one training of one arm, resumable at every step.

Rollouts draw from named seeds and the prompt order is fixed beforehand, so nothing depends on the trainer's own random
state; a training that stops after the trial and goes on later is the training that never stopped.
"""

import json
import os
import shutil
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from tiebreak.chat import Message, prompt
from tiebreak.domains.base import Domain, Outcome
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.errors import TrainingError
from tiebreak.frames import append_frame, read_frames
from tiebreak.rollout import Attempt, Played, play
from tiebreak.sections.rlvr import Rlvr
from tiebreak.seeds import derive, stream
from tiebreak.training.progress import hush, show

TIE = 1e-9
MICRO_BATCH = 32


@dataclass(frozen=True)
class Run:
    """Which training this is: the names of its seed streams, and its arm's shape."""

    root_seed: int
    arm: str
    training_seed: int

    def seed(self, *names: str | int) -> int:
        """A seed of this training."""
        return derive(self.root_seed, "train", self.arm, self.training_seed, *names)


def batches(prompts: Sequence[Any], run: Run, rlvr: Rlvr) -> list[Any]:
    """The prompts of all steps in order, `rlvr.prompts` a step: passes over the pool, each in an order of its own."""
    order: list[Any] = []
    while len(order) < rlvr.steps * rlvr.prompts:
        turn = list(prompts)
        stream(run.root_seed, "train", run.arm, run.training_seed, "order", len(order) // len(prompts)).shuffle(turn)
        order += turn
    return order[: rlvr.steps * rlvr.prompts]


class Rollouts:
    """TRL's rollout function: plays a step's groups, keeps their records, hands tokens and rewards to the trainer."""

    def __init__(
        self,
        run: Run,
        rlvr: Rlvr,
        domain: Domain,
        prompts: Sequence[tuple[Any, list[Message]]],
        *,
        max_length: int,
        work: Path,
    ) -> None:
        self.run, self.rlvr, self.domain, self.work, self.max_length = run, rlvr, domain, work, max_length
        self.by_prompt = {prompt(messages): (case, messages) for case, messages in prompts}
        self.latest: dict[str, Any] = {}

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """One step's rollouts; `prompts` come repeated and grouped."""
        started, step = time.perf_counter(), trainer.state.global_step + 1
        model = trainer.accelerator.unwrap_model(trainer.model)
        sampling = Sampling(self.rlvr.temperature, self.rlvr.turn_tokens, self.max_length)
        training = model.training
        played = play(
            HfEngine(model, trainer.processing_class, sampling),
            self.domain,
            [self.attempt(step, number, text) for number, text in enumerate(prompts)],
            tool_rounds=self.rlvr.tool_rounds,
        )
        model.train(training)
        episodes = [item.episode for item in played]
        outcomes, grades = self.domain.outcomes(episodes), self.domain.grades(episodes)
        groups = self.groups(step, played, outcomes, grades)
        self.latest = summary(step, groups, played, outcomes, grades) | {
            "seconds_rollouts": time.perf_counter() - started
        }
        append_frame(self.work / "groups.jsonl.zst", groups)
        dead = {number for number in range(len(played)) if groups[number // self.rlvr.group]["tied"]}
        return trainer_rows(played, dead) | {"score": [outcome["rewards"].get(self.run.arm) for outcome in outcomes]}

    def attempt(self, step: int, number: int, text: str) -> Attempt:
        """The rollout behind the step's row `number`."""
        case, messages = self.by_prompt[text]
        sample = number % self.rlvr.group
        return Attempt(case, messages, sample, partial(self.run.seed, step, case.case_id, sample))

    def groups(
        self, step: int, played: Sequence[Played], outcomes: Sequence[Outcome], grades: Sequence[bool]
    ) -> list[dict[str, Any]]:
        """A record for each group of the step: rewards, their shaping part, outcomes and conversations."""
        size = self.rlvr.group
        rows = []
        for start in range(0, len(played), size):
            members = range(start, start + size)
            rewards = [outcomes[i]["rewards"].get(self.run.arm) for i in members]
            scored = [reward for reward in rewards if reward is not None]
            case = played[start].attempt.case
            rows.append(
                {
                    "step": step,
                    "group": start // size,
                    "case_id": case.case_id,
                    "family": case.family,
                    "template": case.template,
                    "rewards": rewards,
                    "terms": [dict(self.domain.terms(played[i].episode, self.run.arm)) for i in members],
                    "tied": not scored or max(scored) - min(scored) < TIE,
                    "stop": [outcomes[i]["stop"] for i in members],
                    "valid": [outcomes[i]["valid"] for i in members],
                    "success": [outcomes[i]["success"] for i in members],
                    "graded": [grades[i] for i in members],
                    "new_tokens": [played[i].new_tokens for i in members],
                    "turns": [played[i].episode.messages for i in members],
                }
            )
        return rows


def trainer_rows(played: Sequence[Played], dead: Collection[int]) -> dict[str, Any]:
    """Tokens as TRL wants them; env_mask is 1 on the model's own tokens.

    dead: the rows of tied groups. Their advantage is zero, so they are dropped as the published recipe drops them: a
    row must stay for TRL, and holds one token that is in no loss.
    """
    prompt_ids, completion_ids, masks = [], [], []
    for number, item in enumerate(played):
        first = item.spans[0][0]
        if number in dead:
            prompt_ids.append(item.ids[:first])
            completion_ids.append(item.ids[first : first + 1])
            masks.append([0])
            continue
        own = [0] * (len(item.ids) - first)
        for begin, end in item.spans:
            own[begin - first : end - first] = [1] * (end - begin)
        prompt_ids.append(item.ids[:first])
        completion_ids.append(item.ids[first:])
        masks.append(own)
    return {"prompt_ids": prompt_ids, "completion_ids": completion_ids, "logprobs": None, "env_mask": masks}


def summary(
    step: int,
    groups: Sequence[dict[str, Any]],
    played: Sequence[Played],
    outcomes: Sequence[Outcome],
    grades: Sequence[bool],
) -> dict[str, Any]:
    """One step in numbers; rates are over its rollouts, `kept` are the groups that are not tied."""
    rewards = [reward for group in groups for reward in group["rewards"] if reward is not None]
    tied = sum(group["tied"] for group in groups)
    return {
        "step": step,
        "groups": len(groups),
        "tied": tied,
        "kept": len(groups) - tied,
        "tied_fraction": tied / len(groups),
        "rollouts": len(played),
        "errors": len(played) - len(rewards),
        "reward_mean": fmean(rewards) if rewards else None,
        "reward_std": pstdev(rewards) if rewards else None,
        "valid_rate": fmean(outcome["valid"] for outcome in outcomes),
        "success_rate": fmean(outcome["success"] for outcome in outcomes),
        "graded_rate": fmean(grades),
        "new_tokens_mean": fmean(item.new_tokens for item in played),
        "new_tokens_max": max(item.new_tokens for item in played),
        "turns_mean": fmean(len(item.replies) for item in played),
        "truncated": sum(item.truncated for item in played),
    }


def score(completions: list[str], score: list[float | None], **_: Any) -> list[float | None]:
    """TRL's reward function: the reward that the rollout already has; None (an infrastructure error) is left out."""
    return score


def train(
    run: Run,
    rlvr: Rlvr,
    domain: Domain,
    prompts: Sequence[tuple[Any, list[Message]]],
    *,
    model: Path,
    max_length: int,
    until: int,
    work: Path,
) -> Path:
    """Train up to step `until`, going on from the last checkpoint in `work`; returns that step's checkpoint.

    work holds checkpoints, `steps.jsonl` (a line a step) and `groups.jsonl.zst` (a frame a step).
    """
    from datasets import Dataset
    from transformers.trainer_utils import get_last_checkpoint

    work.mkdir(parents=True, exist_ok=True)
    checkpoint = get_last_checkpoint(str(work))
    done = int(checkpoint.rsplit("-", 1)[1]) if checkpoint else 0
    trim(work, done)
    if done < until:
        rollouts = Rollouts(run, rlvr, domain, prompts, max_length=max_length, work=work)
        table = Dataset.from_list([{"prompt": prompt(messages)} for _, messages in batches(prompts, run, rlvr)])
        trainer = make_trainer(run, rlvr, table, rollouts, model=model, until=until, work=work)
        trainer.train(resume_from_checkpoint=checkpoint)
        checkpoint = get_last_checkpoint(str(work))
    if checkpoint is None or not checkpoint.endswith(f"-{until}"):
        raise TrainingError(
            f"{work}: expected a checkpoint of step {until}, found {checkpoint}; remove the folder and rerun"
        )
    return Path(checkpoint)


def trim(work: Path, done: int) -> None:
    """Forget the records of steps after the checkpoint: they will be played again."""
    steps = work / "steps.jsonl"
    kept = [line for line in read_steps(steps) if line["step"] <= done]
    steps.write_text("".join(json.dumps(line) + "\n" for line in kept))
    frames = work / "groups.jsonl.zst"
    whole = [rows for rows in read_frames(frames) if rows[0]["step"] <= done]
    rest = frames.with_suffix(".part")
    rest.unlink(missing_ok=True)
    for rows in whole:
        append_frame(rest, rows)
    if whole:
        os.replace(rest, frames)
    else:
        frames.unlink(missing_ok=True)


def read_steps(path: Path) -> list[dict[str, Any]]:
    """The records of a training's steps; a torn last line is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def make_trainer(run: Run, rlvr: Rlvr, table: Any, rollouts: Rollouts, *, model: Path, until: int, work: Path) -> Any:
    """A GRPOTrainer on the CPU or GPU at hand: one generation an optimizer step, prompts in the table's order."""
    import torch
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig

    from tiebreak.training.trimmed import TrimmedTrainer

    hush()

    class Recorder(TrainerCallback):
        """Joins what the rollouts know with what the trainer measured, a line a step."""

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
            if logs and "reward" in logs:
                measured = {name: logs.get(name) for name in ("loss", "kl", "entropy", "grad_norm", "learning_rate")}
                total = logs.get("step_time")
                seconds = {"seconds_update": total - rollouts.latest["seconds_rollouts"] if total else None}
                with (work / "steps.jsonl").open("a") as file:
                    file.write(json.dumps(rollouts.latest | measured | seconds) + "\n")

    rows = rlvr.prompts * rlvr.group
    micro = next(size for size in range(min(MICRO_BATCH, rows), 0, -1) if rows % size == 0)
    torch.manual_seed(run.seed("adapter") % 2**32)
    config = GRPOConfig(
        output_dir=str(work),
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=rows // micro,
        num_generations=rlvr.group,
        max_steps=until,
        learning_rate=rlvr.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=0.0,
        max_grad_norm=1.0,
        beta=rlvr.anchor,
        temperature=rlvr.temperature,
        max_completion_length=rollouts.max_length,
        scale_rewards="group",
        shuffle_dataset=False,
        seed=run.seed("trainer") % 2**32,
        use_cpu=not torch.cuda.is_available(),
        bf16=torch.cuda.is_available(),
        gradient_checkpointing=False,
        logging_steps=1,
        save_steps=1,
        save_total_limit=1,
        report_to="none",
        dataloader_pin_memory=False,
        model_init_kwargs={"dtype": "float32"},
    )
    trainer = TrimmedTrainer(
        model=str(model),
        reward_funcs=score,
        args=config,
        train_dataset=table,
        processing_class=AutoTokenizer.from_pretrained(model),
        rollout_func=rollouts,
        callbacks=[Recorder()],
        peft_config=adapter_config(rlvr.lora_rank),
    )
    show(trainer, f"{run.arm} seed {run.training_seed}", lambda _: numbers(rollouts.latest))
    return trainer


def numbers(step: dict[str, Any]) -> dict[str, str]:
    """What stands behind the progress bar: the latest step's reward, live groups and solved share."""
    if not step:
        return {}
    return {
        "reward": f"{step['reward_mean'] or 0:.2f}",
        "tied": f"{step['tied_fraction']:.2f}",
        "graded": f"{step['graded_rate']:.2f}",
    }


def adapter_config(rank: int) -> Any:
    """LoRA on every projection; None where all weights are trained."""
    from peft import LoraConfig

    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    return LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=targets, task_type="CAUSAL_LM") if rank else None


def export(checkpoint: Path, out: Path) -> None:
    """The trained weights and tokenizer of a checkpoint, without its optimizer and trainer state."""
    left_out = shutil.ignore_patterns("optimizer*", "scheduler*", "rng_state*", "trainer_state*", "training_args*")
    shutil.copytree(checkpoint, out, ignore=left_out, dirs_exist_ok=True)
