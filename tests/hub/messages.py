"""What goes over the line: who asks, what, and what is answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class User:
    """Who a token belongs to, what it may do, and the organisations that its owner may write to."""

    name: str
    role: Literal["read", "write"] = "write"
    organizations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """A request: path decoded, query as lists of values."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def token(self) -> str | None:
        """The token that it carries."""
        told = {name.lower(): value for name, value in self.headers.items()}
        return told["authorization"].removeprefix("Bearer ") if "authorization" in told else None


@dataclass(frozen=True)
class Answer:
    """A status, a body, and headers."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """An error as the hub tells it."""

    def __init__(self, status: int, text: str, code: str = "", **headers: str) -> None:
        told = {"X-Error-Message": text, **({"X-Error-Code": code} if code else {})}
        self.answer = Answer(status, json.dumps({"error": text}).encode(), told)


def told(value: Any) -> Answer:
    """A value as JSON."""
    return Answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})
