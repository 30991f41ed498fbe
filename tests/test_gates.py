import json

import pytest

from tiebreak.audits.clusters import clusters
from tiebreak.audits.crossings import Crossing, Histogram, Pair
from tiebreak.errors import DataError, GateError
from tiebreak.gates import enforce, leakage, parity, read, ties, trial, trial_of_groups, write

PROMPT = "<|im_start|>system\nUse tools.\n<|im_end|>"


def test_leakage_stops_on_a_shared_source():
    clean = leakage({"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn g() {}"}})
    assert clean.go
    assert clean.measure["cases"] == {"holdout": 1, "sft": 1}
    leak = leakage({"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn f() { /* same */ }"}})
    assert not leak.go
    with pytest.raises(GateError, match=r"leakage gate: case a \(sft\) is the same code as case b \(holdout\)"):
        enforce(leak)


def crossing(split: str, against: str, over: int, similarity: float) -> Crossing:
    pair = Pair(
        case=f"{split}1",
        form="as given",
        other=f"{against}1",
        other_form="as repaired",
        similarity=similarity,
        diff=["-a", "+b"],
    )
    return Crossing(split, against, 10, over, [pair], Histogram(edges=[0.5, 1.0], counts=[10], further=0))


def test_leakage_stops_on_a_near_duplicate_and_names_the_nearest():
    sources = {"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn g() {}"}}
    under = leakage(sources, near=[crossing("holdout", "sft", 0, 0.92)], max_similarity=0.92)
    assert under.go and under.threshold == 0.92
    assert "the nearest are 0.920 alike, at most 0.92 is allowed" in under.reason
    near = [crossing("holdout", "sft", 2, 0.95), crossing("pool", "sft", 1, 0.97)]
    over = leakage(sources, near=near, max_similarity=0.92)
    with pytest.raises(GateError) as stop:
        enforce(over)
    assert str(stop.value) == (
        "leakage gate: case pool1 as given (pool) is 0.970 like case sft1 as repaired (sft), "
        "data.leakage.max_similarity is 0.92; 2 more cases are as near, such as holdout1 (holdout) and sft1 (sft); "
        "drop one of the two, or put both into one split"
    )
    assert over.measure["near"][1]["nearest"][0]["diff"] == ["-a", "+b"]


def test_an_exact_duplicate_is_named_before_a_near_one_and_clusters_are_kept():
    sources = {"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn f() {}"}}
    decision = leakage(
        sources,
        near=[crossing("holdout", "sft", 1, 1.0)],
        max_similarity=0.92,
        templates={"holdout": clusters(["t", "t", "u"])},
    )
    assert "is the same code as" in decision.reason
    assert decision.measure["templates"]["holdout"]["effective"] == pytest.approx(9 / 5)


def test_parity_shows_the_first_differing_byte():
    expected = {"sft": {"a": PROMPT}, "pool": {"b": PROMPT, "c": PROMPT}}
    assert parity(expected, expected).go
    drifted = {"sft": {"a": PROMPT}, "pool": {"b": PROMPT, "c": PROMPT.replace("tools.", "tools!")}}
    decision = parity(expected, drifted)
    with pytest.raises(GateError, match=r"case c: the pool prompt differs at byte 28 \(line 2, column 10\)") as stop:
        enforce(decision)
    assert "found '!' (0x21), expected '.' (0x2e)" in str(stop.value)
    assert "1 of 2 pool prompts differ" in str(stop.value)
    assert decision.measure["first"]["pool"]["case_id"] == "c"


def test_a_declared_fault_is_evidence_and_no_stop():
    expected, drifted = {"pool": {"a": PROMPT}}, {"pool": {"a": PROMPT + " "}}
    decision = parity(expected, drifted, declared={"pool": "drifted_prompt"})
    assert decision.go
    assert decision.reason.startswith("declared as a fault (drifted_prompt): case a")
    assert decision.measure["differing"] == {"pool": 1}


def test_every_declared_fault_says_where_it_begins_to_differ():
    prompts = {"pool": {"a": PROMPT}, "other": {"a": PROMPT}}
    drifted = {"pool": {"a": PROMPT + " "}, "other": {"a": "X" + PROMPT[1:]}}
    decision = parity(prompts, drifted, declared=dict.fromkeys(prompts, "drifted_prompt"))
    assert decision.go and decision.reason.endswith("; so do other at byte 0")


def test_a_declared_fault_excuses_its_stage_alone():
    expected = {"sft": {"a": PROMPT}, "pool": {"b": PROMPT}}
    drifted = {stage: {case: text + " " for case, text in prompts.items()} for stage, prompts in expected.items()}
    assert not parity(expected, drifted, declared={"pool": "drifted_prompt"}).go


def test_ties_stop_a_reward_under_which_everything_ties():
    dead = ties("sparse", [[0.0] * 8] * 10, max_tied=0.8)
    assert not dead.go
    assert dead.subject == "sparse"
    with pytest.raises(GateError, match="10 of 10 groups sampled from the SFT model tie"):
        enforce(dead)
    live = ties("sparse", [[0.0] * 8] * 7 + [[0.0, 1.0]] * 3, max_tied=0.8)
    assert live.go
    assert "7 of 10" in live.reason


def test_dead_components_are_named_and_stop_nothing():
    groups = [[{"valid": 10.0, "phase": 0.0}, {"valid": 0.0, "phase": 0.0}]] * 4
    decision = ties(
        "compiler",
        [[10.0, 0.0]] * 4,
        max_tied=0.8,
        terms=groups,
        declared=["valid", "phase", "calls"],
        synthetic=[{"valid": 10.0, "phase": 2.5}, {"phase": 1.25, "calls": 0.0}],
    )
    assert decision.go
    assert decision.measure["dead_on_synthetic_group"] == ["calls"]
    assert decision.measure["dead_on_real_groups"] == ["phase", "calls"]
    assert [warning.split()[0] for warning in decision.measure["warnings"]] == ["calls", "phase"]


@pytest.mark.parametrize(("tied", "go"), [(7, True), (8, False), (9, False)])
def test_a_trial_goes_on_under_max_tied_only(tied, go):
    decision = trial("dense-seed0", tied, 10, max_tied=0.8)
    assert decision.go is go
    assert decision.measure["tied"]["low"] < tied / 10 < decision.measure["tied"]["high"]


def test_a_trial_without_groups_is_a_no_go():
    decision = trial("dense-seed0", 0, 0, max_tied=0.8)
    assert not decision.go
    assert "no groups" in decision.reason


def test_a_trial_keeps_its_steps_as_evidence():
    decision = trial_of_groups("dense-seed0", [0, 0, 1], [True, False, True], max_tied=0.8)
    assert decision.measure["steps"] == [{"step": 0, "groups": 2, "tied": 1}, {"step": 1, "groups": 1, "tied": 1}]
    assert decision.go


def test_decisions_are_stored_as_bytes_that_do_not_change(tmp_path):
    decision = trial("dense-seed0", 3, 10, max_tied=0.8, by_step=[{"step": 0, "groups": 10, "tied": 3, "loss": 1.0}])
    path = tmp_path / "gates" / "decision.json"
    write(path, decision)
    first = path.read_bytes()
    assert read(path) == decision
    write(path, read(path))
    assert path.read_bytes() == first
    assert json.loads(first)["measure"]["steps"] == [{"step": 0, "groups": 10, "tied": 3}]
    path.write_text("{}")
    with pytest.raises(DataError, match="no decision"):
        read(path)


def test_parity_stops_where_a_prompt_is_missing_or_of_another_split() -> None:
    expected = {"pool": {"a": "x", "b": "y"}}
    missing = parity(expected, {"pool": {"a": "x"}})
    assert not missing.go and "pool: case b has no prompt" in missing.reason
    extra = parity(expected, {"pool": {"a": "x", "b": "y", "c": "z"}})
    assert not extra.go and "case c is not of this split" in extra.reason


@pytest.mark.parametrize(
    ("tied_by_step", "go"),
    [
        ([0, 0, 0, 0, 0], True),
        ([1, 1, 1, 1, 4], True),  # under in four of five steps
        ([1, 1, 1, 2, 4], False),  # a half is not under a half
        ([1, 1, 1, 1, 1], True),
        ([0, 0, 0, 4, 4], False),  # under over all groups together, but not by step
    ],
)
def test_the_published_rule_judges_each_step_by_itself(tied_by_step, go):
    steps = [step for step in range(5) for _ in range(4)]
    marks = [place < tied for tied in tied_by_step for place in range(4)]
    decision = trial_of_groups("v1_gate-seed0", steps, marks, max_tied=0.5, steps_under=0.8)
    assert decision.go is go
    under = sum(tied < 2 for tied in tied_by_step)
    assert decision.reason.startswith(
        f"v1_gate-seed0: in {under} of 5 steps of the trial less than 0.5 of the groups tie"
    )
    assert decision.measure["under"]["count"] == under and len(decision.measure["steps"]) == 5
    assert trial_of_groups("v1_gate-seed0", steps, marks, max_tied=0.5).go is (sum(tied_by_step) < 10)


def test_a_trial_by_steps_without_groups_is_a_no_go():
    assert not trial_of_groups("a-seed0", [], [], max_tied=0.5, steps_under=0.8).go
