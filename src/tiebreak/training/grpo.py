"""RLVR with TRL's GRPOTrainer, its rollouts played by our own loop: one training of one arm, resumable at every step.

Rollouts draw from named seeds and the prompt order is fixed beforehand, so nothing depends on the trainer's own random
state; a training that stops after the trial and goes on later is the training that never stopped.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tiebreak.chat import Message, prompt
from tiebreak.domains.base import Domain
from tiebreak.engines.vllm import Serving
from tiebreak.errors import TrainingError
from tiebreak.frames import append_frame, read_frames
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training.checkpoints import last_checkpoint, step_of
from tiebreak.training.groups import Rollouts, score
from tiebreak.training.pool import Share, batches
from tiebreak.training.progress import hush, show
from tiebreak.training.resolved import keep_engine, keep_resolved
from tiebreak.training.run import Run
from tiebreak.training.served import open_served

MICRO_BATCH = 32


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
    shares: Sequence[Share] = (),
    serving: Serving | None = None,
) -> Path:
    """Train up to step `until`, going on from the last checkpoint in `work`; returns that step's checkpoint.

    work holds checkpoints, `steps.jsonl` (a line a step) and `groups.jsonl.zst` (a frame a step). serving: a server
    that plays the rollouts; None plays them in this process.
    """
    work.mkdir(parents=True, exist_ok=True)
    checkpoint = last_checkpoint(work)
    done = step_of(checkpoint) if checkpoint else 0
    trim(work, done)
    if done < until:
        rollouts = Rollouts(run, rlvr, domain, prompts, max_length=max_length, work=work)
        with playing(rollouts, serving):
            table = prompt_table(batches(prompts, run, rlvr, shares))
            trainer = make_trainer(run, rlvr, table, rollouts, model=model, until=until, work=work, serving=serving)
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        checkpoint = last_checkpoint(work)
    if checkpoint is None or step_of(checkpoint) < until:
        raise TrainingError(f"{work}: expected a checkpoint of step {until}, found {checkpoint}; remove the folder")
    return checkpoint


def prompt_table(order: Sequence[tuple[Any, list[Message]]]) -> Any:
    """The prompts of all steps as TRL wants them."""
    from datasets import Dataset

    return Dataset.from_list([{"prompt": prompt(messages)} for _, messages in order])


@contextmanager
def playing(rollouts: Rollouts, serving: Serving | None) -> Iterator[None]:
    """Around a training: the server that plays its rollouts, if one does."""
    if serving is None:
        yield
        return
    from transformers import AutoTokenizer

    tokenizer, rounds = AutoTokenizer.from_pretrained(serving.model), rollouts.rlvr.tool_rounds
    with open_served(serving, tokenizer, rollouts.sampling, rollouts.work, tool_rounds=rounds) as served:
        rollouts.player = served
        keep_engine(served.engine.describe(), rollouts.work)
        yield


def trim(work: Path, done: int) -> None:
    """Forget the records of steps after the checkpoint: they will be played again."""
    steps = work / "steps.jsonl"
    kept = [line for line in read_steps(steps) if line["step"] <= done]
    unfinished = steps.with_suffix(".part")
    unfinished.write_text("".join(json.dumps(line) + "\n" for line in kept))
    os.replace(unfinished, steps)
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


def make_trainer(
    run: Run,
    rlvr: Rlvr,
    table: Any,
    rollouts: Rollouts,
    *,
    model: Path,
    until: int,
    work: Path,
    serving: Serving | None = None,
) -> Any:
    """A GRPOTrainer on the CPU or GPU at hand: one generation an optimizer step, prompts in the table's order.

    Beside a server the weights, which an adapter leaves as they are, have the server's precision; on a GPU activations
    are computed again in the backward pass.
    """
    import torch
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig

    from tiebreak.training.trimmed import TrimmedTrainer

    hush()

    class Recorder(TrainerCallback):
        """Joins what the rollouts know with what the trainer measured, a line a step."""

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
            if logs and "reward" in logs:
                live = rollouts.latest["kept"] > 0  # without a live group there is nothing that these could measure
                names = ("loss", "kl", "entropy", "grad_norm", "learning_rate")
                measured = {name: logs.get(name) if live else None for name in names}
                total = logs.get("step_time")
                seconds = {"seconds_update": total - rollouts.latest["seconds_rollouts"] if total else None}
                with (work / "steps.jsonl").open("a") as file:
                    file.write(json.dumps(rollouts.latest | measured | seconds) + "\n")

    rows = rlvr.prompts * rlvr.group
    most = min(rlvr.micro_batch or MICRO_BATCH, rows)
    micro = next(size for size in range(most, 0, -1) if rows % size == 0)
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
        gradient_checkpointing=serving is not None and serving.device == "cuda",
        logging_steps=1,
        save_steps=1,
        save_total_limit=1,
        report_to="none",
        dataloader_pin_memory=False,
        model_init_kwargs={"dtype": serving.dtype if serving else "float32"},
    )
    keep_resolved(config, work)
    trainer = TrimmedTrainer(
        model=str(model),
        reward_funcs=score,
        args=config,
        train_dataset=table,
        processing_class=AutoTokenizer.from_pretrained(model),
        rollout_func=rollouts,
        callbacks=[Recorder()],
        peft_config=adapter_config(rlvr),
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


def adapter_config(rlvr: Rlvr) -> Any:
    """The study's LoRA; None where all weights are trained."""
    from peft import LoraConfig

    if not rlvr.lora_rank:
        return None
    settings = rlvr.lora_settings
    return LoraConfig(
        r=rlvr.lora_rank,
        lora_alpha=rlvr.lora_alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.targets),
        task_type="CAUSAL_LM",
    )


def export(checkpoint: Path, out: Path) -> None:
    """The trained weights and tokenizer of a checkpoint, without its optimizer and trainer state."""
    left_out = shutil.ignore_patterns("optimizer*", "scheduler*", "rng_state*", "trainer_state*", "training_args*")
    shutil.copytree(checkpoint, out, ignore=left_out, dirs_exist_ok=True)
