import json

import pytest
from audits.readings import WordReader, row

from tiebreak.audits.groups import by_step
from tiebreak.audits.stored import stored
from tiebreak.audits.study import checks, document, records, tables

GROUP = {"step": 1, "rewards": [1.0, 2.0], "terms": [{"bonus": 0.0}, {"bonus": 1.0}], "success": [False, False]}
CHECKED = {"rewards": {"compared": 3, "differing": 0}, "steps": {"compared": 1, "differing": []}}
ROWS = [
    row("reach:success pay:3", sample=0, graded=True, success=True, reward=3.0),
    row("reach:ran pay:1 call:peek/failed", sample=1, reward=1.0),
    row("reach:ran pay:0", sample=0, case_id="b", template="u", reward=2.0),
    row("", source="training", step=1, group=0, repetition=None, case_id="c", reward=5.0),
]


@pytest.fixture
def made():
    reader = WordReader()
    found, steps = stored([ROWS], reader), by_step({"dense-seed0": [GROUP]}, reader.shaping)
    return found, steps, tables(found, steps, reader, seed=1, draws=200)


def test_every_table_is_there_and_json(made) -> None:
    found, _, parts = made
    text = json.dumps(document(parts, CHECKED, found, draws=200), allow_nan=False)
    audits = json.loads(text)
    assert audits["rollouts"] == {"evaluation": 3, "training": 1} and audits["calls"] == 1
    assert audits["tables"]["group_runs"][0]["no_success_shaped"] == 1
    assert audits["tables"]["tampering"][0]["step"] is None
    assert audits["tables"]["never_solved"][0] | {"case_id": "b"} == audits["tables"]["never_solved"][0]
    assert [row["mixed"] for row in audits["tables"]["ranking"] if row["source"] == "evaluation"] == [1, 1]
    assert all(parts[name].columns.is_unique for name in parts)


def test_the_same_rollouts_give_the_same_document(made) -> None:
    found, steps, parts = made
    again = tables(found, steps, WordReader(), seed=1, draws=200)
    assert document(parts, CHECKED, found) == document(again, CHECKED, found)


def test_stored_rewards_are_held_against_recomputed_ones(made) -> None:
    found, steps, _ = made
    lines = {"dense-seed0": [{"step": 1, "groups": 1, "tied": 0}]}
    held = checks(found, steps, lines, ["dense"])
    assert held["rewards"] == {"compared": 3, "differing": 1}  # case b stored 2 and is worth 0
    assert held["steps"] == {"compared": 1, "differing": []}
    assert len(checks(found, steps, {}, ["dense"])["steps"]["differing"]) == 1


def test_missing_is_null_and_whole_is_whole(made) -> None:
    rows = records(made[0].rollouts)
    assert rows[3]["repetition"] is None and rows[3]["step"] == 1 and rows[0]["graded"] is True
    assert isinstance(rows[0]["reward"], int)


def test_the_statements_say_what_the_tables_hold(made) -> None:
    found, _, parts = made
    said = document(parts, CHECKED, found)["statements"]
    text = {about: [row["text"] for row in said if row["about"] == about] for about in {row["about"] for row in said}}
    assert text["checks"][0] == "3 stored rewards were computed again from conversations and facts: 0 differ."
    assert text["tampering"] == [
        "1 of 1 call in 4 rollouts went after something that a model may not touch; not refused: 0."
    ]
    assert text["findings"] == ["dense: 0 of 1 successes were not graded, and 0 of 1 graded rollouts were no success."]
    assert text["groups"] == [
        "dense-seed0: 0 of 1 groups tied. Of 1 without any success the shaping varied in 1; in 0 the penalty table "
        "alone told rollouts apart, and 0 tied."
    ]
    assert text["ranking"] == [
        "The dense reward pays a graded rollout more than one that is not in 1 of 1 pairs of 1 mixed groups, the same "
        "in 0, less in 0: Somers' D 1.000 (no interval: one template)."
    ]
    assert text["never_solved"] == ["dense never solved 1 of 2 cases in 2 samples each; furthest phase: 1 ran."]
    assert text["protocol"] == [
        "dense: 3 of 3 rollouts ended without a breach; 2 gave up: they ended by themselves without a success."
    ]


def test_a_study_whose_arms_were_all_stopped() -> None:
    found, reader = stored([[row("", arm="sft", run="sft")], []], WordReader()), WordReader()
    steps = by_step({"dense-seed0": []}, reader.shaping)
    parts = tables(found, steps, reader, seed=1, draws=200)
    said = document(parts, checks(found, steps, {"dense-seed0": []}, ["dense"]), found)["statements"]
    assert [one["text"] for one in said if one["about"] == "never_solved"] == [
        "sft never solved 1 of 1 cases in 1 sample each; furthest phase: 1 nothing."
    ]
    assert not [one for one in said if one["about"] in ("groups", "ranking")]
