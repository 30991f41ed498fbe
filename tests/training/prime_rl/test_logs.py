"""prime-rl's log lines as records of ours.

The formats are those of the pinned commit (97872d3e0), under src/prime_rl: utils/logger.py:103-118 (a line),
orchestrator/filters.py:185-188 (`Detected …`), orchestrator/orchestrator.py:465, 478 (`Attempt …`), 600 (`Computing …`)
and 812 (`Step …`), orchestrator/scheduler.py:321, 329 (`Orchestrator paused …`, `resumed`), trainer/rl/train.py:542-551
(`Step … | Loss …`).
"""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training.prime_rl import lines

from tiebreak.training.prime_rl.logs import COLLECTED, Collecting, Line, Tail, read_line, trained

DATA = Path(__file__).parents[4] / "shared/data/glyph"


def collect(texts: list[str]) -> list[dict[str, object]]:
    """The records of a log."""
    records, state = [], Collecting()
    for text in texts:
        found = read_line(text)
        assert found is not None
        if step := COLLECTED.match(found.message):
            records.append(state.record(step, 96))
            state = Collecting()
        state.see(found.message)
    return records


def test_a_line_is_read_without_its_colours() -> None:
    found = read_line(lines.line("Starting orchestrator step 3", clock="05:41:42"))
    assert found == Line("05:41:42", "INFO", "Starting orchestrator step 3")


@pytest.mark.parametrize(
    "text",
    [
        "Generating rollouts (train):  50%|#####     | 48/96 [01:10<01:10,  1.46s/it]",
        '  File "orchestrator.py", line 3, in main',
        "",
    ],
)
def test_what_is_no_message_is_passed_over(text: str) -> None:
    assert read_line(text) is None
    behind = read_line(f"\r{text}" + lines.line("hello"))
    assert behind is not None and behind.message == "hello"


def test_a_step_is_one_record_with_drops_by_filter_and_waiting() -> None:
    text = [
        lines.line("Starting orchestrator step 7"),
        lines.paused(6),
        lines.resumed(6, 157.19),
        lines.empty(1, 7),
        lines.detected(96, gibberish=1, zero_advantage=24),
        lines.examples(72),
        lines.step(7, 169.32, 1.5118, 3298.6, 1),
    ]
    assert collect(text) == [
        {
            "step": 8,
            "rollouts": 96,
            "dropped": 25,
            "dropped_zero_advantage": 24,
            "dropped_gibberish": 1,
            "dropped_repetition": 0,
            "training_examples": 72,
            "batches_tied": 1,
            "reward_mean": 1.5118,
            "sequence_mean": 3298.6,
            "off_policy_max": 1,
            "seconds_rollouts": pytest.approx(12.13),
            "seconds_waiting": 157.19,
        }
    ]


def test_a_batch_of_which_nothing_is_dropped_says_nothing_of_filters() -> None:
    record, second = collect([lines.step(0, 10.0, 2.0, 100.0), lines.examples(96), lines.step(1, 11.0, -4.0, 90.0)])
    assert (record["rollouts"], record["dropped"], record["training_examples"]) == (96, 0, None)
    assert (second["training_examples"], second["reward_mean"]) == (96, -4.0)


def test_the_trainers_step_line_is_read() -> None:
    found = read_line(lines.trained(4, 95.5, loss=-0.0021))
    assert found is not None
    assert trained(found.message) == (
        5,
        {
            "loss": -0.0021,
            "entropy": 0.2345,
            "mismatch_kl": 0.0004,
            "grad_norm": 0.12,
            "learning_rate": 1e-6,
            "seconds_trainer": 95.5,
        },
    )
    assert trained("Step 4 | Time: 95.50s | Reward: 1.0") is None


@pytest.mark.parametrize("arm", ["sparse", "dense"])
def test_the_published_runs_read_back(arm: str) -> None:
    path = DATA / f"orchestrator_{arm}.csv"
    if not path.exists():
        pytest.skip("needs ../shared/data")
    rows = list(csv.DictReader(path.open()))
    text = []
    for row in rows:
        if float(row["wait_for_trainer_s"]):
            text += [
                lines.paused(int(row["step"]) - 1),
                lines.resumed(int(row["step"]) - 1, float(row["wait_for_trainer_s"])),
            ]
        counts = {name: int(row[f"dropped_{name}"]) for name in ("gibberish", "repetition", "zero_advantage")}
        text += [lines.detected(int(row["batch"]), **counts)] if any(counts.values()) else []
        numbers = [float(row[name]) for name in ("time_s", "reward_mean", "seq_len_tokens")]
        text += [lines.examples(int(row["training_examples"])), lines.step(int(row["step"]), *numbers)]
    records = collect(text)
    assert len(records) == len(rows) > 10
    for row, record in zip(rows, records, strict=True):
        assert record["step"] == int(row["step"]) + 1
        assert record["dropped"] == int(row["dropped_total"])
        assert record["dropped_zero_advantage"] == int(row["dropped_zero_advantage"])
        assert record["training_examples"] == int(row["training_examples"])
        assert record["seconds_waiting"] == float(row["wait_for_trainer_s"])
        assert record["reward_mean"] == float(row["reward_mean"])


@given(st.lists(st.integers(1, 40), max_size=20))
def test_a_growing_log_is_read_once_however_it_grows(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    path = tmp_path_factory.mktemp("log") / "orchestrator.log"
    data = "".join(lines.line(f"message {number}") + "\n" for number in range(10)).encode()
    tail, seen, at = Tail(path), list(Tail(path).read()), 0
    for size in [*sizes, len(data)]:
        with path.open("ab") as file:
            file.write(data[at : at + size])
        at += size
        seen += tail.read()
    assert [found.message for found in seen] == [f"message {number}" for number in range(10)]


def test_a_log_that_is_begun_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "orchestrator.log"
    path.write_text(lines.line("first") + "\n" + lines.line("second") + "\n")
    tail = Tail(path)
    assert [found.message for found in tail.read()] == ["first", "second"]
    path.write_text(lines.line("third") + "\n")
    assert [found.message for found in tail.read()] == ["third"]
