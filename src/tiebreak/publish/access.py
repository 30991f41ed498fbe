"""The way to the hub: its client, the token, and who may write where; asked before anything is sent.

The token comes from the environment and goes into the client alone. Whatever the client says passes `redacted`.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tiebreak.errors import HubError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

VARIABLE = "HF_TOKEN"
XET = "HF_HUB_DISABLE_XET"
TRIES = 5
LONGEST_WAIT = 600.0
WAITS = (429, 503)
PRINTED = re.compile(r"[!-~]+")
BEARER = re.compile(r"(Bearer\s+)[^\s'\"]+", re.IGNORECASE)
SIGNED = re.compile(r"(https?://[^\s'\"?]+)\?[^\s'\"]*")

Found = TypeVar("Found")


def token() -> str:
    """The token. Raises HubError where there is none, or one that no header can hold, without showing it."""
    found = os.environ.get(VARIABLE, "").strip()
    if not found:
        raise HubError(f"{VARIABLE} is not set; publishing needs a token that may write, from the hub's settings")
    if PRINTED.fullmatch(found) is None:
        raise HubError(
            f"{VARIABLE} holds a space, a line break or another character that no token has; copy the token once more"
        )
    return found


def client() -> "HfApi":
    """The hub's client, for HF_ENDPOINT if that is set.

    Large files go by LFS, the way that our tests prove; HF_HUB_DISABLE_XET=0 lets the client use Xet.
    """
    from huggingface_hub import HfApi, constants
    from huggingface_hub.utils import logging as hub_logging

    constants.HF_HUB_DISABLE_XET = os.environ.get(XET, "1").lower() not in ("0", "false", "no", "off", "")
    for handler in hub_logging.get_logger("huggingface_hub").handlers:
        if not any(isinstance(item, Redaction) for item in handler.filters):
            handler.addFilter(Redaction())
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token())


class Redaction(logging.Filter):
    """Takes the token and signed addresses out of what the client logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes, with its text redacted."""
        record.msg, record.args = redacted(record.getMessage()), ()
        return True


def redacted(text: str) -> str:
    """A text without the token, plain or as Python prints it, without what follows `Bearer`, and without the queries of
    addresses, which may be signatures."""
    for secret in spellings(os.environ.get(VARIABLE, "").strip()):
        text = text.replace(secret, f"${VARIABLE}")
    return SIGNED.sub(r"\1?…", BEARER.sub(rf"\1${VARIABLE}", text))


def spellings(secret: str) -> list[str]:
    """A secret as a text may hold it, longest first: as it is, as texts and bytes are printed, and word by word."""
    words = [secret, *(word for word in secret.split() if len(word) >= 8)]  # a shorter one may be any word
    shown = [form for word in words for form in (word, repr(word)[1:-1], ascii(word)[1:-1], repr(word.encode())[2:-1])]
    return sorted({form for form in shown if form}, key=len, reverse=True)


@contextmanager
def hub_refusals(place: str) -> Iterator[None]:
    """Raise HubError, without the token and without the client's request, for whatever the client raises inside."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        yield
    except HfHubHTTPError as problem:
        raise HubError(f"{place}: {refusal(problem)}") from None
    except HFValidationError as problem:
        raise HubError(f"{place}: the hub forbids this name: {first_line(problem)}; choose another") from None
    except (HTTPError, RuntimeError, OSError) as problem:
        cause = problem.__cause__ or problem
        told = refusal(cause) if isinstance(cause, HfHubHTTPError) else f"the line broke: {first_line(cause)}; {REPEAT}"
        raise HubError(f"{place}: {told}") from None
    except ValueError as problem:  # the client's word for a card that the hub refuses
        raise HubError(f"{place}: the hub refuses it: {redacted(str(problem).strip())}") from None


REPEAT = "nothing is half done there: run the same command again"


def refusal(problem: Any) -> str:
    """An error status in words, with the mend."""
    status = problem.response.status_code
    words = {
        401: f"the hub does not accept the token in {VARIABLE}, or has nothing there for it; make a new one",
        403: f"the token in {VARIABLE} has no right to write there; use one with the role `write`",
        404: "the hub has nothing there, or not for this token",
        429: f"the hub still asks to wait after {TRIES} tries; {REPEAT} later",
    }
    said = redacted(str(getattr(problem, "server_message", None) or first_line(problem)))
    return words.get(status, f"the hub answers {status} ({said}); {REPEAT}")


def first_line(problem: BaseException) -> str:
    """The first line of an error's text, redacted; its kind where it has none."""
    return redacted(str(problem).strip().split("\n")[0]) or type(problem).__name__


def patient(ask: Callable[[], Found]) -> Found:
    """What `ask` gives; where the hub says wait (429, or 503 with a time), wait as long as it says and ask again.

    The client does so by itself for some requests only.
    """
    from huggingface_hub.errors import HfHubHTTPError

    for left in reversed(range(TRIES)):
        try:
            return ask()
        except HfHubHTTPError as problem:
            if not left or problem.response.status_code not in WAITS:
                raise
            time.sleep(wait_of(problem.response.headers))
    raise AssertionError("the last try returns or raises")


def wait_of(headers: Any) -> float:
    """The seconds that a refusal asks for, and one more; one where it names none."""
    from huggingface_hub.utils._http import parse_ratelimit_headers

    limit, after = parse_ratelimit_headers(headers), headers.get("Retry-After", "")
    asked = limit.reset_in_seconds if limit and not limit.remaining else int(after) if after.isdigit() else 0
    return min(asked, LONGEST_WAIT) + 1


def check_rights(api: "HfApi", repos: Iterable[str]) -> None:
    """Refuse a token that is not known, that may only read, or a repository whose owner it cannot write for.

    Raises HubError. A fine-grained token is believed: its rights show when it is used.
    """
    with hub_refusals(f"token in {VARIABLE}"):
        about = patient(api.whoami)
    if about.get("auth", {}).get("accessToken", {}).get("role") == "read":
        raise HubError(f"the token in {VARIABLE} may only read; make one with the role `write`")
    may = [about["name"], *(item["name"] for item in about.get("orgs", []) if item.get("roleInOrg") != "read")]
    for repo in repos:
        if repo.split("/")[0] not in may:
            raise HubError(
                f"{repo}: the token in {VARIABLE} is of {about['name']}, who cannot write for {repo.split('/')[0]} "
                f"(can: {', '.join(may)}); change publish in the study file, or the token"
            )
