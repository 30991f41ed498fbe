"""Episodes with the real client over the real WebSocket."""

import json

import pytest
from environments.fathom.serving import SECRET, Server, dealt
from fathom_env import FathomAction, FathomEnv

from tiebreak.domains.fathom.domain import FathomDomain
from tiebreak.domains.fathom.episode import FathomEpisode
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES
from tiebreak.domains.fathom.traces import fenced, program

PUBLIC = ("", "state", "metadata", "schema", "openapi.json", "about", "health", "docs")
KINDS = ("niah", "multi_needle", "extractive", "counting")


def code(text: str) -> FathomAction:
    return FathomAction(act="code", text=text)


def answer(text: str) -> FathomAction:
    return FathomAction(act="answer", text=text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_is_solved_and_paid_under_the_three_tables(server: Server, kind: str) -> None:
    task = dealt(kind=kind, seed=4)
    with FathomEnv(base_url=server.url).sync() as env:
        begun = env.reset(kind=kind, seed=4)
        assert begun.observation.messages == FathomDomain().prompt(task)
        assert (begun.done, begun.reward, begun.observation.result) == (False, None, None)
        ran = env.step(code(program(task)))
        assert ran.observation.messages == [{"role": "tool", "content": task.answer}]
        ended = env.step(answer(task.answer))
        result = ended.observation.result
        assert result is not None
        assert (ended.done, ended.reward, result["correct"], result["gold_answer"]) == (True, 1.1, True, task.answer)
        assert result["rewards"] == {"v1_gate": 1.0, "v2_soft": 1.1, "v3_recursion": 1.1}
        for shape in PUBLISHED_TABLES:
            assert sum(result["terms"][shape].values()) == pytest.approx(result["rewards"][shape])


def test_the_server_replies_with_the_bytes_of_the_episode_that_trains(server: Server) -> None:
    turns = [
        fenced("x = ctx.split()\nprint(len(x), {'a', 'b'}, object())"),
        fenced("print(llm('Who?', ctx[:900]))\n1 / 0"),
        fenced("print(x[:3]") + "\n" + fenced("print(2)"),
        fenced("print('ab' * 5000)"),
    ]
    task = dealt(kind="extractive", seed=9)
    local = FathomEpisode(task.document, FathomDomain().prompt(task), tool_rounds=8)
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset(kind="extractive", seed=9)
        try:
            for turn in turns:
                local.act(turn)
                local.run()
                told = env.step(FathomAction(text=turn)).observation.messages
                assert told == [dict(local.messages[-1])]
        finally:
            local.halt("final")


def test_calls_are_counted_and_their_tree_grows(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset(kind="niah", seed=1, characters=12_000, responder="halving")
        seen = env.step(code("for i in range(2): llm('What is it?', ctx)")).observation
        depths = [call["depth"] for call in seen.tree]
        assert depths[0] == 1 and max(depths) == 3 and seen.calls == len(depths) == 14
        assert [call["parent"] for call in seen.tree].count(None) == 2
        refused = env.step(code("llm('a', ctx)\nllm('b')\nllm('c')")).observation
        assert "the budget of 16 calls is spent" in refused.messages[0]["content"]
        assert (refused.calls, refused.calls_left) == (16, 0)
        ended = env.step(answer("?")).observation.result
        assert ended is not None and ended["terms"]["v3_recursion"]["recursion"] == 0.0


def test_nothing_tells_answer_seed_or_secret_before_the_end(server: Server) -> None:
    seed = next(seed for seed in range(100) if "-" in dealt(kind="multi_needle", seed=seed).answer)
    task = dealt(kind="multi_needle", seed=seed)
    assert task.answer not in task.document
    with FathomEnv(base_url=server.url).sync() as env:
        seen = [env.reset(kind="multi_needle", seed=seed).observation.model_dump_json()]
        seen.append(env.step(code("print(len(ctx), sorted(globals()), dir())")).observation.model_dump_json())
        seen.append(env.state().model_dump_json())
        seen += [
            server.get(path) for path in ("state", "metadata", "schema", "openapi.json", "about", "health", "", "docs")
        ]
        seen.append(server.log.read_text())
        for text in seen:
            assert not any(word in text for word in (task.answer, str(task.seed), str(SECRET), task.case_id))
        assert task.answer in env.step(answer("?")).observation.model_dump_json()


def test_state_is_what_the_episode_counts(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        assert env.state().turns == 0
        env.reset(kind="counting", characters=3_000, episode_id="mine")
        env.step(code("llm('a', ctx)"))
        state = env.state()
        assert (state.episode_id, state.kind, state.step_count, state.calls, state.over) == (
            "mine",
            "counting",
            1,
            1,
            False,
        )
        assert state.characters <= 3_000 and "gold_answer" not in json.dumps(state.model_dump())


def test_a_seed_repeats_a_task_and_none_gives_others(server: Server) -> None:
    def question(**options: object) -> object:
        with FathomEnv(base_url=server.url).sync() as env:
            return env.reset(**options).observation.messages

    assert question(seed=3) == question(seed=3) != question(seed=4)
    assert question() != question()


def test_one_session_plays_many_episodes_and_names_do_not_cross(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset()
        env.step(code("mine = 1"))
        env.reset()
        assert "NameError" in env.step(code("print(mine)")).observation.messages[0]["content"]


WRONG = [
    ({"kind": "poem"}, "reset: kind is 'poem': input should be 'niah', 'multi_needle'"),
    ({"characters": 10}, "reset: characters is 10: input should be greater than or equal to 1000"),
    ({"characters": 10**9}, "less than or equal to 200000"),
    ({"colour": "red"}, "reset: colour is 'red': extra inputs are not permitted; known are kind, characters"),
    ({"seed": -1}, "reset: seed is -1"),
    ({"shape": "v9"}, "reset: shape is 'v9'"),
    ({"responder": "gpt"}, "reset: responder is 'gpt'"),
]


@pytest.mark.parametrize(("options", "words"), WRONG, ids=[words for _, words in WRONG])
def test_a_reset_that_cannot_be_had_is_refused_by_name_and_the_session_lives(
    server: Server, options: dict[str, object], words: str
) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        with pytest.raises(RuntimeError) as told:
            env.reset(**options)
        assert words in str(told.value)
        assert env.reset().observation.rounds_left == 8


def test_turns_that_cannot_be_taken_are_refused_in_words(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        with pytest.raises(RuntimeError, match="there is no episode; reset first"):
            env.step(code("1"))
        env.reset()
        with pytest.raises(RuntimeError, match="holds a pair of <answer> tags"):
            env.step(code("print('<answer>1</answer>')"))
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.step(FathomAction.model_construct(act="code", text="x" * 70_000))
        assert env.step(code("print('```' + '`')")).observation.messages[0]["content"] == "````"
        env.step(answer("1"))
        with pytest.raises(RuntimeError, match=r"this episode is over \(final\); reset for another"):
            env.step(code("1"))


def test_more_code_than_rounds_ends_it_and_pays_as_the_tables_say(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset(shape="v1_gate")
        for left in range(7, -1, -1):
            assert env.step(code("1")).observation.rounds_left == left
        ended = env.step(code("1"))
        assert ended.observation.result is not None
        assert (ended.done, ended.reward, ended.observation.result["stop"]) == (True, 0.0, "budget")


def test_texts_that_no_utf8_can_hold_break_nothing(server: Server) -> None:
    with FathomEnv(base_url=server.url).sync() as env:
        env.reset()
        seen = env.step(code("llm('\\ud800' + chr(0), '\\udfff')\nprint('\\ud800')")).observation
        assert (seen.tree[0]["prompt"], seen.messages[0]["content"]) == ("?\x00", "\\ud800")
        assert env.state().tree[0]["prompt"] == "?\x00"
    with pytest.raises(ValueError, match="unicode"):
        FathomAction(act="answer", text="\ud800")
