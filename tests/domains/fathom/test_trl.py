"""The reward functions under TRL's conventions."""

from pathlib import Path
from typing import Any

import pytest

from tiebreak.domains.fathom.trl import v1_gate, v2_soft, v3_recursion
from tiebreak.errors import DataError

COLUMNS: dict[str, Any] = {"gold_answer": ["blue", "blue"], "prompt_tokens": [100, 100], "completion_tokens": [9, 9]}
TEXTS = ["<answer>blue</answer>", "blue"]
CHATS = [[{"role": "assistant", "content": text}] for text in TEXTS]


@pytest.mark.parametrize(
    ("function", "values"), [(v1_gate, [1.0, 0.0]), (v2_soft, [1.1, 0.05]), (v3_recursion, [1.1, 0.15])]
)
@pytest.mark.parametrize("completions", [TEXTS, CHATS])
def test_one_float_a_completion(function: Any, values: list[float], completions: Any) -> None:
    found = function(prompts=["q", "q"], completions=completions, **COLUMNS)
    assert found == values
    assert all(type(value) is float for value in found)


def test_what_trl_adds_is_taken() -> None:
    logged: dict[str, float] = {}
    extra = {"trainer_state": object(), "log_extra": print, "log_metric": logged.__setitem__}
    columns = {"gold_answer": ["blue"], "prompt_tokens": [10], "completion_ids": [[1] * 35]}
    assert v1_gate(["q"], TEXTS[:1], **columns, **extra) == [pytest.approx(0.75 + 0.20 * 0.5 + 0.05)]
    assert logged["v1_gate/token_budget"] == pytest.approx(0.10)
    assert v1_gate.__name__ == "v1_gate"


def test_without_counts_lengths_are_estimated_from_characters() -> None:
    chat = [{"role": "system", "content": "x" * 20}, {"role": "user", "content": "x" * 20}]
    long = "<answer>blue</answer>" + "x" * 100
    assert v1_gate([chat], [long], gold_answer=["blue"]) == [pytest.approx(0.8 + 0.2 * (1 - 0.2 * (31 / 11 - 1)))]


def test_a_tool_that_prints_the_answer_has_not_answered() -> None:
    turns = [
        {"role": "assistant", "content": "```python\nprint(1)\n```"},
        {"role": "tool", "content": "<answer>blue</answer>\n```python\nllm(1)\n```"},
        {"role": "assistant", "content": None},
    ]
    assert v3_recursion(["q"], [turns], **{name: values[:1] for name, values in COLUMNS.items()}) == [0.15]


def test_executed_calls_go_before_the_text() -> None:
    one = {name: values[:1] for name, values in COLUMNS.items()}
    assert v3_recursion(["q"], TEXTS[:1], calls=[4], **one) == [pytest.approx(0.95)]
    spoken = "```python\nllm(1)\n```\n<answer>blue</answer>"
    assert v3_recursion(["q"], [spoken], **one) == [pytest.approx(1.0625)]
    assert v3_recursion(["q"], [spoken], calls=[0], **one) == [pytest.approx(1.1)]


def test_a_missing_or_short_column_is_named() -> None:
    with pytest.raises(DataError, match="gold_answer: no such column for 2 completions"):
        v2_soft(["q", "q"], TEXTS)
    with pytest.raises(DataError, match="prompt_tokens: 1 values for 2"):
        v2_soft(["q", "q"], TEXTS, **(COLUMNS | {"prompt_tokens": [3]}))


def test_no_completions_no_rewards() -> None:
    assert v1_gate([], [], gold_answer=[]) == []


@pytest.mark.slow
def test_trl_itself_calls_them(model_folder: Path, tmp_path: Path) -> None:
    """A step of TRL's own trainer with all three: every reward it logs is one that the tables can pay for no answer."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    prompts = [[{"role": "user", "content": f"Which colour is number {number}?"}] for number in range(2)]
    options = {"per_device_train_batch_size": 4, "num_generations": 2, "max_completion_length": 8, "max_steps": 1}
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(model_folder),
        reward_funcs=[v1_gate, v2_soft, v3_recursion],
        args=GRPOConfig(str(tmp_path), use_cpu=True, report_to="none", logging_steps=1, save_strategy="no", **options),
        train_dataset=Dataset.from_dict({"prompt": prompts, "gold_answer": ["blue", "red"], "prompt_tokens": [9, 9]}),
        processing_class=AutoTokenizer.from_pretrained(model_folder),
    )
    trainer.train()
    logged = {name: value for line in trainer.state.log_history for name, value in line.items()}
    assert logged["rewards/v1_gate/mean"] == 0.0
    assert logged["rewards/v2_soft/mean"] == pytest.approx(0.05)
    assert logged["rewards/v3_recursion/mean"] == pytest.approx(0.15)
    assert logged["v3_recursion/token_budget"] == pytest.approx(0.15)
