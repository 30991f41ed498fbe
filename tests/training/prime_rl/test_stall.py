"""When the watch gives a training up, on sequences of lines as prime-rl writes them."""

import pytest
from training.prime_rl import lines

from tiebreak.training.prime_rl.logs import read_line
from tiebreak.training.prime_rl.stall import GRACE, PATIENCE, Watch


def watched(*texts: str) -> Watch:
    """A watch that saw these lines, one a second from 0 on."""
    watch = Watch(0.0)
    for second, text in enumerate(texts):
        found = read_line(text)
        assert found is not None
        watch.see(found, float(second))
    return watch


TIED = lines.detected(96, gibberish=1, zero_advantage=95)


def test_a_training_that_goes_on_is_left_alone() -> None:
    watch = watched(lines.paused(3), lines.resumed(3, 98.1), lines.detected(96, zero_advantage=79), lines.examples(17))
    assert watch.diagnosis(PATIENCE) is None


def test_three_tied_batches_on_end_are_the_end() -> None:
    watch = watched(TIED, lines.empty(1, 11), TIED, lines.empty(2, 11), TIED)
    assert watch.diagnosis(5.0) is None, "prime-rl draws such a batch again, up to three times"
    found = read_line(lines.empty(3, 11))
    assert found is not None
    watch.see(found, 6.0)
    reason = watch.diagnosis(6.0)
    assert reason is not None
    assert (
        "all 96 rollouts of the batch were dropped (gibberish 1, zero_advantage 95), in 3 batches on end at step 12"
        in reason
    )
    assert "see gates/ties of this arm" in reason


def test_a_tied_batch_and_silence_are_the_end() -> None:
    watch = watched(TIED)
    assert watch.diagnosis(GRACE) is None
    reason = watch.diagnosis(GRACE + 1)
    assert reason is not None and "(gibberish 1, zero_advantage 95), and no other batch came in 15 minutes" in reason


def test_a_tied_batch_that_was_drawn_again_is_forgotten() -> None:
    watch = watched(TIED, lines.empty(1, 0), lines.detected(96, zero_advantage=64), lines.examples(32))
    assert watch.diagnosis(GRACE + 10) is None


def test_an_empty_batch_is_the_end_at_once() -> None:
    reason = watched(lines.detected(96, zero_advantage=88), lines.examples(0)).diagnosis(2.0)
    assert reason is not None and "the batch has no training example" in reason


def test_a_run_that_was_given_up_says_why() -> None:
    text = "Run evicted by trainer: All 96 rollouts were filtered out on 3 consecutive attempts at step 4"
    reason = watched(lines.line(text, "ERROR")).diagnosis(1.0)
    assert reason is not None and "prime-rl gave this run up (All 96 rollouts were filtered out on 3" in reason


@pytest.mark.parametrize(
    ("texts", "words"), [((lines.paused(6),), "waits for the trainer's checkpoint 6"), ((), "look into")]
)
def test_silence_is_the_end(texts: tuple[str, ...], words: str) -> None:
    watch = watched(*texts)
    assert watch.diagnosis(PATIENCE) is None
    reason = watch.diagnosis(PATIENCE + 1)
    assert reason is not None and "has said nothing for 60 minutes" in reason and words in reason
