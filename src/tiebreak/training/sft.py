"""Supervised fine-tuning on traces: the loss on the assistant's own turns, nothing cut, nothing dropped."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tiebreak import tables
from tiebreak.errors import TrainingError
from tiebreak.sections.sft import Sft
from tiebreak.seeds import derive
from tiebreak.training.base import save
from tiebreak.training.encode import Encoded, encode
from tiebreak.training.supervised import Recipe, train, write_log


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
    return statistics(rows)


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


def encoded(traces: Path, tokenizer: Any, context_weight: float, max_length: int) -> list[Encoded]:
    """Every trace of a table, encoded. Raises TrainingError for one that is too long, or teaches nothing."""
    rows = []
    for row in tables.read_table(traces, ["case_id", "turns"]).to_pylist():
        item = encode(tokenizer, row["turns"], context_weight)
        if len(item.ids) > max_length:
            raise TrainingError(
                f"{traces}: the trace of case {row['case_id']} has {len(item.ids)} tokens, model.max_length (or "
                f"sft.large.max_length) is {max_length}; raise it or make shorter cases (traces are never cut)"
            )
        if 1.0 not in item.weights:
            raise TrainingError(f"{traces}: the trace of case {row['case_id']} has no turn to learn from")
        rows.append(item)
    return rows


def statistics(rows: Sequence[Encoded]) -> dict[str, Any]:
    """Token counts of encoded traces."""
    lengths = sorted(len(row.ids) for row in rows)
    return {
        "traces": len(rows),
        "tokens": sum(lengths),
        "tokens_learned": sum(weight == 1.0 for row in rows for weight in row.weights),
        "tokens_median": lengths[len(lengths) // 2],
        "tokens_max": lengths[-1],
        "truncated": 0,
    }
