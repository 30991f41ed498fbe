"""`llm()` answered by the policy that plays: the engine itself samples each inner turn, with seeds of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tiebreak.domains.fathom.domain import FathomDomain
from tiebreak.domains.fathom.episode import Settings
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.tasks import Task
from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.hf import HfEngine, HfSession
from tiebreak.errors import EngineError, RequestError
from tiebreak.rollout import Attempt, Played, play
from tiebreak.rollout_free import play_free
from tiebreak.seeds import derive

CODE = "```python\nprint(repr(llm('What is it?', ctx[:40])), repr(llm('And this?', ctx[40:80])))\n```"
ASKED: list[tuple[str, int]] = []


class Asking(HfSession):
    """A real session in which the outer conversations' first turn is code that asks; inner ones are as sampled."""

    first = True

    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        replies = super().reply(rows, texts, seeds)
        if len(self.context) == 1:
            ASKED.append((texts[0], seeds[0]))
            return replies
        if not self.first:
            return replies
        self.first = False
        return [Reply(CODE, reply.ids, True) for reply in replies]


class Engine(HfEngine):
    def session(self, size: int) -> HfSession:
        super().session(size)
        return Asking(self, size)


@pytest.fixture(scope="module")
def engine(model_folder: Path) -> Engine:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(model_folder)
    return Engine(model, AutoTokenizer.from_pretrained(model_folder), Sampling(1.0, 12, 2000))


@pytest.fixture
def tasks() -> Iterator[list[Task]]:
    ASKED.clear()
    yield generate(3, 2, {600: 1.0})


class Apart(HfEngine):
    """The engine without a common step, whose outer conversations begin with the same code. broken: seeds that fail."""

    at_once = 4
    broken: Mapping[int, type[EngineError]] = {}
    first: Sequence[int] = ()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        yield

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        await asyncio.sleep(0)
        if seed in self.broken:
            raise self.broken[seed](f"request {seed}")
        session = self.session(1)
        session.context[0] = list(context)
        reply = session.reply([0], [""], [seed])[0]
        return Reply(CODE, reply.ids, True) if seed in self.first else reply


def attempts_of(domain: FathomDomain, tasks: list[Task]) -> list[Attempt]:
    prompts = [(task, domain.prompt(task, "Be brief.")) for task in tasks]
    return [Attempt(task, messages, 0, partial(derive, 5, "eval", 0, task.case_id, 0)) for task, messages in prompts]


def free(engine: HfEngine, tasks: list[Task], broken: Mapping[int, type[EngineError]] | None = None) -> list[Any]:
    """The outcomes of the loop without a common step."""
    domain = FathomDomain({}, Settings(respond=None, most_calls=3), workers=2)
    apart = Apart(engine.model, engine.tokenizer, engine.sampling)
    apart.broken, apart.first = broken or {}, [derive(5, "eval", 0, task.case_id, 0, 0) for task in tasks]

    def close(played: list[Played]) -> list[Any]:
        return domain.outcomes([item.episode for item in played])

    return asyncio.run(play_free(apart, domain, attempts_of(domain, tasks), close, tool_rounds=2))


def outcomes(engine: Engine, tasks: list[Task], *, workers: int) -> list[Any]:
    domain = FathomDomain({}, Settings(respond=None, most_calls=3), workers=workers)
    played: list[Played] = play(engine, domain, attempts_of(domain, tasks), tool_rounds=2)
    found = domain.outcomes([item.episode for item in played])
    return [(item.episode.messages, item.ids, outcome) for item, outcome in zip(played, found, strict=True)]


def test_inner_turns_have_seeds_of_the_rollout_and_the_call(engine: Engine, tasks: list[Task]) -> None:
    found = outcomes(engine, tasks, workers=1)
    wanted = [derive(5, "eval", 0, task.case_id, 0, "llm", number, 0) for task in tasks for number in (1, 2)]
    assert {seed for _, seed in ASKED} >= set(wanted)
    assert all("Be brief." in text for text, _ in ASKED if "<|im_start|>system" in text)
    assert any(f"What is it?\n\n[Document excerpt]:\n{tasks[0].document[:40]}" in text for text, _ in ASKED)
    for _, _, outcome in found:
        facts = outcome["facts"]
        assert (facts["calls"], facts["depth"]) == (2, 1)
        assert 2 <= facts["inner_tokens"] <= 2 * 12 * 3
        assert facts["completion_tokens"] <= 12 * 3  # those of the outer turns alone


def test_the_same_seeds_give_the_same_bytes_whatever_runs_at_the_same_time(engine: Engine, tasks: list[Task]) -> None:
    assert outcomes(engine, tasks, workers=1) == outcomes(engine, tasks, workers=2)


def test_the_free_loop_asks_the_same_and_is_told_the_same(engine: Engine, tasks: list[Task]) -> None:
    asked = [outcome["facts"]["asked"] for _, _, outcome in outcomes(engine, tasks, workers=1)]
    assert [len(calls) for calls in asked] == [2, 2]
    assert [outcome["facts"]["asked"] for outcome in free(engine, tasks)] == asked


def test_a_call_that_fails_for_good_ends_its_rollout_alone(engine: Engine, tasks: list[Task]) -> None:
    seed = derive(5, "eval", 0, tasks[0].case_id, 0, "llm", 2, 0)
    one, other = free(engine, tasks, {seed: RequestError})
    assert one["stop"] == "error" != other["stop"]
    with pytest.raises(EngineError, match=f"request {seed}"):
        free(engine, tasks, {seed: EngineError})


def test_stored_replies_are_enough_to_play_it_again(engine: Engine, tasks: list[Task]) -> None:
    domain = FathomDomain({}, Settings(respond=None, most_calls=3))
    for task, (messages, _, outcome) in zip(tasks, outcomes(engine, tasks, workers=1), strict=True):
        ASKED.clear()
        again = domain.episode(task, messages[:2], tool_rounds=2)
        again.recall(outcome["facts"])
        again.act(CODE)
        domain.answer([again])
        assert again.messages == messages[: len(again.messages)] and len(again.messages) == 4
        again.halt("final")
        told = ("calls", "refused", "depth", "inner_tokens", "asked")
        facts = domain.outcomes([again])[0]["facts"]
        assert {name: facts[name] for name in told} == {name: outcome["facts"][name] for name in told}
        assert ASKED == []


def test_more_calls_than_were_stored_are_an_error(tasks: list[Task]) -> None:
    domain = FathomDomain({}, Settings(respond=None))
    again = domain.episode(tasks[0], domain.prompt(tasks[0]), tool_rounds=2)
    again.recall({"asked": []})
    again.act(CODE)
    with pytest.raises(EngineError, match="more often"):
        domain.answer([again])


def test_where_the_stub_answers_nobody_is_asked(engine: Engine, tasks: list[Task]) -> None:
    domain = FathomDomain({}, Settings())
    attempts = [Attempt(task, domain.prompt(task), 0, partial(derive, 5, task.case_id)) for task in tasks]
    played = play(engine, domain, attempts, tool_rounds=1)
    assert ASKED == []
    assert [outcome["facts"]["inner_tokens"] for outcome in domain.outcomes([item.episode for item in played])] == [
        0,
        0,
    ]
    assert all("And this?" in item.episode.messages[2]["content"] for item in played)


def test_traces_are_made_although_nobody_plays_yet(tasks: list[Task]) -> None:
    asking = FathomDomain({}, Settings(respond=None))
    shown = asking.traces(generate(1, 20, {600: 1.0}), lambda task: Random(task.seed), 0.0)
    assert any("llm(" in turn["content"] for trace in shown for turn in trace if turn["loss"])
