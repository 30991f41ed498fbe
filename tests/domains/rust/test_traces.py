"""Training traces: real replies, wrong actions masked, recoveries learnt."""

import json
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tiebreak.domains.base import TraceTurn
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.episode import RustEpisode, answer, prompt
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.materialize import materialize
from tiebreak.domains.rust.protocol import parse_turn
from tiebreak.domains.rust.traces import MOST_CALLS, actions, planned, trace, traces
from tiebreak.domains.rust.transcript import read_transcript
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.errors import BlueprintError
from tiebreak.seeds import stream

VERDICTS = TemporaryDirectory(prefix="verdicts")


@cache
def judge() -> Judge:
    return Judge(Path(VERDICTS.name), diagnostics="short")


@cache
def cases() -> list[Blueprint]:
    found, rejects = materialize(generate("all", 60, 9), judge())
    assert rejects == []
    return found


def rng_of(case: Blueprint) -> Random:
    return stream(1, "traces", case.case_id)


@cache
def made(detours: float) -> list[list[TraceTurn]]:
    return traces(cases(), judge(), rng_of, detours)


def of(turns: list[TraceTurn], role: str) -> list[TraceTurn]:
    return [turn for turn in turns if turn["role"] == role]


@pytest.mark.parametrize("detours", [0.0, 1.0])
def test_traces_are_valid_transcripts_that_start_with_the_prompt(detours: float) -> None:
    for case, turns in zip(cases(), made(detours), strict=True):
        assert [{"role": turn["role"], "content": turn["content"]} for turn in turns[:2]] == prompt(case)
        messages = [{"role": turn["role"], "content": turn["content"]} for turn in turns[2:]]
        assert read_transcript(messages).valid, case.case_id  # type: ignore[arg-type]
        assert turns[-1]["content"] == case.final and turns[-1]["loss"]


@pytest.mark.parametrize("detours", [0.0, 1.0])
def test_a_replay_gives_the_same_replies(detours: float) -> None:
    for case, turns in list(zip(cases(), made(detours), strict=True))[:25]:
        episode = RustEpisode(case, prompt(case), tool_rounds=MOST_CALLS)
        for turn in of(turns, "assistant"):
            episode.act(turn["content"])
            answer(judge(), [episode])
        assert [turn["content"] for turn in turns] == [message["content"] for message in episode.messages]
        assert episode.stop == "final"


def test_without_detours_a_trace_is_the_plan() -> None:
    for case, turns in zip(cases(), made(0.0), strict=True):
        calls = [call for turn in of(turns, "assistant") for call in parse_turn(turn["content"]).calls]
        assert [call.tool for call in calls] == case.expected_tool_sequence
        assert [call.id for call in calls] == [f"c{number}" for number in range(1, len(calls) + 1)]


def test_the_loss_leaves_out_tools_prompts_and_patches_that_do_not_mend() -> None:
    for case, turns in zip(cases(), made(1.0), strict=True):
        assert not any(turn["loss"] for turn in turns if turn["role"] != "assistant")
        wrong = 0
        for place, turn in enumerate(turns):
            if turn["role"] == "assistant" and "CALL apply_patch" in turn["content"]:
                refused = turns[place + 1]["content"].split("\n")[1] == "status: failed"
                later = [other["content"] for other in turns[place + 2 :] if "status: " in other["content"]]
                mended = not refused and "status: failed" not in "".join(later)
                assert turn["loss"] == mended, case.case_id
                wrong += not mended
        masked = [turn for turn in of(turns, "assistant") if not turn["loss"]]
        assert len(masked) == wrong


def test_detours_show_every_sort_of_error() -> None:
    replies = "".join(turn["content"] for turns in made(1.0) for turn in of(turns, "tool"))
    for text in ("find occurs 0 times, expected once", "could not compile", "test failed", "expected exact output"):
        assert text in replies


def test_detours_stay_within_the_budget_of_calls_and_come_only_where_there_is_a_patch() -> None:
    for case in cases():
        plan = planned(case, Random(3), 1.0)
        assert len(plan) <= max(MOST_CALLS, len(case.steps))
        assert (len(plan) > len(case.steps)) == (case.family.startswith("patch"))


def test_the_same_streams_give_the_same_traces_alone_and_in_a_batch() -> None:
    place = next(number for number, case in enumerate(cases()) if case.family == "patch_test_pass")
    alone = trace(cases()[place], rng_of(cases()[place]), judge(), detours=1.0)
    assert json.dumps(alone) == json.dumps(made(1.0)[place])


def test_a_case_that_does_not_go_as_planned_is_an_error() -> None:
    case = next(case for case in cases() if case.family == "patch_test_pass")
    fixed = {**case.files, case.source_path: case.files[case.source_path].replace("use super::*;", "use super::*; x")}
    with pytest.raises(BlueprintError, match=case.case_id):
        traces([case.model_copy(update={"files": fixed})], judge(), rng_of, 0.0)


def test_actions_mask_the_failed_patch_of_a_recover_plan_only() -> None:
    case = next(case for case in cases() if case.family == "patch_test_recover")
    patches = [action.loss for action in actions(case) if action.step.tool == "apply_patch"]
    assert patches == [False, True]
    assert all(action.loss for action in actions(case) if action.step.tool != "apply_patch")
