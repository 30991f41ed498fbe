"""The app: OpenEnv's routes (`create_app`), our limits around them, and the pages.

TIEBREAK_FATHOM_… sets what is allowed (`tiebreak.domains.fathom.orders.Allowance`), TIEBREAK_FATHOM_SECRET the number
that tasks are drawn from (else a new one at each start), TIEBREAK_DEMO the study or file that `/demo` shows.
"""

import argparse
import os
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core.env_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig

from fathom_env.models import FathomAction, FathomObservation, FathomState
from fathom_env.server.connections import LARGEST_BODY, Connections
from fathom_env.server.environment import FathomEnvironment
from fathom_env.server.pages import add_pages
from tiebreak.domains.fathom.orders import PREFIX, Allowance, Dealer
from tiebreak.domains.fathom.recorded import load
from tiebreak.errors import ConfigError, TiebreakError

SECRET, DEMO = f"{PREFIX}SECRET", "TIEBREAK_DEMO"


def build(environment: dict[str, str]) -> FastAPI:
    """The app under these variables. Raises ConfigError for one that makes no sense."""
    secret = environment.pop(SECRET, None)
    if secret is not None and not secret.isdigit():
        raise ConfigError(f"{SECRET}: digits are expected")
    allowance = Allowance.of(environment)
    app: FastAPI = create_app(
        partial(FathomEnvironment, Dealer(None if secret is None else int(secret)), allowance),
        FathomAction,
        FathomObservation,
        env_name="fathom",
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=allowance.sessions, session_timeout=allowance.idle_seconds
        ),
        state_cls=FathomState,
    )
    app.add_exception_handler(TiebreakError, told)
    app.add_middleware(Connections, idle_seconds=allowance.idle_seconds)
    add_pages(app, allowance, load(Path(environment[DEMO]) if environment.get(DEMO) else None))
    return app


async def told(request: Request, error: Exception) -> JSONResponse:
    """An error of ours as its text; the client has to change something."""
    return JSONResponse({"detail": str(error)}, status_code=409)


app = build(dict(os.environ))


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description="Serve the fathom environment.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    asked = parser.parse_args()
    uvicorn.run(app, host=asked.host, port=asked.port, ws_max_size=LARGEST_BODY, timeout_graceful_shutdown=3)


if __name__ == "__main__":
    main()
