"""The client of OpenAI-compatible endpoints, against a strict server on the loopback."""

import json
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from domains.rust.llm.server import MODEL, Server, serving
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.llm.instructions import messages, reply_schema
from tiebreak.domains.rust.llm.orders import CATEGORIES, orders
from tiebreak.endpoint import LONGEST_ASKED, Endpoint, Reply, count, retry_after
from tiebreak.errors import EngineError

KEY = "sk-very-secret-0123"
(ORDER,) = orders(["patch_test_pass"], list(CATEGORIES)[:1], ["easy"], 1, 7)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as found:
        yield found


@pytest.fixture
def waits() -> list[float]:
    """What the client would have waited."""
    return []


@pytest.fixture
def client(server: Server, waits: list[float]) -> Iterator[Callable[..., Endpoint]]:
    made: list[Endpoint] = []

    def make(**changes: Any) -> Endpoint:
        options = {"url": server.url, "model": MODEL, "tries": 3, "sleep": waits.append} | changes
        made.append(Endpoint(**options))
        return made[-1]

    yield make
    for endpoint in made:
        endpoint.close()


def chat(endpoint: Endpoint) -> Reply:
    return endpoint.chat(messages(ORDER), {"max_tokens": 500}, reply_schema(ORDER), ORDER.seed)


def test_a_completion(server: Server, client: Callable[..., Endpoint]) -> None:
    endpoint = client()
    endpoint.check()
    reply = chat(endpoint)
    assert reply.text.startswith("{") and reply.finish_reason == "stop" and reply.form == "json_schema"
    assert (reply.prompt_tokens, reply.completion_tokens, reply.model) == (1000, 100, MODEL)
    assert server.bodies[0]["seed"] == ORDER.seed and server.bodies[0]["max_tokens"] == 500


@given(st.none() | st.text() | st.lists(st.integers()) | st.floats() | st.booleans() | st.integers(max_value=-1))
def test_what_is_no_number_of_tokens_is_none(value: Any) -> None:
    assert count(value) is None and count(7) == 7 and count(0) == 0


def test_the_key_goes_into_the_header_and_nowhere_else(
    server: Server, client: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = KEY
    monkeypatch.setenv("TEST_KEY", KEY + "\n")
    endpoint = client(key_variable="TEST_KEY")
    assert chat(endpoint).text and KEY not in repr(endpoint)
    server.key = "another"
    for call in (endpoint.check, lambda: chat(endpoint)):
        with pytest.raises(
            EngineError, match="refused with status 401: Incorrect API key provided: .*TEST_KEY"
        ) as caught:
            call()
        assert KEY not in str(caught.value) and "***" in str(caught.value)


def test_a_key_that_an_endpoint_echoes_is_taken_out(
    server: Server, client: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is, and as JSON writes it."""
    key = 'sk-"quoted\\key'
    server.key = key
    monkeypatch.setenv("TEST_KEY", key)
    endpoint = client(key_variable="TEST_KEY")
    for form in (key, json.dumps(key)):
        assert endpoint._without_key(f"you said {form}!").count("***") == 1
        assert "quoted" not in endpoint._without_key(form)


@pytest.mark.parametrize(("value", "state"), [(None, "is not set"), ("a b", "holds no key"), ("a\nb", "holds no key")])
def test_a_key_that_is_none_is_refused_unseen(
    value: str | None, state: str, client: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(EngineError, match=f"the environment variable TEST_KEY {state}; put the endpoint's key there"):
        client(key_variable="TEST_KEY")


def test_an_unknown_model(client: Callable[..., Endpoint]) -> None:
    with pytest.raises(EngineError, match=f"has no model writer-2; it has {MODEL}"):
        client(model="writer-2").check()


def test_a_wrong_address(server: Server, client: Callable[..., Endpoint]) -> None:
    endpoint = client(url=server.url.removesuffix("/v1"))
    endpoint.check()  # an endpoint may have no list of models
    with pytest.raises(EngineError, match=r"refused with status 404: .*; name the API's address, mostly ending in /v1"):
        chat(endpoint)


def test_nobody_there(client: Callable[..., Endpoint], waits: list[float]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(
            EngineError, match=rf"{url}: 2 tries failed, the last with ConnectError: .*see that it is up"
        ):
            client(url=url).check()
    assert len(waits) == 1


@pytest.mark.parametrize("fault", ["busy", "broken", "drop"])
def test_what_passes_is_tried_again(
    fault: str, server: Server, client: Callable[..., Endpoint], waits: list[float]
) -> None:
    server.faults = {0: fault, 1: fault}
    assert chat(client()).finish_reason == "stop"
    assert len(waits) == 2 and len({body["seed"] for body in server.bodies}) == 1
    assert (min(waits) >= 7) == (fault == "busy"), "Retry-After is kept to"


@pytest.mark.parametrize(("fault", "says"), [("busy", "429: slow down"), ("broken", "500: a worker died")])
def test_what_does_not_pass_is_given_up(
    fault: str, says: str, server: Server, client: Callable[..., Endpoint], waits: list[float]
) -> None:
    server.faults = dict.fromkeys(range(9), fault)
    with pytest.raises(EngineError, match=f"3 tries failed, the last with status {says}; see that it is up"):
        chat(client())
    assert (len(server.bodies), len(waits)) == (3, 2)


def test_a_reply_that_does_not_come(server: Server, client: Callable[..., Endpoint], waits: list[float]) -> None:
    server.delay = 0.5
    with pytest.raises(EngineError, match="2 tries failed, the last with ReadTimeout"):
        chat(client(timeout=0.05, tries=2))


def test_a_refusal_is_not_tried_again(server: Server, client: Callable[..., Endpoint], waits: list[float]) -> None:
    server.faults = {0: "denied"}
    with pytest.raises(EngineError, match="refused with status 403: not for you"):
        chat(client())
    assert len(server.bodies) == 1 and waits == []


@pytest.mark.parametrize("forms", [("json_object", "none"), ("none",)])
def test_a_response_format_that_is_refused_is_asked_for_once(
    forms: tuple[str, ...], server: Server, client: Callable[..., Endpoint]
) -> None:
    server.forms, endpoint = forms, client()
    assert [chat(endpoint).form for _ in range(3)] == [forms[0]] * 3
    refused = 3 - len(forms)
    assert len(server.bodies) == refused + 3
    sent = [body.get("response_format", {"type": "none"})["type"] for body in server.bodies]
    assert sent[-3:] == [forms[0]] * 3 and set(sent[:refused]).isdisjoint(forms)


def test_a_request_that_is_wrong_in_every_form_says_why(server: Server, client: Callable[..., Endpoint]) -> None:
    endpoint = client()
    with pytest.raises(EngineError, match="refused with status 400: seed: an unsigned integer .*; change what"):
        endpoint.chat(messages(ORDER), {}, reply_schema(ORDER), -1)
    assert len(server.bodies) == 3 and chat(endpoint).form == "json_schema", "it says nothing of the forms"


def test_a_page_is_no_completion(server: Server, client: Callable[..., Endpoint]) -> None:
    server.faults = {0: "page"}
    with pytest.raises(EngineError, match="answered 200 with something that is no chat completion .*Welcome"):
        chat(client())


def test_an_endpoint_without_counts(server: Server, client: Callable[..., Endpoint]) -> None:
    server.counts = False
    assert chat(client()).prompt_tokens is None


def test_retry_after_as_number_and_as_date() -> None:
    now = 1_800_000_000.0
    assert retry_after("12", now) == 12 and retry_after(None, now) == 0
    assert retry_after(format_datetime(datetime.fromtimestamp(now + 30, UTC), usegmt=True), now) == 30
    assert retry_after(format_datetime(datetime.fromtimestamp(now - 30, UTC), usegmt=True), now) == 0


@given(st.text())
def test_any_retry_after_is_a_wait(value: str) -> None:
    assert 0 <= min(LONGEST_ASKED, retry_after(value, 0.0)) <= LONGEST_ASKED
