"""Order, weights and restarts of supervised training."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.digest import file_digest
from tiebreak.training.encode import Encoded
from tiebreak.training.optim import make_optimizer
from tiebreak.training.supervised import Recipe, WeightedCollator, order, train, weighted_loss


@given(st.lists(st.integers(1, 900), max_size=80), st.integers(1, 8), st.integers(1, 3), st.integers(0, 9))
def test_every_pass_shows_every_row_once(lengths: list[int], batch: int, epochs: int, seed: int) -> None:
    rows = order(lengths, batch, epochs, seed)
    size = len(lengths)
    assert len(rows) == size * epochs
    assert all(sorted(rows[size * e : size * (e + 1)]) == list(range(size)) for e in range(epochs))
    assert rows == order(lengths, batch, epochs, seed)


def test_batches_hold_like_lengths_and_come_in_random_order() -> None:
    lengths = [(37 * n) % 500 + 1 for n in range(1024)]
    rows = order(lengths, 8, 1, 3)
    batches = [[lengths[row] for row in rows[start : start + 8]] for start in range(0, 1024, 8)]
    padding = sum(max(batch) * 8 - sum(batch) for batch in batches)
    unsorted = [lengths[start : start + 8] for start in range(0, 1024, 8)]
    assert padding < 0.2 * sum(max(batch) * 8 - sum(batch) for batch in unsorted)
    longest = [max(batch) for batch in batches]
    assert longest != sorted(longest) and longest != sorted(longest, reverse=True)


def test_the_loss_is_the_weighted_mean_over_targets() -> None:
    torch.manual_seed(0)
    logits, ids = torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))
    weights = torch.tensor([[9.0, 1, 0, 0.5, 0], [9.0, 0, 0, 0.25, 2]])
    logp = logits.log_softmax(-1)
    expected = total = 0.0
    for row in range(2):
        for at in range(1, 5):
            expected -= float(weights[row, at]) * float(logp[row, at - 1, ids[row, at]])
            total += float(weights[row, at])
    assert float(weighted_loss(logits, ids, weights)) == pytest.approx(expected / total, rel=1e-5)


def test_padding_has_no_weight() -> None:
    batch = WeightedCollator(0)(
        [{"input_ids": [5, 6, 7], "weights": [0.0, 1.0, 1.0]}, {"input_ids": [5], "weights": [1.0]}]
    )
    assert batch["input_ids"].tolist() == [[5, 6, 7], [5, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch["weights"].tolist() == [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


def rows() -> list[Encoded]:
    return [Encoded([3 + (n + k) % 20 for k in range(6 + n % 5)], [1.0] * (6 + n % 5)) for n in range(16)]


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_training_is_repeatable_and_a_finished_one_is_not_done_again(
    tmp_path: Path, model_folder: Path, optimizer: str
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    digests = set()
    for work in ("a", "b", "a"):
        model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
        recipe = Recipe(4, 2, 1e-3, optimizer)  # type: ignore[arg-type]
        log = train(model, tokenizer, rows(), recipe, seed=1, work=tmp_path / work, label="test")
        model.save_pretrained(tmp_path / "out")
        digests.add(file_digest(tmp_path / "out" / "model.safetensors"))
        assert [line["step"] for line in log if "loss" in line] == list(range(1, 9))
    assert len(digests) == 1
    assert digests != {file_digest(model_folder / "model.safetensors")}


def test_muon_takes_the_matrices_and_one_scheduler_moves_all_rates(model_folder: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
    optimizer = make_optimizer(model, "muon", 3e-3, 0.02)
    rates = sorted(group["lr"] for group in optimizer.param_groups)
    assert rates == [3e-3, 0.02]
    taken = sum(weight.numel() for group in optimizer.param_groups for weight in group["params"])
    assert taken == sum(weight.numel() for weight in model.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 0.5)
    assert sorted(group["lr"] for group in optimizer.param_groups) == [1.5e-3, 0.01]
    assert scheduler.get_last_lr()


def test_a_step_in_micro_batches_is_the_step_in_one(tmp_path: Path, model_folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    seen = {}
    for micro in (4, 1):
        model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
        recipe = Recipe(micro, 1, 1e-3, accumulation=4 // micro, warmup=0.0)
        part = [Encoded(row.ids[: 3 + 3 * n], row.weights[: 3 + 3 * n]) for n, row in enumerate(rows()[:4])]
        log = train(model, tokenizer, part, recipe, seed=1, work=tmp_path / str(micro), label="test")
        seen[micro] = [line["grad_norm"] for line in log if "grad_norm" in line] + [log[0]["loss"]]
    assert len(seen[4]) == 2 and seen[1] == pytest.approx(seen[4], rel=1e-4)
