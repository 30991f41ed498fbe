"""An episode as a server plays it: what is shown and when."""

import json
from collections.abc import Iterator

import pytest

from tiebreak.domains.fathom.domain import FathomDomain
from tiebreak.domains.fathom.orders import Allowance, Dealer, Order, as_turn
from tiebreak.domains.fathom.play import Play
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES
from tiebreak.domains.fathom.scripted import episodes, play
from tiebreak.domains.fathom.traces import program
from tiebreak.errors import ConfigError

ORDER = Order(kind="multi_needle", characters=2_000, seed=1)
TASK = Dealer(1).task(ORDER)


@pytest.fixture
def live() -> Iterator[Play]:
    found = Play(TASK, ORDER, Allowance(tool_rounds=2))
    yield found
    found.close()


def test_nothing_is_told_before_the_end_and_all_after_it(live: Play) -> None:
    assert live.news() == FathomDomain().prompt(TASK) and live.news() == []
    live.turn(as_turn("code", "llm('a', ctx)"))
    assert live.news() == [{"role": "tool", "content": "(no output)"}]
    assert live.result() is None and not live.over
    told = json.dumps(live.view())
    assert TASK.answer not in told and str(TASK.seed) not in told
    live.turn(as_turn("answer", TASK.answer))
    assert live.news() == [] and live.over
    result = live.result()
    assert result is not None and result["correct"] and result["gold_answer"] == TASK.answer
    assert result["rewards"] == {"v1_gate": 1.0, "v2_soft": 1.1, "v3_recursion": pytest.approx(1.0625)}
    with pytest.raises(ConfigError, match="over"):
        live.turn("more")


def test_what_is_left_is_counted_down(live: Play) -> None:
    live.turn(as_turn("code", "1"))
    live.turn(as_turn("code", "llm('a')"))
    view = live.view()
    assert (view["turns"], view["rounds_left"], view["calls"], view["calls_left"]) == (2, 0, 1, 15)
    live.turn(as_turn("code", "1"))
    result = live.result()
    assert result is not None and (result["stop"], result["answer"]) == ("budget", None)


def test_one_that_was_closed_pays_nothing(live: Play) -> None:
    live.close()
    result = live.result()
    assert result is not None and (result["stop"], result["rewards"], result["terms"]) == ("error", {}, {})


def test_abandoned_code_ends_now_and_what_comes_after_at_once(live: Play) -> None:
    live.abandon()
    live.turn(as_turn("code", "while True: pass"))
    assert "it was killed for its time" in live.news()[-1]["content"]


def test_scripted_episodes_are_real_and_say_that_no_model_was_there() -> None:
    shown = episodes({"commit": "abc", "dirty": False}, root_seed=3)
    assert "No language model" in shown["about"] and len(shown["episodes"]) == 8
    for one in shown["episodes"]:
        assert "no language model" in one["label"] and one["source"]["commit"] == "abc"
        assert one["correct"] or "llm()" in one["label"], "a task's own program finds the answer"
        assert set(one["rewards"]) == set(PUBLISHED_TABLES) and len(one["tree"]) == one["facts"]["calls"]


def test_a_script_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(ConfigError):
        play(TASK, ["print('<answer>x</answer>')"], ORDER, {}, "fails")
    again = play(TASK, [program(TASK)], ORDER, {}, "works")
    assert again["turns"][-1]["content"] == as_turn("answer", TASK.answer)
