"""Replies are asked for once, kept at once, and gone on with wherever a run was ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from domains.rust.llm.server import MODEL, Server, serving

from tiebreak.domains.rust.imports.rows import read_rows
from tiebreak.domains.rust.llm.orders import CATEGORIES, Order, orders
from tiebreak.domains.rust.llm.replies import Store, ask, usage, write_replies
from tiebreak.endpoint import Endpoint
from tiebreak.errors import EngineError

OPTIONS = {"temperature": 1.0, "max_tokens": 900}
ORDERS = orders(["patch_test_pass", "run_only"], list(CATEGORIES), ["easy"], 24, 7)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as found:
        yield found


def asked(server: Server, path: Path, wanted: list[Order] = ORDERS, **changes: Any) -> list[dict[str, Any]]:
    """All replies, three requests at a time."""
    endpoint = Endpoint(server.url, MODEL, tries=2, sleep=lambda seconds: None)
    settings = {"options": OPTIONS, "concurrency": 3, "progress": lambda count: None} | changes
    try:
        return ask(endpoint, wanted, store=Store(path), **settings)
    finally:
        endpoint.close()


def test_every_order_has_its_reply_in_its_place(server: Server, tmp_path: Path) -> None:
    server.delay, seen = 0.01, []
    rows = asked(server, tmp_path / "kept", progress=seen.append)
    assert [row["custom_id"] for row in rows] == [order.custom_id for order in ORDERS]
    assert all(json.loads(row["text"])["family"] in row["custom_id"] for row in rows)
    assert sorted(server.seeds) == sorted(order.seed for order in ORDERS) and sum(seen) == len(ORDERS)
    assert 1 < server.most <= 3, "several at a time, and no more than asked for"


def test_what_is_there_is_not_asked_for_and_more_orders_ask_for_the_new_ones(server: Server, tmp_path: Path) -> None:
    first = asked(server, tmp_path / "kept", ORDERS[:10])
    before = len(server.asked)
    assert asked(server, tmp_path / "kept", ORDERS[:10]) == first
    assert len(server.asked) == before, "not even a look at the list of models"
    assert asked(server, tmp_path / "kept")[:10] == first and len(server.seeds) == len(ORDERS)


@pytest.mark.parametrize("changes", [{"options": OPTIONS | {"temperature": 0.5}}, {"wanted": ORDERS[12:14]}])
def test_another_request_is_another_reply(server: Server, tmp_path: Path, changes: dict[str, Any]) -> None:
    asked(server, tmp_path / "kept", ORDERS[:2])
    asked(server, tmp_path / "kept", **({"wanted": ORDERS[:2]} | changes))
    assert len(server.seeds) == 4


def test_an_error_in_the_middle_keeps_what_has_arrived(server: Server, tmp_path: Path) -> None:
    server.faults = {9: "denied"}
    with pytest.raises(EngineError, match="refused with status 403"):
        asked(server, tmp_path / "kept")
    arrived = set(server.seeds)
    assert 7 <= len(arrived) < len(ORDERS) and len(Store(tmp_path / "kept").rows) == len(arrived)
    server.seeds.clear()
    assert len(asked(server, tmp_path / "kept")) == len(ORDERS)
    assert set(server.seeds) == {order.seed for order in ORDERS} - arrived


def test_an_error_ends_the_waits_of_the_others(server: Server, tmp_path: Path) -> None:
    """One request is told to wait for seven seconds, the next is refused: the first is not tried again."""
    server.faults, endpoint = {1: "busy", 2: "denied"}, Endpoint(server.url, MODEL)
    with pytest.raises(EngineError):
        ask(endpoint, ORDERS, OPTIONS, Store(tmp_path / "kept"), concurrency=2, progress=lambda count: None)
    endpoint.close()
    assert len(server.bodies) == 3


def test_a_wrong_model_is_refused_before_anything_is_asked(server: Server, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="has no model other"):
        ask(
            Endpoint(server.url, "other"), ORDERS, {}, Store(tmp_path / "k"), concurrency=3, progress=lambda count: None
        )
    assert server.bodies == []


def test_the_first_request_goes_alone(server: Server, tmp_path: Path) -> None:
    server.faults = {0: "denied"}
    with pytest.raises(EngineError, match="refused with status 403"):
        asked(server, tmp_path / "kept")
    assert len(server.bodies) == 1


CHILD = """
import sys
from pathlib import Path
from domains.rust.llm.test_replies import MODEL, OPTIONS, ORDERS
from tiebreak.domains.rust.llm.replies import Store, ask
from tiebreak.endpoint import Endpoint
ask(Endpoint(sys.argv[1], MODEL), ORDERS, OPTIONS, Store(Path(sys.argv[2])), concurrency=3, progress=lambda count: None)
"""


def test_a_killed_run_loses_what_was_under_way_and_asks_for_nothing_twice(server: Server, tmp_path: Path) -> None:
    server.delay, kept = 0.05, tmp_path / "kept"
    tests = str(Path(__file__).parents[3])
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, server.url, str(kept)], env=os.environ | {"PYTHONPATH": tests}, text=True
    )
    deadline = time.monotonic() + 60
    while len(server.seeds) < 8 and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "it was killed in the middle"
    time.sleep(3 * server.delay)  # what the server had in work ends there, unread
    paid = list(server.seeds)
    with kept.open("ab") as file:
        file.write(kept.read_bytes()[:40])  # the write that a kill tears
    done = Store(kept).rows
    assert len(paid) - 3 <= len(done) <= len(paid) < len(ORDERS), "at most the requests under way are lost"
    arrived = {row["custom_id"] for row in done.values()}
    server.seeds.clear()
    rows = asked(server, kept)
    assert sorted(server.seeds) == sorted(order.seed for order in ORDERS if order.custom_id not in arrived)
    assert [row["custom_id"] for row in rows] == [order.custom_id for order in ORDERS]
    assert rows == asked(server, tmp_path / "fresh"), "the same as a run that was never killed"


def test_replies_are_written_in_the_published_form(server: Server, tmp_path: Path) -> None:
    server.faults = {1: "cut", 2: "malformed"}
    rows = asked(server, tmp_path / "kept", concurrency=1)
    write_replies(tmp_path / "replies.jsonl", ORDERS, rows)
    found = read_rows(tmp_path / "replies.jsonl")
    assert [row.name for row in found] == [order.custom_id for order in ORDERS]
    assert found[1].error == "the reply is not whole: it ended by 'length', not by itself; raise the limit of tokens"
    assert found[0].blueprint() and found[2].error is None
    line = json.loads((tmp_path / "replies.jsonl").read_text().splitlines()[0])
    assert line["order"] == {
        "family": ORDERS[0].family,
        "bug_category": ORDERS[0].category,
        "difficulty": ORDERS[0].difficulty,
    }


def test_tokens_and_cost_are_added_up(server: Server, tmp_path: Path) -> None:
    rows = asked(server, tmp_path / "kept", ORDERS[:4])
    found = usage(rows, {"input": 2.5, "output": 10.0})
    assert (found["replies"], found["prompt_tokens"], found["completion_tokens"]) == (4, 4000, 400)
    assert found["cost"] == pytest.approx((4000 * 2.5 + 400 * 10) / 1e6)
    assert found["finish_reasons"] == {"stop": 4} and found["models"] == {MODEL: 4}
    assert usage(rows, None)["cost"] is None


def test_an_endpoint_that_tells_no_tokens_has_no_cost(server: Server, tmp_path: Path) -> None:
    server.counts = False
    found = usage(asked(server, tmp_path / "kept", ORDERS[:2]), {"input": 1.0, "output": 1.0})
    assert (found["replies_with_token_counts"], found["cost"]) == (0, None)
