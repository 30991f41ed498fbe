"""Supervised fine-tuning on traces: the loss on the assistant's own turns, nothing cut, nothing dropped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tiebreak.sections.sft import Sft
from tiebreak.seeds import derive
from tiebreak.training.base import save
from tiebreak.training.supervised import Recipe, train, write_log
from tiebreak.training.tokens import encoded, statistics


def train_sft(
    sft: Sft,
    *,
    traces: Path,
    base: Path,
    max_length: int,
    root_seed: int,
    out: Path,
    steps: Path,
    work: Path,
    dtype: str = "float32",
) -> dict[str, Any]:
    """Train the model of folder `base` on the traces and write it to `out`; returns what was learned from, in numbers.

    Raises TrainingError naming the trace where one is longer than `max_length` tokens (or `sft.large.max_length`).
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    longest = max_length if sft.large is None else min(max_length, sft.large.max_length or max_length)
    rows = encoded(traces, tokenizer, sft.context_weight, longest)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=dtype)
    log = train(model, tokenizer, rows, recipe_of(sft), seed=derive(root_seed, "sft"), work=work, label="sft")
    write_log(steps, log)
    save(model, tokenizer, out)
    return statistics(rows, longest)


def recipe_of(sft: Sft) -> Recipe:
    """The recipe of a study's section."""
    recipe = Recipe(sft.batch, sft.epochs, sft.learning_rate, sft.optimizer, matrix_rate=sft.matrix_learning_rate)
    if sft.large is None:
        return recipe
    return replace(
        recipe,
        batch=sft.large.micro_batch,
        accumulation=sft.batch // sft.large.micro_batch,
        checkpointing=sft.large.gradient_checkpointing,
        schedule=sft.large.schedule,
        warmup=sft.large.warmup,
    )
