"""Supervised fine-tuning on traces: the loss on the assistant's own turns, nothing cut, nothing dropped."""

from pathlib import Path
from typing import Any

from tiebreak.sections.sft import Sft
from tiebreak.seeds import derive
from tiebreak.training.base import save
from tiebreak.training.supervised import Recipe, train, write_log
from tiebreak.training.tokens import encoded, statistics


def train_sft(
    sft: Sft, *, traces: Path, base: Path, max_length: int, root_seed: int, out: Path, steps: Path, work: Path
) -> dict[str, Any]:
    """Train the model of folder `base` on the traces and write it to `out`; returns what was learned from, in numbers.

    Raises TrainingError naming the trace where one is longer than `max_length` tokens.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = encoded(traces, tokenizer, sft.context_weight, max_length)
    model = AutoModelForCausalLM.from_pretrained(base, dtype="float32")
    recipe = Recipe(sft.batch, sft.epochs, sft.learning_rate, sft.optimizer, matrix_rate=sft.matrix_learning_rate)
    log = train(model, tokenizer, rows, recipe, seed=derive(root_seed, "sft"), work=work, label="sft")
    write_log(steps, log)
    save(model, tokenizer, out)
    return statistics(rows, max_length)
