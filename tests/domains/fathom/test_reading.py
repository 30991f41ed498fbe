"""Stored fathom rollouts, read again: the phase, the slips, and the rewards that were stored."""

from dataclasses import replace

import pytest

from tiebreak.domains.fathom.domain import FathomDomain
from tiebreak.domains.fathom.episode import Settings
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.reading import PHASES, SLIPS, FathomReader
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES
from tiebreak.domains.reading import StoredRollout
from tiebreak.errors import DataError

(TASK,) = generate(1, 1, {900: 1.0})
READER = FathomReader([TASK], PUBLISHED_TABLES)
GOOD = {"ok": True, "cut": False, "ended": "ran"}


def facts(**changes: object) -> dict[str, object]:
    plain = {
        "answer": TASK.answer,
        "gold_answer": TASK.answer,
        "calls": 0,
        "refused": 0,
        "depth": 0,
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "blocks": [GOOD],
    }
    return plain | changes


@pytest.mark.parametrize(
    ("changes", "phase", "slipped"),
    [
        ({}, "success", {}),
        ({"answer": "no such thing"}, "answered", {}),
        ({"answer": " "}, "answered", {"empty_answer": 1}),
        ({"answer": None}, "code_ran", {"no_answer": 1}),
        ({"answer": None, "blocks": [GOOD | {"ok": False, "cut": True}]}, "code_failed",
         {"no_answer": 1, "failed_block": 1, "cut_output": 1}),
        ({"answer": None, "blocks": [], "refused": 3}, "nothing_run", {"no_answer": 1, "refused_call": 3}),
    ],
)  # fmt: skip
def test_how_far_a_rollout_came(changes: dict[str, object], phase: str, slipped: dict[str, int]) -> None:
    reading = READER.read(StoredRollout(TASK.case_id, [], "final", facts(**changes)))
    assert reading.reached == phase and phase in PHASES
    assert {name: count for name, count in reading.slips.items() if count} == slipped
    assert set(reading.slips) == set(SLIPS)


def test_rewards_are_those_of_each_shape_and_none_for_an_error() -> None:
    reading = READER.read(StoredRollout(TASK.case_id, [], "final", facts(calls=1)))
    assert reading.rewards == {"v1_gate": 1.0, "v2_soft": 1.1, "v3_recursion": pytest.approx(1.1 - 0.15 * 0.25)}
    assert READER.read(StoredRollout(TASK.case_id, [], "error", facts())).rewards == {}


def test_without_facts_an_episodes_own_turns_say_how_far_it_came() -> None:
    """Real episodes, so that what a failure and a cut look like is what the REPL really says."""
    domain = FathomDomain(PUBLISHED_TABLES, replace(Settings(), output_limit=60))
    programs = {
        "success": ["print(ctx[:3])", f"<answer>{TASK.answer}</answer>"],
        "code_failed": ["1 / 0", "no answer"],
        "code_ran": ["print('x' * 99)", "no answer"],
        "nothing_run": ["no answer"],
    }
    for phase, contents in programs.items():
        episode = domain.episode(TASK, domain.prompt(TASK), tool_rounds=3)
        for content in contents:
            episode.act(content if "answer" in content else f"```python\n{content}\n```")
            if episode.stop is None:
                domain.answer([episode])
        (outcome,) = domain.outcomes([episode])
        stored = StoredRollout(TASK.case_id, episode.messages, outcome["stop"], outcome["facts"])
        reading, bare = READER.read(stored), READER.read(stored._replace(facts=None))
        assert (bare.reached, bare.slips, bare.rewards) == (phase, reading.slips, {})
        assert reading.reached == phase and set(reading.rewards) == set(PUBLISHED_TABLES)


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(DataError, match="case other is not among the cases"):
        READER.read(StoredRollout("other", [], "final", facts()))


def test_what_stands_in_a_turn_that_a_limit_cut_is_no_answer() -> None:
    domain = FathomDomain(PUBLISHED_TABLES)
    episode = domain.episode(TASK, domain.prompt(TASK), tool_rounds=3)
    episode.messages.append({"role": "assistant", "content": f"<answer>{TASK.answer}</answer> and so on, and"})
    episode.halt("tokens")
    (outcome,) = domain.outcomes([episode])
    reading = READER.read(StoredRollout(TASK.case_id, episode.messages, outcome["stop"], outcome["facts"]))
    assert (reading.valid, reading.success) == (outcome["valid"], outcome["success"]) == (False, False)
    reading = READER.read(StoredRollout(TASK.case_id, episode.messages, "final", None))
    assert (reading.valid, reading.success) == (True, True)
