from audits.readings import WordReader, row
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.audits.stored import stored
from tiebreak.audits.taxonomy import counted, labels, never_solved

PHASES = WordReader.phases


def test_never_solved_by_hand() -> None:
    rows = [
        row("reach:ran", case_id="a", sample=0),
        row("reach:ran", case_id="a", sample=1, run="dense-seed1"),
        row("reach:nothing", case_id="a", sample=2),
        row("reach:success", case_id="b", graded=True, success=True),
        row("reach:success", case_id="c", success=True),
        row("reach:success", case_id="d", stop="error", graded=None),  # an infrastructure error is no evidence
        row("reach:nothing", case_id="d", sample=1),
        row("reach:ran", case_id="b", arm="sft", run="sft"),
        row("reach:ran", case_id="a", source="training", step=1, group=0),
    ]
    rollouts = stored([rows], WordReader()).rollouts
    lost = never_solved(rollouts, PHASES)
    assert lost[["arm", "case_id", "samples", "reached", "at_it"]].to_numpy().tolist() == [
        ["dense", "a", 3, "ran", 2],
        ["dense", "c", 1, "success_not_graded", 1],
        ["dense", "d", 1, "nothing", 1],
        ["sft", "b", 1, "ran", 1],
    ]
    counts = counted(lost, rollouts, PHASES).set_index(["arm", "reached"])
    assert counts.loc["dense", "cases"].to_dict() == {"nothing": 1, "ran": 1, "success_not_graded": 1}
    assert set(counts.loc["dense", "of_cases"]) == {4}
    assert set(counts.loc["dense", "samples"]) == {3} and set(counts.loc["dense", "never_solved"]) == {3}


ROLLOUT = st.tuples(st.sampled_from("abc"), st.sampled_from(["dense", "sft"]), st.sampled_from(PHASES), st.booleans())


@settings(max_examples=40)
@given(st.lists(ROLLOUT, min_size=1, max_size=20))
def test_every_evaluated_case_is_solved_or_in_one_phase(rollouts) -> None:
    rows = [
        row(f"reach:{phase}", case_id=case, arm=arm, sample=number, graded=graded)
        for number, (case, arm, phase, graded) in enumerate(rollouts)
    ]
    frame = stored([rows], WordReader()).rollouts
    lost = never_solved(frame, PHASES)
    seen = {(arm, case) for case, arm, _, _ in rollouts}
    solved = {(arm, case) for case, arm, _, graded in rollouts if graded}
    assert set(zip(lost["arm"], lost["case_id"], strict=True)) == seen - solved
    for found in lost.to_dict("records"):
        ranks = [
            PHASES.index(phase) for case, arm, phase, _ in rollouts if (arm, case) == (found["arm"], found["case_id"])
        ]
        assert labels(PHASES).index(found["reached"]) == max(ranks)
        assert (found["samples"], found["at_it"]) == (len(ranks), ranks.count(max(ranks)))
    assert counted(lost, frame, PHASES)["cases"].sum() == len(lost)
