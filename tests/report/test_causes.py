from dataclasses import asdict

import pandas as pd
import pytest

from tiebreak import gates
from tiebreak.report import figures
from tiebreak.report.causes import cells, effects, sentences
from tiebreak.report.page import build
from tiebreak.stats.wilson import difference, fraction

DRIFT = {"faults": ["drifted_prompt"]}
SHAPES = {
    "gate": {"table": "v1_gate", "changes": {}, "faults": []},
    "gate_drift": {"table": "v1_gate", "changes": {}} | DRIFT,
    "soft": {"table": "v2_soft", "changes": {}, "faults": []},
    "soft_drift": {"table": "v2_soft", "changes": {}} | DRIFT,
    "alone": {"table": "v3_recursion", "changes": {}, "faults": []},
}
TIED = {"gate": 6, "gate_drift": 40, "soft": 10, "soft_drift": 12, "alone": 3}
GROUPS = 40


@pytest.fixture
def trials():
    """The decision of each arm's one run, after a trial of two steps; and the records of these steps and one more."""
    decisions, steps = {}, {}
    for arm, tied in TIED.items():
        each = [{"step": 1, "groups": 20, "tied": tied // 2}, {"step": 2, "groups": 20, "tied": tied - tied // 2}]
        run = f"{arm}-seed0"
        decisions[run] = asdict(gates.trial(run, tied, GROUPS, max_tied=0.5, by_step=each))
        rates = [0.25, 0.5, 1.0]
        steps[run] = [{"step": n + 1, "rollouts": 80, "graded_rate": rate} for n, rate in enumerate(rates)]
    return decisions, steps


@pytest.fixture
def frame(trials):
    after = {"pass_at_1": {"value": 0.3, "low": 0.2, "high": 0.4}}
    return cells(SHAPES, *trials, {"arms": dict.fromkeys(["sft", "gate", "soft", "soft_drift"], after)})


def test_only_arms_with_a_twin_are_cells(frame):
    assert frame["arm"].tolist() == ["gate", "gate_drift", "soft", "soft_drift"]
    assert frame["shape"].tolist() == ["gate", "gate", "soft", "soft"]
    assert frame["faults"].tolist() == ["no fault", "drifted_prompt"] * 2
    assert frame["tied"].tolist() == [6, 40, 10, 12] and set(frame["groups"]) == {GROUPS}
    assert frame["went_on"].tolist() == [1, 0, 1, 1]
    share = fraction(6, GROUPS)
    assert frame.iloc[0][["tied_fraction", "tied_low", "tied_high"]].tolist() == [share.value, share.low, share.high]


def test_what_was_solved_in_a_trial_is_counted_over_its_steps_alone(frame):
    assert frame["graded_in_trial"].tolist() == [60] * 4 and frame["rollouts_in_trial"].tolist() == [160] * 4
    assert frame["pass_at_1"].notna().tolist() == [True, False, True, True]


def test_effects_are_differences_of_two_cells(frame):
    found = effects(frame)
    assert found[["cause", "under", "a", "b"]].to_numpy().tolist() == [
        ["fault", "gate", "no fault", "drifted_prompt"],
        ["fault", "soft", "no fault", "drifted_prompt"],
        ["shape", "no fault", "gate", "soft"],
        ["shape", "drifted_prompt", "gate", "soft"],
    ]
    first = difference(fraction(6, GROUPS), fraction(40, GROUPS))
    assert found.iloc[0][["value", "low", "high"]].tolist() == [first.value, first.low, first.high]
    assert found["p_holm"].tolist() == found["smallest_p_holm"].tolist() == [1.0] * 4, "one run an arm"


def test_the_sentences_say_what_each_arm_measured_and_claim_nothing_from_one_run(frame):
    lines = sentences(frame, 0.05)
    assert len(lines) == 4 + 4 + 2
    assert lines[1].endswith("60 of its 160 rollouts were graded as solved; 0 of 1 runs went on.")
    assert lines[0].endswith("; 1 of 1 runs went on, to a graded pass@1 of 0.300 (0.200 to 0.400) on held-out cases.")
    assert lines[4].startswith("Under gate, the tied fraction with drifted_prompt differs from that with no fault by ")
    for line, name in zip(lines[-2:], ("the fault", "the reward shape"), strict=True):
        assert line.startswith(f"These are differences between these runs. No claim can be made that {name} makes them")
        assert "the smallest p is 1 after Holm, above alpha 0.05" in line


def test_what_is_claimed_rests_on_training_runs(trials):
    """Six runs an arm; the fault moves every run under gate, and under soft only the groups of one run."""
    decisions, steps = {}, {}
    tied = {"gate": [4, 5, 6, 5, 4, 6], "gate_drift": [30, 31, 32, 30, 33, 34], "soft": [5] * 6}
    tied |= {"soft_drift": [40, 5, 5, 5, 5, 5]}
    for arm, counts in tied.items():
        for seed, count in enumerate(counts):
            run = f"{arm}-seed{seed}"
            each = [{"step": 1, "groups": GROUPS, "tied": count}]
            decisions[run] = asdict(gates.trial(run, count, GROUPS, max_tied=0.5, by_step=each))
            steps[run] = [{"step": 1, "rollouts": 80, "graded_rate": 0.5}]
    shapes = {arm: SHAPES[arm] for arm in tied}
    frame = cells(shapes, decisions, steps, {"arms": {}})
    assert frame["tied_by_run"][0].split() == ["0.1", "0.125", "0.15", "0.125", "0.1", "0.15"]
    found = effects(frame)
    fault = found[found["cause"] == "fault"]
    assert fault["p"].tolist() == [pytest.approx(2 / 924), 1.0]
    assert fault["low"].gt(0).all(), "both intervals over groups exclude zero"
    lines = sentences(frame, 0.05)
    (claim,) = [line for line in lines if line.startswith("So the fault")]
    assert claim.startswith("So the fault moves the tied fraction in 1 of 2 comparisons (+0.")
    assert claim.endswith(" under gate), over training runs after Holm.")


def test_a_run_that_the_ties_gate_stopped_measured_nothing(trials):
    decisions, steps = trials
    decisions["soft_drift-seed0"] = asdict(gates.ties("soft_drift", [[0.0, 0.0]], max_tied=0.5))
    found = cells(SHAPES, decisions, steps, {"arms": {}})
    assert found["groups"].tolist() == [GROUPS, GROUPS, GROUPS, 0]
    lines = sentences(found, 0.05)
    assert "soft_drift (soft, drifted_prompt): no trial ran, so nothing was measured." in lines
    assert "Under soft, drifted_prompt against no fault was not measured." in lines


def test_runs_that_gave_up_are_named_and_their_cell_is_compared_with_none(trials):
    """The worst arms lose their worst runs; what is left of such an arm must not be judged."""
    decisions, steps = trials
    for arm in ("gate", "gate_drift"):
        decisions[f"{arm}-seed1"] = asdict(gates.trial(f"{arm}-seed1", TIED[arm], GROUPS, max_tied=0.5))
    gave_up = gates.trial_that_tied("gate_drift-seed2", "every batch tied", max_tied=0.5)
    decisions["gate_drift-seed2"] = asdict(gave_up)
    found = cells(SHAPES, decisions, steps, {"arms": {}})
    assert found[["runs", "gave_up", "groups"]].to_numpy().tolist() == [[2, 0, 80], [3, 1, 80], [1, 0, 40], [1, 0, 40]]
    moved = effects(found)
    assert moved["value"].isna().tolist() == [True, False, False, True]
    assert moved.loc[[0, 3], ["p", "smallest_p"]].to_numpy().tolist() == [[1.0, 1.0]] * 2
    lines = sentences(found, 0.05)
    missing = "1 of 3 runs gave up in the trial because every batch tied, and are in no fraction, so this arm is"
    assert f"; {missing} compared with none." in lines[1] and "gave up" not in lines[0]
    assert "Under gate, drifted_prompt against no fault was not measured." in lines
    assert [text.get_text() for text in figures.causes(found).axes[0].get_yticklabels()][:2] == [
        "gate, no fault (12 of 80)",
        "gate, drifted_prompt (80 of 80; 1 gave up)",
    ]


def test_nothing_is_said_of_a_cause_where_all_runs_gave_up(trials):
    decisions, steps = trials
    for run in list(decisions):
        decisions[run] = asdict(gates.trial_that_tied(run, "every batch tied", max_tied=0.5))
    found = cells(SHAPES, decisions, steps, {"arms": {}})
    figures.causes(found)  # draws no point
    lines = sentences(found, 0.05)
    assert lines[0].startswith("gate (gate, no fault): 1 of 1 runs gave up in the trial")
    assert lines[-2:] == [
        "Nothing is said of the fault: no two arms could be compared.",
        "Nothing is said of the reward shape: no two arms could be compared.",
    ]


def test_a_trial_without_a_group_has_no_fraction(trials):
    decisions, steps = trials
    decisions["gate-seed1"] = asdict(gates.trial("gate-seed1", 0, 0, max_tied=0.5))
    assert cells(SHAPES, decisions, steps, {"arms": {}})["tied_by_run"][0].split() == ["0.15"]


def test_a_study_without_faults_has_no_cells(trials):
    shapes = {arm: SHAPES[arm] for arm in ("gate", "soft", "alone")}
    assert isinstance(found := cells(shapes, *trials, {"arms": {}}), pd.DataFrame) and found.empty


def test_the_page_shows_the_cells_and_the_sentences(frame, analysis, steps, tmp_path):
    text = build(analysis, steps, [], {}, {}, tmp_path, cells=frame).read_text(encoding="utf-8")
    assert all(f"<li>{line}</li>" in text for line in sentences(frame, 0.05))
    stored = pd.read_csv(tmp_path / "tables/effects.csv")
    assert stored["p_holm"].tolist() == effects(frame)["p_holm"].tolist()
    assert "gate, drifted_prompt (40 of 40)" in (tmp_path / "figures/causes.svg").read_text(encoding="utf-8")
