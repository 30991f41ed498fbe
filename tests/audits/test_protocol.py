from audits.readings import WordReader, row
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.audits.protocol import cleanliness, histogram, lengths
from tiebreak.audits.stored import stored

ROWS = [
    row("slip:bad slip:bad", sample=0, new_tokens=10, stop="malformed"),
    row("slip:bad slip:worse", sample=1, new_tokens=20, success=True),
    row("", sample=2, new_tokens=30),
    row("", sample=3, new_tokens=100, stop="tokens", truncated=True),
    row("slip:worse", arm="sft", run="sft"),
]


def test_breaches_by_hand() -> None:
    table = cleanliness(stored([ROWS], WordReader()).rollouts, WordReader.slips).set_index(["arm", "what"])
    dense = table.loc["dense"]
    assert dense["rollouts"].to_dict() == {
        "bad": 2,
        "worse": 1,
        "stop_final": 2,
        "stop_malformed": 1,
        "stop_tokens": 1,
        "clean": 1,
        "gave_up": 1,
    }
    assert dense.loc["bad", "times"] == 3 and set(dense["of_rollouts"]) == {4}
    assert table.loc[("sft", "clean"), ["rollouts", "of_rollouts"]].tolist() == [0, 1]


def test_lengths_by_hand() -> None:
    table = lengths(stored([ROWS], WordReader()).rollouts).set_index("arm")
    dense = table.loc["dense"]
    assert dense[["rollouts", "truncated", "new_tokens_total", "new_tokens_max"]].tolist() == [4, 1, 160, 100]
    assert dense[["truncated_fraction", "new_tokens_mean", "new_tokens_median"]].tolist() == [0.25, 40.0, 25.0]
    assert (dense["turns_mean"], dense["turns_max"]) == (1.0, 1)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5000), min_size=1, max_size=30), st.integers(1, 30))
def test_a_histogram_loses_nobody(tokens, bins) -> None:
    rows = [row("", sample=number, new_tokens=count) for number, count in enumerate(tokens)]
    table = histogram(stored([rows], WordReader()).rollouts, bins)
    assert table["rollouts"].sum() == len(tokens) and len(table) <= bins
    for low, high, count in table[["low", "high", "rollouts"]].itertuples(index=False):
        assert count == sum(low <= one < high for one in tokens)
