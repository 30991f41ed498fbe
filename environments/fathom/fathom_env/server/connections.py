"""Watches what OpenEnv does not: a WebSocket that goes while its code runs, silence, floods, large bodies."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

MOST_WAITING = 16  # messages that a client may send ahead
LARGEST_BODY = 1 << 20  # bytes of a request or of a message
IDLE, FLOOD = 1001, 1008  # codes of a closed WebSocket
_current: ContextVar["Connection"] = ContextVar("connection")


def when_gone(call: Callable[[], None]) -> None:
    """Have `call` called, once, as soon as the connection of this task is gone; without a connection, never."""
    connection = _current.get(None)
    if connection is not None:
        connection.calls.add(call)


class Connection:
    """One WebSocket: read ahead, so that its end is noticed while the app is busy."""

    def __init__(self, receive: Receive, send: Send, idle_seconds: float) -> None:
        self._receive, self._send, self._idle = receive, send, idle_seconds
        self._waiting: asyncio.Queue[Message] = asyncio.Queue()
        self._closed = False
        self.calls: set[Callable[[], None]] = set()

    async def pump(self) -> None:
        """Read until the end."""
        while True:
            message = await self._receive()
            if self._waiting.qsize() >= MOST_WAITING:
                message = await self._end(FLOOD, f"more than {MOST_WAITING} messages ahead")
            self._waiting.put_nowait(message)
            if message["type"] == "websocket.disconnect":
                for call in self.calls:
                    call()
                return

    async def receive(self) -> Message:
        """The next message; a client that is silent for too long is gone."""
        try:
            return await asyncio.wait_for(self._waiting.get(), self._idle)
        except TimeoutError:
            return await self._end(IDLE, f"nothing came for {self._idle:g} seconds; the session is closed")

    async def send(self, message: Message) -> None:
        """Pass a message on, unless the connection is closed."""
        if not self._closed:
            await self._send(message)

    async def _end(self, code: int, reason: str) -> Message:
        await self.send({"type": "websocket.close", "code": code, "reason": reason})
        self._closed = True
        return {"type": "websocket.disconnect", "code": code, "reason": reason}


class Connections:
    """The ASGI middleware."""

    def __init__(self, app: App, idle_seconds: float) -> None:
        self._app, self._idle = app, idle_seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        if scope["type"] == "http" and (problem := refused(dict(scope["headers"]))):
            await refuse(send, *problem)
        elif scope["type"] == "websocket":
            await self._watch(scope, Connection(receive, send, self._idle))
        else:
            await self._app(scope, receive, send)

    async def _watch(self, scope: MutableMapping[str, Any], connection: Connection) -> None:
        _current.set(connection)
        pump = asyncio.create_task(connection.pump())
        try:
            await self._app(scope, connection.receive, connection.send)
        finally:
            pump.cancel()


def refused(headers: dict[bytes, bytes]) -> tuple[int, str] | None:
    """Why a request is not read: a body that is too long, or that does not say how long it is."""
    if b"transfer-encoding" in headers:
        return 411, "send a Content-Length"
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        return 413, f"a body has at most {LARGEST_BODY} bytes"
    return None


async def refuse(send: Send, status: int, text: str) -> None:
    """Answer with an error."""
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
