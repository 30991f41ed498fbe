"""Work of many coroutines, done together and off the event loop: while one batch is worked on, the next collects."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batches(Generic[Item, Result]):
    """`work` answers a list of items in their order, in a thread, one list at a time.

    An exception of `work` is raised to all whose items were in its batch. One event loop at a time.
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Result]]) -> None:
        self.work = work
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._runner: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        """The result of one item; who gives up waiting leaves the others of the batch theirs."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if self._runner is None or self._runner.done() or self._runner.get_loop() is not loop:
            self._runner = loop.create_task(self._run())
        return await future

    async def _run(self) -> None:
        while self._waiting:
            batch = [(item, future) for item, future in self._waiting if not future.done()]
            self._waiting = []
            try:
                results = await asyncio.to_thread(self.work, [item for item, _ in batch])
                for (_, future), result in zip(batch, results, strict=True):
                    if not future.done():
                        future.set_result(result)
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
