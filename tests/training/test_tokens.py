"""SFT's traces in tokens: numbers that add up, a sample that is the trained bytes, and no trace is ever cut."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from tiebreak import tables
from tiebreak.chat import render
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import TrainingError
from tiebreak.seeds import stream
from tiebreak.training.encode import Encoded
from tiebreak.training.tokens import SAMPLE, encoded, percentile, read_traces, sample, statistics


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of a few real cases, with detours, as a table."""
    from tiebreak.domains.rust.generator import generate

    root = tmp_path_factory.mktemp("traces")
    cases = generate("all", 9, 11)
    played = RustDomain(Judge(root / "verdicts")).traces(cases, lambda case: stream(1, case.case_id), 0.9)
    labels = ("case_id", "family", "template", "difficulty")
    rows = [
        {key: getattr(case, key) for key in labels} | {"turns": turns}
        for case, turns in zip(cases, played, strict=True)
    ]
    tables.write_table(root / "sft.parquet", rows, tables.SFT)
    return root / "sft.parquet"


@pytest.fixture(scope="module")
def tokenizer(model_folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(model_folder)


def test_statistics_count_every_token_once(traces: Path, tokenizer: Any) -> None:
    rows = encoded(traces, tokenizer, 0.0, 99_999)
    found = statistics(rows, 99_999)
    assert found["traces"] == 9 and found["tokens"] == sum(len(row.ids) for row in rows) and found["truncated"] == 0
    texts = [turn["content"] for row in read_traces(traces) for turn in row["turns"] if turn["loss"]]
    learned = sum(len(tokenizer(f"{text}\n<|im_end|>", add_special_tokens=False)["input_ids"]) for text in texts)
    assert found["tokens_learned"] == learned
    assert 0 < found["share_learned"] == pytest.approx(learned / found["tokens"], abs=1e-6)
    assert found["tokens_min"] <= found["tokens_median"] <= found["tokens_p90"] <= found["tokens_max"] <= 99_999


def test_an_over_long_trace_is_named_with_its_length_and_the_mend(traces: Path, tokenizer: Any) -> None:
    rows = encoded(traces, tokenizer, 0.0, 99_999)
    lengths = [len(row.ids) for row in rows]
    longest = read_traces(traces)[lengths.index(max(lengths))]["case_id"]
    assert encoded(traces, tokenizer, 0.0, max(lengths)) == rows, "at the limit nothing is cut"
    with pytest.raises(TrainingError) as caught:
        encoded(traces, tokenizer, 0.0, max(lengths) - 1)
    assert str(caught.value) == (
        f"{traces}: the trace of case {longest} has {max(lengths)} tokens, model.max_length (or "
        f"sft.large.max_length) is {max(lengths) - 1}; raise it or make shorter cases (traces are never cut)"
    )


def test_the_sample_is_what_the_model_is_trained_on(traces: Path, tokenizer: Any) -> None:
    rows, items = read_traces(traces), encoded(traces, tokenizer, 0.0, 99_999)
    lengths = [len(item.ids) for item in items]
    found = sample(rows, lengths, tokenizer)
    assert len(found) == SAMPLE and len({one["case_id"] for one in found}) == SAMPLE
    sizes = [one["tokens"] for one in found]
    assert sizes == sorted(sizes) and (sizes[0], sizes[-1]) == (min(lengths), max(lengths))
    for one in found:
        place = next(place for place, row in enumerate(rows) if row["case_id"] == one["case_id"])
        turns = [{"role": turn["role"], "content": turn["content"]} for turn in rows[place]["turns"]]
        assert "".join(piece["text"] for piece in one["pieces"]) == render(turns)  # type: ignore[arg-type]
        assert sum(piece["tokens"] for piece in one["pieces"]) == one["tokens"]
        learned = sum(piece["tokens"] for piece in one["pieces"] if piece["loss"])
        assert learned == sum(weight == 1.0 for weight in items[place].weights)
        assert all(piece["own"] for piece in one["pieces"] if piece["loss"])
    masked = [piece for one in found for piece in one["pieces"] if piece["own"] and not piece["loss"]]
    assert masked and all(piece["text"].startswith("CALL apply_patch") for piece in masked), "mistakes are not learned"


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 20])
def test_a_sample_of_few_or_many(count: int, tokenizer: Any) -> None:
    turns = [{"role": "user", "content": "go", "loss": False}, {"role": "assistant", "content": "FINAL:", "loss": True}]
    rows = [{"case_id": f"c{at:02}", "family": "f", "difficulty": "easy", "turns": turns} for at in range(count)]
    found = sample(rows, list(range(count)), tokenizer)
    assert [one["tokens"] for one in found] == sorted({one["tokens"] for one in found})
    assert len(found) == min(count, SAMPLE) and (found[0]["tokens"], found[-1]["tokens"]) == (0, count - 1)


@given(st.lists(st.integers(1, 999), min_size=1), st.sampled_from([1, 50, 90, 100]))
def test_percentiles_are_nearest_ranks(values: list[int], share: int) -> None:
    assert percentile(sorted(values), share) == np.percentile(values, share, method="inverted_cdf")


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9))
def test_the_share_is_of_all_tokens(lengths: list[int]) -> None:
    rows = [Encoded([5] * length, [1.0] * length, length // 2) for length in lengths]
    found = statistics(rows, 30)
    assert found["tokens_learned"] == sum(length // 2 for length in lengths)
    assert found["share_learned"] == pytest.approx(found["tokens_learned"] / sum(lengths), abs=1e-6)
