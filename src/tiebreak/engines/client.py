"""Completions of token lists from a server, many at once: a failure that may pass is tried again, and then told."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from tiebreak.endpoint import PASSING
from tiebreak.engines.server import ADDRESS
from tiebreak.errors import EngineError, RequestError

TRIES = 5
LONGEST_WAIT = 30.0
TIMEOUT = httpx2.Timeout(30.0, read=1800.0, pool=None)  # a request may stand in the server's queue for long
SHOWN = 300


class Client:
    """Requests to one server, for one event loop.

    alive: raises EngineError if the server is gone, so that no more tries are made. sleep: what waits between tries.
    """

    def __init__(
        self,
        socket: Path,
        key: str,
        alive: Callable[[], None],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.alive, self.sleep = alive, sleep
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self.http = httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(uds=str(socket), limits=limits),
            base_url=ADDRESS,
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT,
        )

    async def close(self) -> None:
        """Give up the connections."""
        await self.http.aclose()

    async def complete(self, model: str, prompt: Sequence[int], options: dict[str, Any]) -> dict[str, Any]:
        """The one choice of a completion of `prompt`'s tokens.

        options: further keys of the request. Raises RequestError where every try failed, EngineError where the server
        is gone or refuses such a request for good.
        """
        body = {"model": model, "prompt": list(prompt), "return_token_ids": True, **options}
        answer = await self.post("/v1/completions", body)
        try:
            choice = dict(answer.json()["choices"][0])
            choice["token_ids"] = [int(token) for token in choice["token_ids"]]
        except (ValueError, KeyError, IndexError, TypeError) as problem:
            raise EngineError(
                f"the engine answered with something that is no completion with tokens ({problem!r}): "
                f"{said(answer)}; it must be a vLLM that knows return_token_ids"
            ) from None
        return choice

    async def post(self, path: str, body: dict[str, Any], *, done: str | None = None) -> httpx2.Response:
        """The first answer that is no passing failure. Raises as `complete` does.

        done: what the server says where a try before, whose answer never came, had done it; only then is that no
        refusal.
        """
        rng = Random()  # waits are no result: what matters is that not all come back at once
        for number in range(TRIES):
            if number:
                await self.sleep(min(LONGEST_WAIT, 2.0**number) * (0.5 + rng.random() / 2))
            try:
                answer = await self.http.post(path, json=body)
            except httpx2.HTTPError as problem:
                found = f"{type(problem).__name__} {problem}".strip()
            else:
                if answer.status_code == 200:
                    return answer
                found = f"status {answer.status_code}: {said(answer)}"
                if number and done is not None and done in answer.text:
                    return answer
                if answer.status_code not in PASSING:
                    raise EngineError(f"the engine refused {path}: {found}")
            self.alive()
        raise RequestError(f"{path}: {TRIES} tries failed, the last with {found}")

    async def get(self, path: str) -> Any:
        """The JSON value at `path`. Raises EngineError."""
        try:
            answer = await self.http.get(path)
            return answer.raise_for_status().json()
        except (httpx2.HTTPError, ValueError) as problem:
            self.alive()
            raise EngineError(f"the engine did not tell {path}: {problem}") from None


def said(answer: httpx2.Response) -> str:
    """What an answer says, on one line, short."""
    return " ".join(answer.text.split())[:SHOWN] or "(nothing said)"
