"""A client of OpenAI-compatible endpoints: chat completions with structured output, retries, and errors with a mend.

The key is read from the environment and stands in one header; no message, record or file of ours repeats it.
"""

import email.utils
import json
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx2

from tiebreak.chat import Message
from tiebreak.errors import EngineError

LONGEST_WAIT = 60.0  # seconds between tries, where the endpoint does not say
LONGEST_ASKED = 900.0  # and where it does
SHOWN = 300
KEY = re.compile(r"[!-~]+")
PASSING = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Statuses that another try may mend."""
REFUSALS = (400, 404, 415, 422, 501)
"""Statuses with which endpoints refuse a `response_format` that they do not know."""
FORMS = ("json_schema", "json_object", "none")
"""Ways to ask for JSON, the strictest first; what an endpoint refuses is not sent to it again."""


@dataclass(frozen=True)
class Reply:
    """A completion. finish_reason: `stop`, or why it ended otherwise (`length`); token counts are None if not told."""

    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    model: str
    form: str


@dataclass
class Endpoint:
    """An endpoint and a model there; safe to be used by several threads.

    key_variable: the environment variable with the key, None for an endpoint without one. timeout: seconds a try.
    sleep: what waits between tries, for tests; by default a wait that `stop` ends.
    """

    url: str
    model: str
    key_variable: str | None = None
    timeout: float = 300.0
    tries: int = 6
    sleep: Callable[[float], object] | None = None
    _form: int = 0
    _stopped: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        headers = {}
        self._key = "" if self.key_variable is None else os.environ.get(self.key_variable, "").strip()
        if self.key_variable is not None:
            if not KEY.fullmatch(self._key):  # also a line end inside, which would break the header and show the key
                state = "holds no key" if self._key else "is not set"
                mend = "put the endpoint's key there"
                raise EngineError(f"{self.place}: the environment variable {self.key_variable} {state}; {mend}")
            headers["Authorization"] = f"Bearer {self._key}"
        limits = httpx2.Limits(max_connections=None)  # the caller's number of threads is the limit
        self._client = httpx2.Client(headers=headers, timeout=self.timeout, limits=limits, follow_redirects=False)

    @property
    def place(self) -> str:
        """How messages call it."""
        return f"endpoint {self.url}"

    def stop(self) -> None:
        """No further tries, in any thread; an answer that is under way is still taken."""
        self._stopped.set()

    def close(self) -> None:
        """Give up the connections."""
        self._client.close()

    def check(self) -> None:
        """See that it is there, takes the key and has the model. Raises EngineError.

        An endpoint without a list of models passes: the first completion will tell.
        """
        response = self._tried("GET", "models", None, min(self.tries, 2))
        if response.status_code in (401, 403):
            raise self._refused(response)
        try:
            names = [str(item["id"]) for item in response.json()["data"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if response.status_code == 200 and names and self.model not in names:
            more = ", …" if len(names) > 8 else ""
            raise EngineError(
                f"{self.place}: has no model {self.model}; it has {self._clean(', '.join(names[:8]))}{more}"
            )

    def chat(self, messages: Sequence[Message], options: dict[str, Any], schema: dict[str, Any], seed: int) -> Reply:
        """One completion, as JSON that fits `schema` as far as the endpoint can see to that.

        options: further keys of the request. Raises EngineError where the endpoint refuses, or every try failed.
        """
        body = {"model": self.model, "messages": list(messages), "seed": seed, **options}
        for form in range(self._form, len(FORMS)):
            asked = body | response_format(FORMS[form], schema)
            response = self._tried("POST", "chat/completions", asked, self.tries)
            if response.status_code == 200:
                with (
                    self._lock
                ):  # learned from an answer: a request that is refused in every form says nothing of forms
                    self._form = max(self._form, form)
                return self._reply(response, FORMS[form])
            if response.status_code not in REFUSALS:
                break
        raise self._refused(response)

    def _tried(self, method: str, path: str, body: dict[str, Any] | None, tries: int) -> httpx2.Response:
        """The first answer that is no passing failure. Raises EngineError after the last try."""
        rng = Random()  # waits are no result: what matters is that the threads do not come back all at once
        for number in range(tries):
            wait = min(LONGEST_WAIT, 2.0**number) * (0.5 + rng.random() / 2)
            try:
                response = self._client.request(method, f"{self.url}/{path}", json=body)
            except (httpx2.InvalidURL, UnicodeError) as problem:
                raise EngineError(f"{self.place}: is no address: {problem}") from None
            except httpx2.HTTPError as problem:
                found = f"{type(problem).__name__}: {self._clean(str(problem))}"
            else:
                if response.status_code not in PASSING:
                    return response
                found = f"status {response.status_code}: {self._said(response)}"
                asked = retry_after(response.headers.get("Retry-After"), time.time())
                wait = max(wait, min(LONGEST_ASKED, asked))
            if number < tries - 1:
                (self.sleep or self._stopped.wait)(wait)
            if self._stopped.is_set():
                break
        raise EngineError(
            f"{self.place}: {number + 1} tries failed, the last with {found}; see that it is up, then run again"
        )

    def _reply(self, response: httpx2.Response, form: str) -> Reply:
        try:
            data = response.json()
            choice = data["choices"][0]
            content, usage = choice["message"].get("content"), data.get("usage") or {}
            return Reply(
                text=self._without_key(content) if isinstance(content, str) else "",
                finish_reason=str(choice.get("finish_reason") or "stop"),
                prompt_tokens=count(usage.get("prompt_tokens")),
                completion_tokens=count(usage.get("completion_tokens")),
                model=self._clean(str(data.get("model", self.model))),
                form=form,
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as problem:
            raise EngineError(
                f"{self.place}: answered 200 with something that is no chat completion ({problem!r}): "
                f"{self._clean(response.text)}; name the address of an OpenAI-compatible API, mostly ending in /v1"
            ) from None

    def _refused(self, response: httpx2.Response) -> EngineError:
        """What a final status means, and what to do."""
        said = self._said(response)
        variable = self.key_variable or "no variable (key_variable is null)"
        mends = {
            401: f"the key comes from {variable}; put a valid one there",
            403: f"the key comes from {variable}; it may not use this model or this endpoint",
            404: f"name the API's address, mostly ending in /v1, and a model that is there (asked for: {self.model})",
        }
        mend = mends.get(response.status_code, "change what the study file asks for")
        return EngineError(f"{self.place}: refused with status {response.status_code}: {said}; {mend}")

    def _said(self, response: httpx2.Response) -> str:
        try:
            data = response.json()
            error = data["error"]
            text = error["message"] if isinstance(error, dict) else error
        except (ValueError, KeyError, TypeError, RecursionError):
            text = response.text
        return self._clean(str(text)) or "(nothing said)"

    def _clean(self, text: str) -> str:
        """A text of the endpoint's, on one line, short, and without the key."""
        return " ".join(self._without_key(text).split())[:SHOWN]

    def _without_key(self, text: str) -> str:
        """A text without the key, as it is and as JSON writes it."""
        for form in (self._key, json.dumps(self._key)[1:-1]) if self._key else ():
            text = text.replace(form, "***")
        return text


def count(value: Any) -> int | None:
    """A number of tokens as an endpoint told it; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def response_format(form: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The request's key for a form; none for plain text."""
    if form == "json_schema":
        wanted = {"name": "spec", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    return {"response_format": {"type": "json_object"}} if form == "json_object" else {}


def retry_after(value: str | None, now: float) -> float:
    """The seconds that a Retry-After header asks for: a number or a date (RFC 9110, 10.2.3); 0 for anything else."""
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
