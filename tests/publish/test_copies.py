"""A run copied to another run is found, where a training would have changed a draw."""

from collections.abc import Callable

import pytest

from tiebreak.publish.copies import FEW, Voices
from tiebreak.publish.verdicts import Verdict

MODELS = {"sft": "a", "dense-seed0": "b", "sparse-seed0": "c"}
Word = Callable[[str, int], str]


def row(word: str, sample: int, answer: str = "3 tests pass") -> dict[str, object]:
    """A rollout; what the tool answers is no word of the model."""
    turns = [
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": word},
        {"role": "user", "content": answer},
    ]
    return {"repetition": 0, "case_id": "a", "sample": sample, "turns": turns}


def verdict(word: Word, count: int, models: dict[str, str] = MODELS) -> Verdict:
    """The verdict on three runs that say `word`."""
    voices = Voices()
    for run in MODELS:
        for sample in range(count):
            voices.hear(run, row(word(run, sample), sample, answer=run))
    (found,) = voices.verdicts(models)
    return found


def copied(run: str, sample: int) -> str:
    """sparse says what dense says."""
    return f"{sample} {'sft' if run == 'sft' else 'dense'}"


def test_a_copy_is_found_and_both_runs_are_named() -> None:
    found = verdict(copied, FEW)
    assert found.fails and found.count == FEW
    assert "what sparse-seed0 says is 'what dense-seed0 says'" in found.detail


def test_few_equal_rollouts_are_noted() -> None:
    found = verdict(copied, FEW - 1)
    assert found.state == "noted" and "dense-seed0 and sparse-seed0, of different models" in found.detail


def test_equal_models_may_say_the_same() -> None:
    assert verdict(copied, FEW, MODELS | {"sparse-seed0": "b"}).state == "bit-exact"


@pytest.mark.parametrize("place", [0, FEW - 1])
def test_one_other_word_is_enough_to_be_no_copy(place: int) -> None:
    assert verdict(lambda run, sample: run if sample == place else "same", FEW).state == "bit-exact"
