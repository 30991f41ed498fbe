"""Conversations that another loop drives are those of our own loop, byte for byte, verdict for verdict."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from environments.hostile import HOSTILE, turns
from environments.reference import judged
from environments.server import CUT
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.chat import Message, render
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Reply
from tiebreak.environment import Environment, Verdict, request_seed, same_words
from tiebreak.errors import DataError, EngineError, SandboxError
from tiebreak.rollout import Attempt, Played, play
from tiebreak.seeds import stream

ARM = "dense"
ROUNDS = 15
Talk = tuple[Any, list[str]]


@pytest.fixture(scope="module")
def domain() -> RustDomain:
    return RustDomain(Judge(None), PUBLISHED_TABLES)


@pytest.fixture(scope="module")
def talks(domain: RustDomain, cases: list[Any]) -> list[Talk]:
    """Cases with what a model says about them: demonstrations, a right patch that nobody tests, hostile turns."""
    traces = domain.traces(cases[:3], lambda case: stream(1, case.case_id), 0.5)
    shown = [[turn["content"] for turn in trace if turn["role"] == "assistant"] for trace in traces]
    return [
        *zip(cases[:3], shown, strict=True),
        (cases[0], [*shown[0][:2], "FINAL: untested"]),
        *((cases[1], turns(name, cases[1])) for name in HOSTILE),
    ]


class Script:
    """An engine that says what was written down, and the session of its conversations."""

    def __init__(self, said: Sequence[list[str]]) -> None:
        self.said, self.context = said, [[0] for _ in said]
        self.done = [0] * len(said)

    def session(self, size: int) -> "Script":
        return self

    def describe(self) -> dict[str, object]:
        return {}

    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        found = []
        for row in rows:
            text, cut, _ = self.said[row][self.done[row]].partition(CUT)
            self.done[row] += 1
            found.append(Reply(text.rstrip(" \t\n\r\f\v"), [1], not cut))
        return found


def opened(domain: RustDomain, cases: Sequence[Any]) -> Environment:
    prompts = [(case, domain.prompt(case)) for case in cases]
    return Environment(domain, prompts, arm=ARM, root_seed=7, tool_rounds=ROUNDS)


async def drive(environment: Environment, case: Any, said: Sequence[str]) -> tuple[Played, Verdict]:
    """A conversation as an RL library drives it, turn after turn, and its verdict."""
    played = environment.open(case.case_id)
    messages = list(played.episode.messages)
    for turn in said:
        text, cut, _ = turn.partition(CUT)
        replies = await environment.turn(played, text, complete=not cut)
        messages += [{"role": "assistant", "content": text}, *replies]
        same_words(messages, played)
        if played.episode.stop is not None:
            break
    return played, await environment.verdict(played)


@pytest.fixture(scope="module")
def driven(domain: RustDomain, talks: list[Talk]) -> list[tuple[Played, Verdict]]:
    """All conversations, at the same time."""
    environment = opened(domain, [case for case, _ in talks])

    async def all_at_once() -> list[tuple[Played, Verdict]]:
        return await asyncio.gather(*(drive(environment, case, said) for case, said in talks))

    return asyncio.run(all_at_once())


def test_a_driven_conversation_is_that_of_our_own_loop(
    domain: RustDomain, talks: list[Talk], driven: list[tuple[Played, Verdict]]
) -> None:
    attempts = [Attempt(case, domain.prompt(case), 0, lambda turn: turn) for case, _ in talks]
    played = play(Script([said for _, said in talks]), domain, attempts, tool_rounds=ROUNDS)
    own = domain.outcomes([item.episode for item in played])
    grades = domain.grades([item.episode for item in played])
    for (other, verdict), mine, outcome, graded in zip(driven, played, own, grades, strict=True):
        assert other.episode.messages == mine.episode.messages
        assert (verdict.stop, verdict.reward) == (outcome["stop"], outcome["rewards"][ARM])
        found = {name: verdict.metrics[name] for name in ("valid", "success", "graded")}
        assert found == {"valid": outcome["valid"], "success": outcome["success"], "graded": graded}
        assert other.truncated == mine.truncated
    assert {verdict.stop for _, verdict in driven} == {"final", "malformed", "budget", "tokens"}
    assert sum(verdict.metrics["graded"] for _, verdict in driven) >= 3


def test_the_reward_is_the_sum_of_its_terms(talks: list[Talk], driven: list[tuple[Played, Verdict]]) -> None:
    for _, verdict in driven:
        terms = [value for name, value in verdict.metrics.items() if name.startswith("term_")]
        assert sum(terms) == verdict.reward
    assert len({verdict.reward for _, verdict in driven}) > 3


def test_what_waits_together_is_judged_together(domain: RustDomain, cases: list[Any]) -> None:
    sizes: list[int] = []

    class Counted(RustDomain):
        def answer(self, live: Sequence[Any]) -> None:
            sizes.append(len(live))
            super().answer(live)

    environment = opened(Counted(domain.judge, PUBLISHED_TABLES), cases)

    async def run() -> None:
        await asyncio.gather(*(drive(environment, case, turns("again", case)) for case in cases for _ in range(8)))

    asyncio.run(run())
    assert max(sizes) == 8 * len(cases), "the first turns of all"
    assert sum(sizes) == 4 * 8 * len(cases), "every turn that did not end its conversation, and none twice"


def test_no_verdict_is_an_error_and_no_score(domain: RustDomain, cases: list[Any]) -> None:
    class Broken(RustDomain):
        def answer(self, live: Sequence[Any]) -> None:
            raise SandboxError("bubblewrap is gone")

    environment = opened(Broken(domain.judge, PUBLISHED_TABLES), cases)
    with pytest.raises(SandboxError, match="bubblewrap is gone"):
        asyncio.run(drive(environment, cases[0], turns("again", cases[0])))


def test_conversations_about_one_case_are_samples_with_seeds_of_their_own(domain: RustDomain, cases: list[Any]) -> None:
    environment = opened(domain, cases)
    played = [environment.open(case.case_id) for case in cases[:2] for _ in range(3)]
    assert [item.attempt.sample for item in played] == [0, 1, 2, 0, 1, 2]
    seeds = [item.attempt.seed(turn) for item in played for turn in range(4)]
    assert len(set(seeds)) == 24 and all(0 <= seed < 2**31 for seed in seeds)
    again = opened(domain, cases).open(cases[0].case_id).attempt
    assert [again.seed(turn) for turn in range(4)] == seeds[:4]
    assert request_seed(7, "EnvWorker-0", "a", 0, 0) != request_seed(7, "EnvWorker-1", "a", 0, 0)


def test_rows_name_their_case_and_show_its_prompt(domain: RustDomain, cases: list[Any]) -> None:
    row = opened(domain, cases).rows()[2]
    case = cases[2]
    assert row["info"] == {"case_id": case.case_id, "family": case.family, "template": case.template}
    assert row["prompt"] == domain.prompt(case)
    with pytest.raises(DataError, match="nowhere is not among the 6 cases"):
        opened(domain, cases).open("nowhere")


@given(st.lists(st.tuples(st.sampled_from(["assistant", "tool"]), st.text(max_size=20)), max_size=4), st.text())
def test_a_client_may_change_nothing_that_is_seen(said: list[tuple[str, str]], other: str) -> None:
    messages = [Message(role=role, content=text) for role, text in said]
    case: Any = SimpleNamespace(case_id="a")
    talk: Any = SimpleNamespace(messages=messages)
    played = Played(Attempt(case, [], 0, lambda turn: 0), talk)
    same_words([Message(role=role, content=text + " \n") for role, text in said], played)
    for number, (role, _) in enumerate(said):
        changed = [*messages[:number], Message(role=role, content=other), *messages[number + 1 :]]
        if render(changed) == render(messages):
            same_words(changed, played)
        else:
            with pytest.raises(EngineError, match="case a: the model would be asked with"):
                same_words(changed, played)


def test_the_reference_agrees(domain: RustDomain, talks: list[Talk], driven: list[tuple[Played, Verdict]]) -> None:
    """The reference that real rollouts are held against is the domain's own episode."""
    for (case, said), (played, verdict) in zip(talks[:5], driven[:5], strict=True):
        found = judged(domain, ARM, case, said, cut=False)
        assert found == (verdict.stop, verdict.reward, verdict.metrics, played.episode.messages)
