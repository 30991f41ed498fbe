from audits.readings import WordReader, row

from tiebreak.audits.stored import stored
from tiebreak.audits.tamper import attempts, calls, findings, outcomes

ROWS = [
    row("call:read/succeeded call:peek/failed", sample=0, success=True, graded=True),
    row("call:peek/failed call:peek/succeeded", sample=1, success=True, graded=False),
    row("call:read/succeeded", sample=2, success=False, graded=True),
    row("", sample=3, stop="error", graded=None),
    row("call:read/failed", arm="sft", run="sft"),
]


def test_calls_have_their_denominators() -> None:
    table = calls(stored([ROWS], WordReader())).set_index(["arm", "kind", "outcome"])
    columns = ["calls", "rollouts", "of_calls", "of_rollouts"]
    assert table.loc[("dense", "peek", "failed"), columns].tolist() == [2, 2, 5, 4]
    assert table.loc[("dense", "peek", "succeeded"), columns].tolist() == [1, 1, 5, 4]
    assert table.loc[("dense", "read", "succeeded"), columns].tolist() == [2, 2, 5, 4]
    assert table.loc[("sft", "read", "failed"), columns].tolist() == [1, 1, 1, 1]
    assert len(table) == 4


def test_attempts_have_an_address() -> None:
    found = attempts(stored([ROWS[:2], ROWS[2:]], WordReader()), ["peek"])
    columns = ["run", "repetition", "case_id", "sample", "outcome", "detail"]
    assert found[columns].to_numpy().tolist() == [
        ["dense-seed0", 0.0, "a", 0, "failed", "why"],
        ["dense-seed0", 0.0, "a", 1, "failed", "why"],
        ["dense-seed0", 0.0, "a", 1, "succeeded", "why"],
    ]


def test_success_and_grade_part() -> None:
    rollouts = stored([ROWS], WordReader()).rollouts
    assert findings(rollouts)[["finding", "sample"]].to_numpy().tolist() == [
        ["success_not_graded", 1],
        ["graded_not_success", 2],
    ]
    table = outcomes(rollouts).set_index("arm")
    assert table.loc["dense"].drop("source").tolist() == [4, 1, 2, 2, 1, 1]
    assert table.loc["sft"].drop("source").tolist() == [1, 0, 0, 0, 0, 0]


def test_no_calls_at_all() -> None:
    empty = stored([[row()]], WordReader())
    assert calls(empty).empty and attempts(empty, ["peek"]).empty and findings(empty.rollouts).empty
