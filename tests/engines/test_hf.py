"""The cached, batched sampler is the plain model: every draw is what one full forward pass of that row alone gives."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from tiebreak.engines import hf
from tiebreak.engines.base import Sampling
from tiebreak.engines.hf import HfEngine, draw, uniforms
from tiebreak.errors import EngineError
from tiebreak.training.tiny import new_model, tiny_config
from tiebreak.training.tokenizer import train_tokenizer

TEXT = "<|im_start|>user\nfix line {n} of the crate, then run it\n<|im_end|>\n\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def engine() -> HfEngine:
    torch.set_num_threads(1)
    tokenizer = train_tokenizer([TEXT.format(n=n) for n in range(50)], 400)
    config = tiny_config(tokenizer, hidden=32, layers=2, heads=2, kv_heads=1, feed_forward=48, rope_theta=500.0)
    return HfEngine(new_model(config, 3), tokenizer, Sampling(1.0, 24, 160))


@pytest.fixture(scope="module")
def certain(engine: HfEngine) -> HfEngine:
    """The same model with hardly any choice: it falls into loops, so guesses are mostly right."""
    return HfEngine(engine.model, engine.tokenizer, Sampling(0.02, 24, 200))


def redrawn(engine: HfEngine, context: list[int], count: int, seed: int) -> list[int]:
    """The last `count` tokens of a context, drawn again from one pass over it without any cache."""
    with torch.inference_mode():
        logits = engine.model(input_ids=torch.tensor([context])).logits[0]
    noise = uniforms([seed], max(1, engine.sampling.turn_tokens))[0]
    first = len(context) - count
    warmth = engine.sampling.temperature
    return [int(draw(logits[first - 1 + i : first + i], noise[i : i + 1], warmth)) for i in range(count)]


def converse(engine: HfEngine, rows: int, keep: Sequence[int]) -> tuple[object, list[list[int]]]:
    session = engine.session(rows)
    first = session.reply(range(rows), [TEXT.format(n=row) * (1 + row % 3) for row in range(rows)], range(rows))
    second = session.reply(keep, [f"\n\nanswer {row}\n" for row in keep], [1000 + row for row in keep])
    return session, [reply.ids for reply in (*first, *second)]


def test_every_draw_equals_the_uncached_model(engine: HfEngine) -> None:
    rows, keep = 9, [0, 3, 4, 8]
    session, ids = converse(engine, rows, keep)
    for row, tokens in zip(keep, ids[rows:], strict=True):
        assert redrawn(engine, session.context[row], len(tokens), 1000 + row) == tokens  # type: ignore[attr-defined]


def test_right_guesses_change_no_draw_and_save_passes(certain: HfEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = {0: 0, 6: 0}
    ids = {}
    forward = certain.forward
    for lookahead in passes:
        monkeypatch.setattr(hf, "LOOKAHEAD", lookahead)

        def counted(*all: Any, lookahead: int = lookahead) -> torch.Tensor:
            passes[lookahead] += 1
            return forward(*all)

        monkeypatch.setattr(certain, "forward", counted)
        session, ids[lookahead] = converse(certain, 9, [0, 3, 4, 8])
    assert ids[0] == ids[6]
    assert passes[6] < passes[0]
    for row, tokens in zip([0, 3, 4, 8], ids[6][9:], strict=True):
        assert redrawn(certain, session.context[row], len(tokens), 1000 + row) == tokens  # type: ignore[attr-defined]


def test_equal_conversations_are_read_once_and_drawn_apart(engine: HfEngine) -> None:
    session = engine.session(6)
    texts = [TEXT.format(n=row // 3) for row in range(6)]
    first = [reply.ids for reply in session.reply(range(6), texts, [1, 2, 3, 1, 2, 2])]
    assert first[4] == first[5] and len({tuple(ids) for ids in first[:3]}) == 3
    again = session.reply([4, 5], ["\nand so on\n"] * 2, [7, 8])
    for row, seed, reply in zip([4, 5], [7, 8], again, strict=True):
        assert redrawn(engine, session.context[row], len(reply.ids), seed) == reply.ids


def test_a_repeat_gives_the_same_tokens(engine: HfEngine) -> None:
    assert converse(engine, 7, [1, 2, 6])[1] == converse(engine, 7, [1, 2, 6])[1]


def test_limits_cut_a_turn_and_the_context(engine: HfEngine) -> None:
    session = engine.session(1)
    room = engine.sampling.max_length - len(engine.encode("\n"))
    reply = session.reply([0], ["\n" * (room - 4)], [5])[0]
    assert len(session.context[0]) <= engine.sampling.max_length
    assert reply.complete or len(reply.ids) <= engine.sampling.turn_tokens
    full = session.reply([0], ["\n" * engine.sampling.max_length], [6])[0]
    assert (full.ids, full.complete) == ([], False)


def test_a_dropped_row_cannot_go_on(engine: HfEngine) -> None:
    session, _ = converse(engine, 4, [1])
    with pytest.raises(EngineError, match=r"rows \[2\]"):
        session.reply([2], ["\n"], [1])  # type: ignore[attr-defined]


def test_drawing_follows_the_distribution() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.125, 0.125]])).repeat(20_000, 1)
    chosen = draw(logits, torch.rand(20_000, generator=torch.Generator().manual_seed(1)), 1.0)
    shares = torch.bincount(chosen, minlength=4) / 20_000
    assert torch.allclose(shares, torch.tensor([0.5, 0.25, 0.125, 0.125]), atol=0.012)


def test_temperature_zero_is_greedy_and_the_ends_of_the_unit_interval_are_safe() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0]])
    assert draw(logits, torch.zeros(1), 0).tolist() == [1]
    assert draw(logits, torch.zeros(1), 1.0).tolist() == [0]
    assert draw(logits, torch.tensor([1 - 2**-24]), 1.0).tolist() == [2]


def test_a_token_with_probability_zero_is_never_drawn() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf]]).repeat(3, 1)
    assert draw(logits, torch.tensor([0.0, 0.5, 1 - 2**-24]), 1.0).tolist() == [1, 1, 1]
