"""The agent loop without a common step: every conversation goes on as soon as its own replies are there.

One coroutine plays one rollout. What the domain has to do (verdicts, grades) is done in threads, in batches of whatever
is waiting, while the engine goes on with the other conversations. The bytes are those of `rollout.play`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from tiebreak.chat import Message, prompt
from tiebreak.domains.base import Domain, Episode
from tiebreak.engines.base import FreeEngine, Reply
from tiebreak.errors import EngineError, RequestError
from tiebreak.rollout import Attempt, Played, follow_up, take

PATIENCE = 2.0  # seconds: a batch holds a slow program, up to its time limit, and others should not wait for that
GIVEN_UP = "the sampling was given up, and nobody answers llm() any more"
LANES = 4  # batches at once
Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Desk(Generic[Item, Answer]):
    """Work on items that come one by one, done in batches: while one batch is worked on, the next one gathers.

    work: a batch's answers, in its order; called in a thread of `workers`. patience: a batch that takes longer (in
    seconds) is not waited for, and the next one is worked on beside it; None waits, so that work is never on two.
    """

    def __init__(
        self,
        workers: ThreadPoolExecutor,
        work: Callable[[list[Item]], Sequence[Answer]],
        *,
        patience: float | None = None,
    ) -> None:
        self.workers, self.work, self.patience = workers, work, patience
        self.waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self.running: asyncio.Future[None] | None = None

    async def ask(self, item: Item) -> Answer:
        """The answer to `item`; raises what the work on its batch raised."""
        mine: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiting.append((item, mine))
        if len(self.waiting) == 1:  # the first of a batch sends it off
            if self.running is not None:
                await asyncio.wait([self.running], timeout=self.patience)
            batch, self.waiting = self.waiting, []
            self.running = asyncio.ensure_future(self._serve(batch))
        return await mine

    async def _serve(self, batch: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        items = [item for item, _ in batch]
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self.workers, self.work, items)
            pairs = list(zip(batch, answers, strict=True))
        except Exception as problem:
            for _, future in batch:
                if not future.done():  # whoever asked may have been given up
                    future.set_exception(problem)
            return
        for (_, future), answer in pairs:
            if not future.done():
                future.set_result(answer)


class Line:
    """The way from a thread of the domain's to the engine, whose loop is another thread's.

    After `hang_up` nobody waits on it: what was asked, or is asked then, is an EngineError.
    """

    def __init__(self, engine: FreeEngine) -> None:
        self.engine, self.loop = engine, asyncio.get_running_loop()
        self._asked: set[Future[Reply]] = set()
        self._open, self._lock = True, Lock()

    def ask(self, context: Sequence[int], seed: int) -> Reply:
        """The engine's reply; raises what it raises."""
        with self._lock:
            if not self._open:
                raise EngineError(GIVEN_UP)
            future = asyncio.run_coroutine_threadsafe(self.engine.reply(context, seed), self.loop)
            self._asked.add(future)
        try:
            return future.result()
        except CancelledError:
            raise EngineError(GIVEN_UP) from None
        finally:
            self._asked.discard(future)

    def hang_up(self) -> None:
        """Give up what is asked."""
        with self._lock:
            self._open = False
            for future in list(self._asked):
                future.cancel()


class FreeAside:
    """A side conversation with an engine's model (`domains.base.Aside`); the bytes are those of `EngineAside`."""

    def __init__(self, line: Line, seed: Callable[..., int], number: int) -> None:
        self.tokens, self.turns = 0, 0
        self._line, self._seed = line, partial(seed, "llm", number)
        self._context: list[int] = []

    def say(self, messages: Sequence[Message]) -> str | None:
        """See `Aside.say`."""
        self._context += self._line.engine.encode(follow_up(messages) if self.turns else prompt(messages))
        reply = self._line.ask(self._context, self._seed(self.turns))
        self._context += reply.ids
        self.turns += 1
        self.tokens += len(reply.ids)
        return reply.text if reply.complete else None


Close = Callable[[list[Played]], Sequence[Answer]]


async def play_free(
    engine: FreeEngine,
    domain: Domain,
    attempts: Sequence[Attempt],
    close: Close[Answer],
    *,
    tool_rounds: int,
) -> list[Answer]:
    """Play all attempts to their ends; returns what `close` makes of each, in their order.

    close: called in a thread, never on two batches at once, with the rollouts that have ended since its last call.
    A conversation whose request failed on every try ends with stop `error`. Raises EngineError if the engine is gone,
    and what the domain or `close` raise; all conversations are then given up.
    """
    slots = asyncio.Semaphore(engine.at_once)
    with (
        ThreadPoolExecutor(LANES, thread_name_prefix="domain") as workers,
        ThreadPoolExecutor(1, thread_name_prefix="closing") as closer,  # so that slow programs hold up no grade
    ):
        verdicts = Desk[Episode, None](workers, lambda episodes: answered(domain, episodes), patience=PATIENCE)
        closing = Desk[Played, Answer](closer, close)

        line = Line(engine)

        async def one(attempt: Attempt) -> Answer:
            async with slots:
                played = await converse(engine, domain, attempt, verdicts.ask, line, tool_rounds=tool_rounds)
            return await closing.ask(played)

        async with engine.connected():
            try:
                return await together([one(attempt) for attempt in attempts])
            finally:
                line.hang_up()


def answered(domain: Domain, episodes: list[Episode]) -> list[None]:
    """The domain's work on a batch."""
    domain.answer(episodes)
    return [None] * len(episodes)


async def together(jobs: Sequence[Awaitable[Answer]]) -> list[Answer]:
    """All results in order; the first failure ends the others and is raised as it is."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def converse(
    engine: FreeEngine,
    domain: Domain,
    attempt: Attempt,
    answer: Callable[[Episode], Awaitable[None]],
    line: Line,
    *,
    tool_rounds: int,
) -> Played:
    """Play one attempt to its end."""
    played = Played(attempt, domain.episode(attempt.case, attempt.messages, tool_rounds=tool_rounds))
    episode, text = played.episode, prompt(attempt.messages)
    episode.meet(partial(FreeAside, line, attempt.seed))
    while True:
        played.ids += engine.encode(text)
        seed = attempt.seed(len(played.replies))
        try:
            reply = await engine.reply(played.ids, seed)
        except RequestError:
            episode.halt("error")
            return played
        played.ids += reply.ids
        take(played, seed, reply)
        if episode.stop is not None:
            return played
        mark = len(episode.messages)
        await answer(episode)
        if episode.stop is not None:
            return played
        text = follow_up(episode.messages[mark:])
