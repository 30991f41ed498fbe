"""Batches: everything is answered once and by its own result, together with whatever waited meanwhile."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.batches import Batches


class Recorder:
    """Doubles numbers; keeps each batch; waits for `gate` where there is one; fails on negative numbers."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.batches: list[list[int]] = []
        self.gate = gate
        self.threads: set[int] = set()

    def __call__(self, numbers: list[int]) -> list[int]:
        self.batches.append(numbers)
        self.threads.add(threading.get_ident())
        if self.gate is not None:
            assert self.gate.wait(30)
        if any(number < 0 for number in numbers):
            raise ValueError(f"negative in {numbers}")
        return [2 * number for number in numbers]


@given(st.lists(st.integers(0, 99), max_size=20))
def test_each_gets_its_own_result(numbers: list[int]) -> None:
    work = Recorder()

    async def all_at_once() -> list[int]:
        batches = Batches(work)
        return await asyncio.gather(*map(batches, numbers))

    assert asyncio.run(all_at_once()) == [2 * number for number in numbers]
    assert work.batches == ([numbers] if numbers else []), "what waits at the same time is one batch"
    assert threading.get_ident() not in work.threads, "the event loop does none of the work"


def test_what_comes_while_a_batch_is_worked_on_is_the_next_batch() -> None:
    work = Recorder(threading.Event())

    async def two_waves() -> list[int]:
        batches = Batches(work)
        first = asyncio.create_task(batches(1))
        while not work.batches:
            await asyncio.sleep(0.001)
        late = [asyncio.create_task(batches(number)) for number in (2, 3, 4)]
        await asyncio.sleep(0)
        late[1].cancel()
        work.gate.set()
        await asyncio.wait(late)
        return [await first, await late[0], await late[2]]

    assert asyncio.run(two_waves()) == [2, 4, 8]
    assert work.batches == [[1], [2, 4]], "who gave up is not worked for"


def test_a_failure_reaches_all_of_its_batch_and_no_other() -> None:
    work = Recorder()

    async def failing() -> list[int | BaseException]:
        batches = Batches(work)
        found = await asyncio.gather(batches(1), batches(-1), return_exceptions=True)
        return [*found, await batches(5)]

    first, second, third = asyncio.run(failing())
    assert isinstance(first, ValueError) and isinstance(second, ValueError) and third == 10


def test_one_object_serves_one_event_loop_after_the_other() -> None:
    batches = Batches(Recorder())

    async def one(number: int) -> int:
        return await batches(number)

    assert [asyncio.run(one(number)) for number in (1, 2)] == [2, 4]


def test_results_that_are_too_few_are_a_failure() -> None:
    batches: Batches[int, int] = Batches(lambda numbers: [])

    async def one() -> int:
        return await batches(1)

    with pytest.raises(ValueError, match="shorter"):
        asyncio.run(one())
