"""Limits on sessions, silence, messages and bodies; what is left when a connection goes."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest
from environments.fathom.serving import Server, serving
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

RESET = {"type": "reset", "data": {}}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with room for two, that waits three seconds."""
    limits = {"SESSIONS": "2", "IDLE_SECONDS": "3", "CPU_SECONDS": "90", "WALL_SECONDS": "90"}
    with serving(tmp_path_factory.mktemp("small"), **limits) as running:
        yield running


def opened(server: Server) -> ClientConnection:
    return connect(server.url.replace("http", "ws") + "/ws", open_timeout=60, close_timeout=5)


def told(socket: ClientConnection, message: dict[str, Any]) -> dict[str, Any]:
    socket.send(json.dumps(message))
    return dict(json.loads(socket.recv(timeout=60)))


def step(text: str) -> dict[str, Any]:
    return {"type": "step", "data": {"act": "code", "text": text}}


def test_a_full_server_says_so_and_takes_the_next_one_when_there_is_room(small: Server) -> None:
    with opened(small) as first, opened(small) as second:
        assert told(first, RESET)["type"] == told(second, RESET)["type"] == "observation"
        with opened(small) as third:
            refused = json.loads(third.recv(timeout=60))
            assert refused["data"]["code"] == "CAPACITY_REACHED"
            assert (refused["data"]["active_sessions"], refused["data"]["max_sessions"]) == (2, 2)
            with pytest.raises(ConnectionClosed):
                third.recv(timeout=60)
        first.close()
        for _ in range(100):
            with opened(small) as next_one:
                if told_or_refused(next_one) == "observation":
                    break
        else:
            pytest.fail("no room after a session was closed")


def told_or_refused(socket: ClientConnection) -> str:
    try:
        return str(told(socket, RESET)["type"])
    except ConnectionClosed:
        return "refused"


def test_silence_closes_a_session_with_its_reason_and_its_process(small: Server) -> None:
    with opened(small) as socket:
        told(socket, RESET)
        told(socket, step("x = 1"))
        assert small.sandboxes()
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason[:27]) == (1001, "nothing came for 3 seconds;")
    assert small.gone()


def test_a_session_at_work_is_not_silent(small: Server) -> None:
    with opened(small) as socket:
        told(socket, RESET)
        reply = told(socket, step("import time\ntime.sleep(5)\nprint('done')"))
        assert reply["data"]["observation"]["messages"][0]["content"] == "done"


@pytest.mark.parametrize("code", ["while True: pass", "import time\ntime.sleep(80)"])
def test_a_connection_that_goes_takes_its_running_code_with_it(small: Server, code: str) -> None:
    with opened(small) as socket:
        told(socket, RESET)
        told(socket, step("x = 1"))
        socket.send(json.dumps(step(code)))
        assert small.sandboxes()
    assert small.gone(20), "its limits alone would let it run for 90 seconds"


def test_a_flood_ends_the_session(small: Server) -> None:
    with opened(small) as socket:
        told(socket, RESET)
        with pytest.raises(ConnectionClosed) as closed:
            socket.send(json.dumps(step("import time\ntime.sleep(80)")))
            for _ in range(100_000):
                socket.send(json.dumps(step("1")))
            while True:
                socket.recv(timeout=60)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
    assert small.gone(20)


def test_a_message_that_is_too_long_ends_the_session(small: Server) -> None:
    with opened(small) as socket:
        told(socket, RESET)
        with pytest.raises(ConnectionClosed) as closed:
            told(socket, step("x" * (2 << 20)))
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009


SURROGATE = '{"type": "step", "data": {"act": "answer", "text": "\\ud800"}}'
WRONG = [
    SURROGATE,
    "",
    "{",
    "[]",
    "1",
    '"x"',
    "null",
    '{"type": 1}',
    '{"type": "step"}',
    '{"type": "step", "data": {"act": 1}}',
]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_message_is_an_error_and_the_server_lives(small: Server, text: str) -> None:
    with opened(small) as socket:
        socket.send(text)
        with contextlib.suppress(ConnectionClosed):
            assert json.loads(socket.recv(timeout=60))["type"] == "error"
    assert small.get("healthz")


def posted(server: Server, path: str, body: Any, headers: dict[str, str]) -> tuple[int, str]:
    client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    client.request("POST", path, body, {"content-type": "application/json"} | headers)
    reply = client.getresponse()
    return reply.status, reply.read().decode()


def test_plain_http_resets_without_a_session_and_says_so_at_a_step(small: Server) -> None:
    status, body = posted(small, "/reset", json.dumps({"kind": "niah"}), {})
    assert status == 200 and json.loads(body)["observation"]["messages"][1]["role"] == "user"
    status, body = posted(small, "/step", json.dumps({"action": {"act": "code", "text": "1"}}), {})
    assert status == 409 and "over the WebSocket /ws" in body
    status, body = posted(small, "/reset", json.dumps({"kind": "poem"}), {})
    assert status == 409 and "reset: kind is 'poem'" in body


def test_large_bodies_are_not_read(small: Server) -> None:
    assert posted(small, "/reset", "x", {"content-length": str(2 << 20)})[0] == 413
    assert posted(small, "/reset", iter([b"x"]), {"transfer-encoding": "chunked"})[0] == 411
