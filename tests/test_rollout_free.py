"""The free loop: its rollouts are those of the loop in step, verdicts come in batches, failures stay where they are."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak import rollout_free
from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import RewardTable
from tiebreak.domains.rust.toolbox import project_root
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.errors import EngineError, RequestError, SandboxError
from tiebreak.rollout import Attempt, Played, play
from tiebreak.rollout_free import LANES, Desk, play_free

SAMPLING = Sampling(0.8, 24, 900)


class Apart(HfEngine):
    """The transformers engine, one conversation at a time. `broken`: seeds whose requests fail for good."""

    at_once = 8

    def __init__(self, model: Any, tokenizer: Any, sampling: Sampling) -> None:
        super().__init__(model, tokenizer, sampling)
        self.broken: dict[int, type[EngineError]] = {}

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        yield

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        await asyncio.sleep(0)
        if seed in self.broken:
            raise self.broken[seed](f"request {seed}")
        session = self.session(1)
        session.context[0] = list(context)
        return session.reply([0], [""], [seed])[0]


class Speaker(Apart):
    """One that says the case's own plan, so that episodes are long and cargo has work; a seed is case × 100 + turn."""

    def __init__(self, base: HfEngine, plans: dict[int, list[str]]) -> None:
        super().__init__(base.model, base.tokenizer, Sampling(0.8, 4000, 100_000))
        self.plans = plans

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        await asyncio.sleep(0)
        if seed in self.broken:
            raise self.broken[seed](f"request {seed}")
        return self.turn([*self.encode(self.plans[seed // 100][seed % 100]), self.end_id])


@pytest.fixture
def domain(tmp_path: Path) -> RustDomain:
    return RustDomain(Judge(tmp_path / "verdicts"), {"dense": RewardTable(compiled=0.5, tests_passed=2.0)})


@pytest.fixture(scope="module")
def apart(model_folder: Path) -> Apart:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32")
    return Apart(model, AutoTokenizer.from_pretrained(model_folder), SAMPLING)


def attempts(domain: RustDomain, cases: Sequence[Any], samples: int = 2) -> list[Attempt]:
    return [
        Attempt(case, domain.prompt(case), sample, lambda turn, at=at, sample=sample: 1000 * at + 100 * sample + turn)
        for at, case in enumerate(cases)
        for sample in range(samples)
    ]


def kept(played: list[Played]) -> list[Played]:
    return played


def told(played: Sequence[Played]) -> list[Any]:
    """All that a rollout consists of."""
    return [(one.episode.messages, one.episode.stop, one.ids, one.spans, one.seeds, one.replies) for one in played]


def test_rollouts_are_those_of_the_loop_in_step(apart: Apart, domain: RustDomain, cases: list[Any]) -> None:
    wanted = play(HfEngine(apart.model, apart.tokenizer, SAMPLING), domain, attempts(domain, cases), tool_rounds=2)
    found = asyncio.run(play_free(apart, domain, attempts(domain, cases), kept, tool_rounds=2))
    assert told(found) == told(wanted)


def plans(domain: RustDomain, cases: Sequence[Any]) -> dict[int, list[str]]:
    """The assistant's turns of each case's demonstration."""
    from random import Random

    traces = domain.traces(cases, lambda case: Random(1), 0.0)
    turns = [[turn["content"] for turn in trace if turn["role"] == "assistant"] for trace in traces]
    return {10 * at + sample: own for at, own in enumerate(turns) for sample in range(2)}


def test_real_cargo_answers_while_others_go_on(apart: Apart, domain: RustDomain, cases: list[Any]) -> None:
    speaker = Speaker(apart, plans(domain, cases))
    threads: set[str] = set()
    answer = domain.answer

    def noted(live: Sequence[Any]) -> None:
        threads.add(threading.current_thread().name)
        answer(live)

    domain.answer = noted  # type: ignore[method-assign]
    found = asyncio.run(play_free(speaker, domain, attempts(domain, cases), kept, tool_rounds=8))
    assert [one.episode.stop for one in found] == ["final"] * len(found)
    assert all(domain.grades([one.episode for one in found]))
    assert threads and all(name.startswith("domain") for name in threads)


def test_a_request_that_fails_for_good_ends_its_rollout_in_an_error_and_no_other(
    apart: Apart, domain: RustDomain, cases: list[Any]
) -> None:
    speaker = Speaker(apart, plans(domain, cases))
    speaker.broken = {1001: RequestError, 2000: RequestError}
    found = asyncio.run(play_free(speaker, domain, attempts(domain, cases), kept, tool_rounds=8))
    stops = {(one.attempt.case.case_id, one.attempt.sample): one.episode.stop for one in found}
    broken = {(cases[1].case_id, 0), (cases[2].case_id, 0)}
    assert {name for name, stop in stops.items() if stop == "error"} == broken
    outcomes = domain.outcomes([one.episode for one in found])
    assert [not one["rewards"] for one in outcomes] == [one["stop"] == "error" for one in outcomes]


def test_a_rollout_that_has_ended_is_closed_though_all_programs_are_slow(
    apart: Apart, domain: RustDomain, cases: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollout_free, "PATIENCE", 0.01)
    read = 'CALL read_file {"id":"a","file_path":"%s/src/lib.rs"}'
    turns = {10 * at: [read % project_root(case.case_id), "FINAL: x"] for at, case in enumerate(cases[:LANES])}
    speaker = Ender(apart, turns | {10 * LANES: ["FINAL: x"]})
    closed, in_time, answer = threading.Event(), list[bool](), domain.answer

    def slow(live: Sequence[Any]) -> None:
        speaker.lanes += 1
        in_time.append(closed.wait(30))
        answer(live)

    def close(played: list[Played]) -> list[Played]:
        closed.set()
        return played

    domain.answer = slow  # type: ignore[method-assign]
    own = attempts(domain, cases[: LANES + 1], samples=1)
    found = asyncio.run(play_free(speaker, domain, own, close, tool_rounds=2))
    assert in_time == [True] * LANES
    assert [one.episode.stop for one in found] == ["final"] * (LANES + 1)


class Ender(Speaker):
    """One whose last conversation says nothing before all lanes are taken, each by one of the others in turn."""

    lanes = 0

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        while self.lanes < seed // 1000:
            await asyncio.sleep(0.01)
        return await super().reply(context, seed)


@pytest.mark.parametrize("problem", [EngineError, SandboxError])
def test_what_is_wrong_with_all_ends_all(
    apart: Apart, domain: RustDomain, cases: list[Any], problem: type[Exception]
) -> None:
    speaker = Speaker(apart, plans(domain, cases))
    if problem is EngineError:
        speaker.broken = {3001: EngineError}
    else:
        domain.answer = failing  # type: ignore[method-assign]
    with pytest.raises(problem):
        asyncio.run(play_free(speaker, domain, attempts(domain, cases), kept, tool_rounds=8))


def failing(live: Sequence[Any]) -> None:
    raise SandboxError("no bubblewrap")


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_a_desk_answers_each_once_in_batches(waits: list[int]) -> None:
    batches: list[list[int]] = []

    def work(items: list[int]) -> list[int]:
        batches.append(items)
        return [item * item for item in items]

    async def all_of_them() -> list[int]:
        with ThreadPoolExecutor(1) as worker:
            desk = Desk[int, int](worker, work)

            async def one(number: int, wait: int) -> int:
                for _ in range(wait):
                    await asyncio.sleep(0)
                return await desk.ask(number)

            return list(await asyncio.gather(*(one(number, wait) for number, wait in enumerate(waits))))

    assert asyncio.run(all_of_them()) == [number * number for number in range(len(waits))]
    assert sorted(item for batch in batches for item in batch) == list(range(len(waits)))


def test_a_desk_gathers_while_it_works() -> None:
    begun, go_on = threading.Event(), threading.Event()
    batches: list[int] = []

    def work(items: list[int]) -> list[int]:
        batches.append(len(items))
        begun.set()
        assert go_on.wait(10)
        return items

    async def all_of_them() -> None:
        with ThreadPoolExecutor(1) as worker:
            desk = Desk[int, int](worker, work)
            first = asyncio.ensure_future(desk.ask(0))
            while not begun.is_set():
                await asyncio.sleep(0.01)
            rest = [asyncio.ensure_future(desk.ask(number)) for number in range(1, 6)]
            await asyncio.sleep(0.01)
            go_on.set()
            await asyncio.gather(first, *rest)

    asyncio.run(all_of_them())
    assert batches == [1, 5]


def test_a_slow_batch_holds_up_its_own_and_no_other() -> None:
    go_on = threading.Event()

    def work(items: list[str]) -> list[str]:
        if "slow" in items:
            assert go_on.wait(10)
        return items

    async def all_of_them() -> None:
        with ThreadPoolExecutor(2) as workers:
            desk = Desk[str, str](workers, work, patience=0.01)
            slow = asyncio.ensure_future(desk.ask("slow"))
            await asyncio.sleep(0)
            assert await asyncio.wait_for(desk.ask("quick"), 10) == "quick" and not slow.done()
            go_on.set()
            await slow

    asyncio.run(all_of_them())
