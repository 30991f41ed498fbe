"""Supervised fine-tuning on traces: the loss on the assistant's own turns, nothing cut, nothing dropped."""

from collections.abc import Sequence
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
    return statistics(rows)


def encoded(traces: Path, tokenizer: Any, context_weight: float, max_length: int) -> list[Encoded]:
    """Every trace of a table, encoded. Raises TrainingError for one that is too long, or teaches nothing."""
    rows = []
    for row in tables.read_table(traces, ["case_id", "turns"]).to_pylist():
        item = encode(tokenizer, row["turns"], context_weight)
        if len(item.ids) > max_length:
            raise TrainingError(
                f"{traces}: the trace of case {row['case_id']} has {len(item.ids)} tokens, model.max_length is "
                f"{max_length}; raise it or make shorter cases (traces are never cut)"
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
