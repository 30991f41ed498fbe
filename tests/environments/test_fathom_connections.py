"""The watch over connections, by itself: it needs no OpenEnv."""

import asyncio
import importlib.util
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[2] / "environments/fathom/fathom_env/server/connections.py"
spec = importlib.util.spec_from_file_location("fathom_connections", PLACE)
assert spec is not None and spec.loader is not None
connections = importlib.util.module_from_spec(spec)
spec.loader.exec_module(connections)
SCOPE: dict[str, Any] = {"type": "websocket", "headers": []}


class Client:
    """The other end: what it sends, in order, then silence; and what it was sent."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.waiting, self.got = list(messages), []  # type: ignore[var-annotated]

    async def receive(self) -> MutableMapping[str, Any]:
        if self.waiting:
            await asyncio.sleep(0)
            return self.waiting.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.got.append(dict(message))


TEXT = {"type": "websocket.receive", "text": "x"}
GONE = {"type": "websocket.disconnect", "code": 1006}


def serve(client: Client, app: Any, idle: float = 60, scope: dict[str, Any] = SCOPE) -> None:
    asyncio.run(connections.Connections(app, idle)(scope, client.receive, client.send))


def test_messages_arrive_in_order_and_the_end_is_told_while_the_app_works() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        gone = asyncio.Event()
        connections.when_gone(gone.set)
        seen.append((await receive())["text"])
        await gone.wait()
        seen.append((await receive())["type"])

    serve(Client(TEXT, GONE), app)
    assert seen == ["x", "websocket.disconnect"]


def test_silence_ends_a_session_and_what_the_app_says_then_is_dropped() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.disconnect"
        await send({"type": "websocket.close"})

    client = Client()
    serve(client, app, idle=0.01)
    assert [(message["type"], message["code"]) for message in client.got] == [("websocket.close", 1001)]


def test_a_flood_ends_a_session() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        gone = asyncio.Event()
        connections.when_gone(gone.set)
        await gone.wait()

    client = Client(*[TEXT] * 1000)
    serve(client, app)
    assert client.got[0]["code"] == 1008 and len(client.waiting) > 900


def test_without_a_connection_nobody_is_told() -> None:
    connections.when_gone(lambda: None)


def test_bodies_without_a_length_or_too_long_are_refused() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    def status(*headers: tuple[bytes, bytes]) -> int:
        client = Client()
        serve(client, app, scope={"type": "http", "headers": list(headers)})
        return int(client.got[0]["status"])

    assert status() == status((b"content-length", b"1048576")) == 200
    assert status((b"content-length", b"1048577")) == status((b"content-length", b"-1")) == 413
    assert status((b"transfer-encoding", b"chunked")) == 411
