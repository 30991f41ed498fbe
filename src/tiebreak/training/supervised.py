"""Weighted next-token training on encoded sequences, with TRL's SFTTrainer: the base's warm-up and the SFT stage."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

import torch

from tiebreak.training.checkpoints import last_checkpoint
from tiebreak.training.encode import Encoded
from tiebreak.training.optim import Name, make_optimizer
from tiebreak.training.progress import hush, loss_only, show
from tiebreak.training.resolved import keep_resolved

WINDOW = 16


@dataclass(frozen=True)
class Recipe:
    """How to train. A step has batch × accumulation sequences; warm-up and decay are fractions of all steps."""

    batch: int
    epochs: int
    learning_rate: float
    optimizer: Name = "adamw"
    matrix_rate: float = 0.02
    accumulation: int = 1
    warmup: float = 0.02
    decay: float = 0.3
    checkpointing: bool = False
    schedule: Literal["warmup_stable_decay", "cosine"] = "warmup_stable_decay"

    def decay_steps(self, steps: int) -> dict[str, int]:
        """What the schedule is told beside its warm-up: where the decay begins; a cosine decays from there on."""
        return {"num_decay_steps": int(self.decay * steps)} if self.schedule == "warmup_stable_decay" else {}


class WeightedCollator:
    """Right-pads a batch; `weights` of padding are 0."""

    def __init__(self, pad_id: int) -> None:
        self.pad_id = pad_id

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Tensors (rows, tokens): input_ids, attention_mask, weights; and `total` where the rows have it."""
        width = max(len(row["input_ids"]) for row in rows)
        ids = [row["input_ids"] + [self.pad_id] * (width - len(row["input_ids"])) for row in rows]
        mask = [[1] * len(row["input_ids"]) + [0] * (width - len(row["input_ids"])) for row in rows]
        weights = [row["weights"] + [0.0] * (width - len(row["weights"])) for row in rows]
        totals = {"total": torch.tensor(rows[0]["total"])} if "total" in rows[0] else {}
        return totals | {
            "input_ids": torch.tensor(ids),
            "attention_mask": torch.tensor(mask),
            "weights": torch.tensor(weights, dtype=torch.float32),
        }


def weighted_loss(
    logits_RTV: torch.Tensor, ids_RT: torch.Tensor, weights_RT: torch.Tensor, total: torch.Tensor | None = None
) -> torch.Tensor:
    """Mean next-token cross entropy in nats, each target token counted with its weight.

    total: what to divide by instead of the weights here, for a part of a step.
    """
    targets, weights = ids_RT[:, 1:], weights_RT[:, 1:]
    seen = weights > 0
    losses = torch.nn.functional.cross_entropy(logits_RTV[:, :-1][seen].float(), targets[seen], reduction="none")
    whole = weights[seen].sum() if total is None else total
    return (losses * weights[seen]).sum() / whole.clamp(min=1e-9)


def step_totals(picked: Sequence[Encoded], recipe: Recipe) -> list[float]:
    """For each row the weight of all target tokens of its step, divided by the micro-batches of a step.

    The trainer averages over micro-batches; with this divisor its average is the mean over the step's tokens, and a
    short trace counts no more than its tokens.
    """
    size = recipe.batch * recipe.accumulation
    sums = [sum(row.weights[1:]) for row in picked]
    starts = [number - number % size for number in range(len(picked))]
    return [sum(sums[start : start + size]) / recipe.accumulation for start in starts]


def order(lengths: Sequence[int], batch: int, epochs: int, seed: int) -> list[int]:
    """Row numbers for all steps: each pass in batches of like lengths, the batches in random order.

    Sorting inside windows of a pass saves most of the padding; shuffling whole batches keeps short and long traces
    mixed over time (a trainer's own grouping by length goes from long to short inside a window, and the loss with it).
    """
    rng, rows = Random(seed), []
    for _ in range(epochs):
        shuffled = list(range(len(lengths)))
        rng.shuffle(shuffled)
        window = batch * WINDOW
        batches = []
        for start in range(0, len(shuffled), window):
            part = sorted(shuffled[start : start + window], key=lengths.__getitem__)
            batches += [part[first : first + batch] for first in range(0, len(part), batch)]
        short = [part for part in batches if len(part) < batch]
        whole = [part for part in batches if len(part) == batch]
        rng.shuffle(whole)
        rows += [row for part in [*whole, *short] for row in part]
    return rows


def train(
    model: Any, tokenizer: Any, rows: Sequence[Encoded], recipe: Recipe, *, seed: int, work: Path, label: str
) -> list[dict[str, Any]]:
    """Train `model` in place on `rows`, going on from the last checkpoint in `work`; returns the log's lines.

    Nothing is cut and nothing is dropped: the caller has checked lengths.
    """
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    hush()

    class WeightedTrainer(SFTTrainer):
        def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> Any:
            output = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], use_cache=False)
            return weighted_loss(output.logits, inputs["input_ids"], inputs["weights"], inputs.get("total"))

    steps = max(1, recipe.epochs * len(rows) // (recipe.batch * recipe.accumulation))
    config = SFTConfig(
        output_dir=str(work),
        per_device_train_batch_size=recipe.batch,
        gradient_accumulation_steps=recipe.accumulation,
        max_steps=steps,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        lr_scheduler_kwargs=recipe.decay_steps(steps),
        warmup_steps=int(recipe.warmup * steps),
        max_grad_norm=1.0,
        max_length=None,
        seed=seed % 2**32,
        data_seed=seed % 2**32,
        use_cpu=not torch.cuda.is_available(),
        bf16=torch.cuda.is_available(),
        gradient_checkpointing=recipe.checkpointing,
        train_sampling_strategy="sequential",
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        dataloader_pin_memory=False,
        logging_steps=max(1, steps // 100),
        save_steps=max(1, steps // 4),
        save_total_limit=1,
        report_to="none",
    )
    picked = [rows[row] for row in order([len(row.ids) for row in rows], recipe.batch, recipe.epochs, seed)]
    table = Dataset.from_list([{"input_ids": row.ids, "weights": row.weights} for row in picked])
    if recipe.accumulation > 1:
        table = table.add_column("total", step_totals(picked, recipe))
    keep_resolved(config, work)
    trainer = WeightedTrainer(
        model=model,
        args=config,
        train_dataset=table,
        processing_class=tokenizer,
        data_collator=WeightedCollator(tokenizer.pad_token_id),
        optimizers=(make_optimizer(model, recipe.optimizer, recipe.learning_rate, recipe.matrix_rate), None),
    )
    show(trainer, label, loss_only)
    checkpoint = last_checkpoint(work)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return [{"stage": label, **line} for line in trainer.state.log_history]


def write_log(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write a training's log, one JSON object a line."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
