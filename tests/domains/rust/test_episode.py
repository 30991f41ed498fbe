"""Episodes, with real verdicts: what ends them, what is answered, and what they come to."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.base import Episode
from tiebreak.domains.rust.asks import Ask, Verdict
from tiebreak.domains.rust.blueprints import Blueprint, parse_blueprint
from tiebreak.domains.rust.episode import RustEpisode, answer, cargo_reply, episode_terms, outcome, prompt
from tiebreak.domains.rust.protocol import format_call
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.verdicts import Judge

MANIFEST = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n'
LIB = """\
pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn adds_nothing() {
        assert_eq!(add(0, 0), 0);
    }
}
"""
ROOT = "crates/sums_1"
MEND = format_call(
    "apply_patch", "c2", {"file_path": f"{ROOT}/src/lib.rs", "find": "    a - b", "replace": "    a + b"}
)


def blueprint(family: str, files: dict[str, str], expected: str | None) -> Blueprint:
    tool = "cargo_run" if "run" in family else "cargo_test"
    return parse_blueprint(
        json.dumps(
            {
                "family": family,
                "case_id": "sums_1",
                "bug_category": "arithmetic",
                "difficulty": "easy",
                "user": "Fix the crate at {project_root}, please; {braces} stay.",
                "expected_tool_sequence": [tool],
                "expected_output": expected,
                "files": files,
                "steps": [{"tool": tool, "expect_status": "success"}],
                "final": "done",
            }
        )
    )


TEST_CASE = blueprint("test_only", {"Cargo.toml": MANIFEST, "src/lib.rs": LIB}, None)
RUN_CASE = blueprint("run_only", {"Cargo.toml": MANIFEST, "src/main.rs": 'fn main() { println!(" 41 "); }\n'}, "42")


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(None)


def start(case: Blueprint = TEST_CASE, tool_rounds: int = 8, **limits: int) -> RustEpisode:
    return RustEpisode(case, prompt(case), tool_rounds=tool_rounds, **limits)


def read(call_id: str = "c1", name: str = "src/lib.rs") -> str:
    return format_call("read_file", call_id, {"file_path": f"{ROOT}/{name}"})


def cargo(call_id: str, tool: str = "cargo_test", path: str = ROOT) -> str:
    return format_call(tool, call_id, {"project_path": path})


def play(judge: Judge, contents: Sequence[str], episode: RustEpisode | None = None) -> RustEpisode:
    episode = episode or start()
    for content in contents:
        episode.act(content)
        answer(judge, [episode])
    return episode


def replies(episode: RustEpisode) -> list[str]:
    return [message["content"] for message in episode.turns if message["role"] == "tool"]


def test_the_prompt_is_the_system_message_and_the_task() -> None:
    system, user = prompt(TEST_CASE)
    assert system["content"].startswith("You are a Rust coding agent.")
    assert user["content"] == f"Fix the crate at {ROOT}, please; {{braces}} stay."
    assert prompt(TEST_CASE, "Be brief.")[0] == {"role": "system", "content": "Be brief."}


def test_a_crate_is_read_mended_tested_and_reported(judge: Judge) -> None:
    episode = play(judge, [read(), cargo("c0"), MEND, cargo("c3"), "FINAL: done"])
    conversation: Episode = episode  # what the agent loop knows of it
    assert conversation.messages == [*prompt(TEST_CASE), *episode.turns]
    first, failed, patched, passed = replies(episode)
    assert first == f"RESULT c1:\nstatus: success\nstdout:\n{LIB.rstrip()}"
    assert failed.startswith("RESULT c0:\nstatus: failed\nstdout:\nrunning 2 tests\n")
    assert patched == "RESULT c2:\nstatus: success\nstdout:\npatch applied"
    assert passed.startswith("RESULT c3:\nstatus: success\nstdout:\nrunning 2 tests\n")
    came_to = outcome(episode, PUBLISHED_TABLES)
    assert (came_to["stop"], came_to["valid"], came_to["success"]) == ("final", True, True)
    assert came_to["rewards"] == {"sparse": 9.0, "dense": 9.0, "compiler": 9.0}
    assert episode.files["src/lib.rs"] == LIB.replace("a - b", "a + b")


def test_the_facts_are_those_of_the_verdicts(judge: Judge) -> None:
    broken = MEND.replace("a + b", "a + c")
    episode = play(judge, [f"{cargo('c1')}\n{broken}\n{cargo('c3')}", "FINAL: gave up"])
    came_to = outcome(episode, PUBLISHED_TABLES)
    facts = came_to["facts"]
    calls = facts.pop("calls")
    assert facts == {"compiled": True, "phase": 4, "tests_passed": 1, "tests_total": 2, "tampered": []}
    assert [(call["tool"], call["id"], call["ok"]) for call in calls] == [
        ("cargo_test", "c1", False),
        ("apply_patch", "c2", True),
        ("cargo_test", "c3", False),
    ]
    assert json.loads(calls[0]["params"]) == {"project_path": ROOT}
    assert "error[E0425]" in replies(episode)[2]
    assert came_to["rewards"] == {"sparse": -2.0, "dense": -0.5, "compiler": 0.5}
    for shape, table in PUBLISHED_TABLES.items():
        assert sum(episode_terms(episode, table).values()) == came_to["rewards"][shape]


def test_a_cargo_call_sees_the_files_at_its_place_in_the_turn(judge: Judge) -> None:
    episode = start()
    episode.act(f"{cargo('c1')}\n{MEND}\n{cargo('c3')}")
    before, after = episode.pending_asks()
    assert (before, after) == (Ask.of("cargo_test", TEST_CASE.files), Ask.of("cargo_test", episode.files))
    assert before != after
    answer(judge, [episode])
    assert [record.ok for record in episode.calls] == [False, True, True]


def test_a_program_with_the_wrong_output_failed_but_did_compile(judge: Judge) -> None:
    mend = format_call("apply_patch", "c2", {"file_path": f"{ROOT}/src/main.rs", "find": "41", "replace": "42"})
    wrong, _, right = replies(play(judge, [cargo("c1", "cargo_run"), mend, cargo("c3", "cargo_run")], start(RUN_CASE)))
    assert wrong == 'RESULT c1:\nstatus: failed\nstdout:\n41\nstderr:\nexpected exact output "42"'
    assert right == "RESULT c3:\nstatus: success\nstdout:\n42"
    episode = play(judge, [cargo("c1", "cargo_run"), "FINAL: done"], start(RUN_CASE))
    assert outcome(episode, PUBLISHED_TABLES)["rewards"] == {"sparse": -1.0, "dense": -0.5, "compiler": 1.5}


def test_many_episodes_are_answered_by_one_call_of_the_judge(judge: Judge) -> None:
    batches: list[int] = []

    def counting(asks: Sequence[Ask]) -> Sequence[Verdict]:
        batches.append(len(asks))
        return judge(asks)

    episodes = [start(), start(), start(RUN_CASE), start()]
    for episode, content in zip(episodes, [cargo("c1"), read(), cargo("c1", "cargo_run"), "FINAL: no"], strict=True):
        episode.act(content)
    answer(counting, episodes)
    assert batches == [2]
    assert [len(replies(episode)) for episode in episodes] == [1, 1, 1, 0]
    answer(counting, episodes)
    assert batches == [2]
    for episode in episodes[:3]:
        assert episode.messages[:2] == prompt(episode.case)
        assert replies(episode) == replies(play(judge, [episode.turns[0]["content"]], start(episode.case)))


@pytest.mark.parametrize(
    ("content", "stop"),
    [
        ("FINAL: done", "final"),
        ("I would rather talk.", "final"),
        ("", "final"),
        ("CALLread_file {}", "final"),
        (f"{read()}\nFINAL: done", "final"),
        ("CALL read_file {}", "malformed"),
        (f"{MEND}\nCALL nonsense", "malformed"),
        ("CALL nonsense\nFINAL: done", "malformed"),
        (f"{MEND};", "malformed"),
    ],
)
def test_a_turn_that_ends_the_episode_runs_nothing(content: str, stop: str) -> None:
    episode = start()
    episode.act(content)
    assert (episode.stop, episode.pending_asks(), episode.calls, episode.files) == (stop, [], [], TEST_CASE.files)
    assert episode.turns == [{"role": "assistant", "content": content}]
    with pytest.raises(ValueError, match=stop):
        episode.act("FINAL: again")


def test_the_budget_counts_turns_and_calls(judge: Judge) -> None:
    by_turns = play(judge, [read("c1"), read("c2")], start(tool_rounds=2))
    assert by_turns.stop is None
    by_turns.act(read("c3"))
    assert (by_turns.stop, len(by_turns.calls)) == ("budget", 2)
    by_calls = play(judge, [read("c1")], start(tool_rounds=3))
    by_calls.act("\n".join(read(f"c{number}") for number in (2, 3, 4)))
    assert (by_calls.stop, len(by_calls.calls)) == ("budget", 1)
    assert outcome(by_calls, PUBLISHED_TABLES)["rewards"]["sparse"] == -3 - 3 - 5
    just_enough = play(judge, [read("c1"), read("c2"), "FINAL: done"], start(tool_rounds=2))
    assert just_enough.stop == "final"


def test_an_answered_id_is_not_run_again(judge: Judge) -> None:
    episode = play(judge, [read("c1"), f"{cargo('c1')}\n{MEND}\n{MEND}"])
    assert [record.ok for record in episode.calls] == [True, False, True, False]
    assert replies(episode)[1] == "RESULT c1:\nstatus: failed\nstderr:\nthis id was already answered, use a new one"
    assert episode.verdicts == []


def test_calls_that_cannot_run_get_a_failed_result(judge: Judge) -> None:
    odd = [
        cargo("c1", path=f"{ROOT}/src/lib.rs"),
        format_call("shell", "c2", {"command": "ls"}),
        read("c3", "src/main.rs"),
    ]
    episode = play(judge, ["\n".join(odd)])
    assert [record.ok for record in episode.calls] == [False, False, False]
    assert all("\nstatus: failed\nstderr:\n" in reply for reply in replies(episode))
    assert (episode.stop, episode.verdicts) == (None, [])


def test_attempts_on_immutable_parts_are_recorded(judge: Judge) -> None:
    target = {"file_path": f"{ROOT}/src/lib.rs", "find": "assert_eq!(add(1, 2), 3);", "replace": ""}
    manifest = {"file_path": f"{ROOT}/Cargo.toml", "find": "2021", "replace": "2018"}
    turn = f"{format_call('apply_patch', 'c1', target)}\n{format_call('apply_patch', 'c2', manifest)}"
    episode = play(judge, [turn, "FINAL: done"])
    assert episode.files == TEST_CASE.files
    tampered = outcome(episode, {})["facts"]["tampered"]
    assert [text.partition(":")[0] for text in tampered] == ["src/lib.rs", "Cargo.toml"]


def test_limits_cut_replies(judge: Judge) -> None:
    episode = play(judge, [read("c1"), cargo("c2")], start(read_limit=100, output_limit=300))
    assert ["…[truncated]…" in reply for reply in replies(episode)] == [True, True]
    assert len(replies(episode)[1]) <= 300 + len("RESULT c2:\nstatus: failed\n")


def test_an_episode_is_halted_from_outside() -> None:
    episode = start()
    episode.act(cargo("c1"))
    episode.halt("error")
    assert episode.pending_asks() == []
    came_to = outcome(episode, PUBLISHED_TABLES)
    assert (came_to["stop"], came_to["rewards"]) == ("error", {})


def test_misuse_is_an_error() -> None:
    episode = start()
    with pytest.raises(ValueError, match="goes on"):
        outcome(episode, {})
    episode.act(cargo("c1"))
    with pytest.raises(ValueError, match="waits"):
        episode.act("FINAL: done")
    with pytest.raises(ValueError, match="0 verdicts for 1 asks"):
        episode.resume([])


def test_a_late_program_says_so() -> None:
    verdict = Verdict(False, True, "", "error: the time limit was reached\n", compiled=True, phase=4)
    assert cargo_reply(verdict, "cargo_run", "42").timed_out
    assert cargo_reply(verdict, "cargo_run", "42").stderr == "error: the time limit was reached"


CALLS = [read(), read("c4"), MEND, MEND.replace("c2", "c5"), cargo("c9", path="x")]
PIECES = st.sampled_from([*CALLS, "FINAL: x", "CALL x", 'CALL t {"id":"z"}', "text"])


@given(st.lists(st.text() | st.lists(PIECES, max_size=4).map("\n".join), max_size=6), st.integers(1, 6))
def test_no_turn_raises_and_each_call_gets_one_reply(contents: list[str], tool_rounds: int) -> None:
    episode = start(tool_rounds=tool_rounds)
    for content in contents:
        if episode.stop is None:
            episode.act(content)
            episode.resume([])
    assert len(replies(episode)) == len(episode.calls) <= tool_rounds
    episode.halt(episode.stop or "tokens")
    came_to = outcome(episode, PUBLISHED_TABLES)
    assert not came_to["success"]
    json.dumps(came_to["facts"])
