"""OpenEnv's view of one session: thin over `tiebreak.domains.fathom.play`."""

import asyncio
from functools import cache
from typing import Any, cast
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata
from pydantic import ValidationError

from fathom_env.models import FathomAction, FathomObservation, FathomState
from fathom_env.server.connections import when_gone
from tiebreak.chat import Message
from tiebreak.domains.fathom.orders import Allowance, Dealer, Order, as_turn
from tiebreak.domains.fathom.play import Play
from tiebreak.errors import ConfigError
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.probe import SMALL
from tiebreak.sandbox.process import run

SHOWN = ("rounds_left", "calls", "calls_left", "refused", "tree")


@cache
def confined() -> None:
    """Raises SandboxError, with the mend, where model-written code cannot be run as it was asked for."""
    run(["/bin/true"], Box(), SMALL)


class FathomEnvironment(Environment[FathomAction, FathomObservation, FathomState]):
    """One session. Its REPL runs in the thread that OpenEnv keeps for the session, and dies with it."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, dealer: Dealer, allowance: Allowance) -> None:
        super().__init__()
        self._dealer, self._allowance = dealer, allowance
        self._play: Play | None = None
        self._episode_id: str | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> FathomObservation:
        """Begin another episode; the options are the fields of `Order`. ConfigError for what cannot be had."""
        confined()
        order = ordered({"seed": seed, **options})
        self.close()
        self._play = Play(self._dealer.task(order), order, self._allowance)
        self._episode_id = str(episode_id)[:255] if episode_id else str(uuid4())
        return self._observation(self._play.news())

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> FathomObservation:
        """The same, off the event loop; from now on code is ended when the connection is gone."""
        when_gone(self.abandon)
        return await asyncio.to_thread(self.reset, seed, episode_id, **options)

    def step(self, action: FathomAction, timeout_s: float | None = None, **options: Any) -> FathomObservation:
        """Take a turn. Limits are the server's: timeout_s changes none."""
        play = self._playing()
        play.turn(as_turn(action.act, action.text))
        return self._observation(play.news())

    @property
    def state(self) -> FathomState:
        """Where the episode stands; without one, nothing but defaults."""
        if self._play is None:
            return FathomState()
        view = self._play.view()
        return FathomState(episode_id=self._episode_id, step_count=view["turns"], over=self._play.over, **view)

    def abandon(self) -> None:
        """The connection is gone: end what runs."""
        if self._play is not None:
            self._play.abandon()

    def close(self) -> None:
        """End the episode and its process."""
        if self._play is not None:
            self._play.close()
            self._play = None

    def get_metadata(self) -> EnvironmentMetadata:
        """For `/metadata`."""
        words = "Questions over long documents, answered with a confined Python REPL and budgeted llm() calls."
        return EnvironmentMetadata(name="fathom", description=words, version="0.1.0", author="Tiebreak")

    def _playing(self) -> Play:
        if self._play is None:
            raise ConfigError("there is no episode; reset first, over the WebSocket /ws (plain HTTP keeps no session)")
        return self._play

    def _observation(self, news: list[Message]) -> FathomObservation:
        play = self._playing()
        view, result = play.view(), play.result()
        return FathomObservation(
            done=play.over,
            reward=None if result is None else result["rewards"].get(play.order.shape),
            messages=cast(list[dict[str, str]], news),
            result=result,
            **{name: view[name] for name in SHOWN},
        )


def ordered(options: dict[str, Any]) -> Order:
    """An order. Raises ConfigError that names the option."""
    try:
        return Order.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        found, known = repr(first["input"])[:80], ", ".join(Order.model_fields)
        raise ConfigError(f"reset: {name} is {found}: {first['msg'].lower()}; known are {known}") from None
