"""A base model from scratch, so that a study needs no hub: tokenizer, fresh weights, copy warm-up.

It stands where a big study has Qwen3-4B-Base: it can read and copy the domain's text and knows nothing of the tasks.
"""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from tiebreak.domains.base import Corpus, TraceTurn
from tiebreak.sections.model import Tiny
from tiebreak.seeds import derive
from tiebreak.training.encode import Encoded, encode
from tiebreak.training.supervised import Recipe, train, write_log
from tiebreak.training.tiny import new_model, tiny_config
from tiebreak.training.tokenizer import train_tokenizer

CONTEXT_WEIGHT = 0.2


def make_base(tiny: Tiny, corpus: Corpus, *, root_seed: int, out: Path, steps: Path, work: Path) -> None:
    """Make the tokenizer and the warmed-up model of `tiny` in the folder `out`; `steps` gets the training's log."""
    tokenizer = train_tokenizer(corpus.texts, tiny.vocab, corpus.strings)
    config = tiny_config(
        tokenizer,
        hidden=tiny.hidden,
        layers=tiny.layers,
        heads=tiny.heads,
        kv_heads=tiny.kv_heads,
        feed_forward=tiny.ffn,
        rope_theta=tiny.rope_theta,
    )
    model = new_model(config, derive(root_seed, "base", "weights"))
    recipe = Recipe(tiny.batch, 1, tiny.learning_rate, "muon", matrix_rate=tiny.matrix_learning_rate)
    log: list[dict[str, Any]] = []
    for number, stage in enumerate(corpus.stages if tiny.warmup_tokens else ()):
        rows = exercises(tokenizer, stage.exercises, int(stage.share * tiny.warmup_tokens))
        seed, label = derive(root_seed, "base", "order", number), f"base stage {number}"
        log += train(model, tokenizer, rows, recipe, seed=seed, work=work / str(number), label=label)
    write_log(steps, log)
    save(model, tokenizer, out)


def exercises(tokenizer: Any, traces: Iterable[list[TraceTurn]], tokens: int) -> list[Encoded]:
    """Encoded exercises of at least `tokens` tokens in all."""
    rows, total = [], 0
    for trace in islice(traces, tokens):
        if total >= tokens:
            break
        rows.append(encode(tokenizer, trace, CONTEXT_WEIGHT))
        total += len(rows[-1].ids)
    return rows


def save(model: Any, tokenizer: Any, out: Path) -> None:
    """A model and its tokenizer in one folder, as `from_pretrained` reads them."""
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
