"""Asking for all specs: several requests at a time, each reply on disk as soon as it is here, none asked for twice."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tiebreak.digest import json_digest
from tiebreak.domains.rust.llm.instructions import messages, reply_schema
from tiebreak.domains.rust.llm.orders import Order
from tiebreak.endpoint import Endpoint, count
from tiebreak.frames import append_frame, read_frames

MILLION = 1_000_000


@dataclass(frozen=True)
class Asked:
    """An order and the digest of all that its reply depends on: the endpoint, the model, the words and the options."""

    order: Order
    key: str


class Store:
    """Replies by the digest of their request, in a file that is only ever added to; a torn end is cut off."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self.rows = {row["key"]: row for rows in read_frames(path) for row in rows}

    def add(self, row: dict[str, Any]) -> None:
        """Keep a reply; it is on the disk when this returns."""
        with self._lock:
            append_frame(self.path, [row])
            self.rows[row["key"]] = row


def asked(endpoint: Endpoint, orders: Sequence[Order], options: Mapping[str, Any]) -> list[Asked]:
    """The orders with their digests. How JSON is asked for is left out: it is the endpoint's to choose."""
    return [
        Asked(order, json_digest([endpoint.url, endpoint.model, messages(order), order.seed, dict(options)]))
        for order in orders
    ]


def ask(
    endpoint: Endpoint,
    orders: Sequence[Order],
    options: Mapping[str, Any],
    store: Store,
    *,
    concurrency: int,
    progress: Callable[[int], object],
) -> list[dict[str, Any]]:
    """The reply to each order, in their order; those that the store has are not asked for.

    progress: called with the number of replies that were just found. Raises EngineError; what has arrived is kept.
    """
    wanted = asked(endpoint, orders, options)
    waiting = [one for one in wanted if one.key not in store.rows]
    progress(len(wanted) - len(waiting))

    def fetch(one: Asked) -> None:
        reply = endpoint.chat(messages(one.order), dict(options), reply_schema(one.order), one.order.seed)
        store.add({"key": one.key, "custom_id": one.order.custom_id} | asdict(reply))
        progress(1)

    if waiting:
        endpoint.check()
        fetch(waiting[0])  # alone: what it stumbles over would meet all the others as well
        together(fetch, waiting[1:], concurrency, endpoint.stop)
    return [store.rows[one.key] | {"custom_id": one.order.custom_id} for one in wanted]


def together(work: Callable[[Asked], None], items: Sequence[Asked], concurrency: int, stop: Callable[[], None]) -> None:
    """Work on the items, `concurrency` at a time. The first error calls `stop`, and no further item is begun."""
    failed = threading.Event()

    def guarded(item: Asked) -> None:
        try:
            if not failed.is_set():
                work(item)
        except BaseException:
            failed.set()
            stop()
            raise

    with ThreadPoolExecutor(concurrency) as pool:
        try:
            for future in as_completed([pool.submit(guarded, item) for item in items]):
                future.result()
        except BaseException:  # also an interrupt from the keyboard, which no worker sees
            failed.set()
            stop()
            raise


def write_replies(path: Path, orders: Sequence[Order], rows: Sequence[Mapping[str, Any]]) -> None:
    """The replies in the published form, `custom_id` and `text` a line, each with what was asked and what it took."""
    keys = ("text", "finish_reason", "model", "form", "prompt_tokens", "completion_tokens")
    lines = [
        {
            "custom_id": order.custom_id,
            "order": {"family": order.family, "bug_category": order.category, "difficulty": order.difficulty},
            "seed": order.seed,
            **{key: row[key] for key in keys},
        }
        for order, row in zip(orders, rows, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def usage(rows: Sequence[Mapping[str, Any]], prices: Mapping[str, float] | None) -> dict[str, Any]:
    """What the replies took. Token counts are over the replies that the endpoint told them of; cost is None where it
    told of none, or nobody named prices (per million tokens).
    """
    told = [row for row in rows if None not in (count(row["prompt_tokens"]), count(row["completion_tokens"]))]
    tokens = {name: sum(row[name] for row in told) for name in ("prompt_tokens", "completion_tokens")}
    cost = None
    if prices is not None and told:
        paid = tokens["prompt_tokens"] * prices["input"] + tokens["completion_tokens"] * prices["output"]
        cost = round(paid / MILLION, 6)
    return {
        "replies": len(rows),
        "replies_with_token_counts": len(told),
        **tokens,
        "prices_per_million": None if prices is None else dict(prices),
        "cost": cost,
        "finish_reasons": counted(rows, "finish_reason"),
        "forms": counted(rows, "form"),
        "models": counted(rows, "model"),
    }


def counted(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, int]:
    """How many rows have each value of a key."""
    values = [str(row[key]) for row in rows]
    return {value: values.count(value) for value in sorted(set(values))}
