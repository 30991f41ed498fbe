"""Headless Chromium, driven over its DevTools protocol: pages that talk to a server cannot be dumped once."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REASON = "no Chromium here (Debian: apt-get install chromium); the pages were not opened in a browser"


class Page:
    """One page. problems: what was logged as an error, and exceptions that nobody caught."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number, self.problems = socket, 0, []  # type: ignore[var-annotated]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """One command, and what it gives."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            told = json.loads(self._socket.recv(timeout=120))
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _note(self, told: dict[str, Any]) -> None:
        if told.get("method") == "Runtime.exceptionThrown" or (
            told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error"
        ):
            self.problems.append(told["params"])

    def value(self, expression: str) -> Any:
        """What an expression is worth in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression: str, seconds: float = 60) -> Any:
        """Wait until an expression is true in the page."""
        deadline = time.monotonic() + seconds
        while not (found := self.value(expression)):
            assert time.monotonic() < deadline, f"{expression}: never; the page says {self.value(BODY)!r}"
            time.sleep(0.1)
        return found

    def open(self, url: str) -> None:
        """Go to a page and wait for its scripts."""
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def text(self, name: str) -> str:
        """What the element with this id shows."""
        return str(self.value(f"document.getElementById('{name}').innerText"))

    def fill(self, name: str, text: str, form: str) -> None:
        """Type into a field and submit its form."""
        self.value(f"document.getElementById('{name}').value = {json.dumps(text)}")
        self.value(f"document.querySelector('#{form} button').click()")


BODY = "document.body.innerText.slice(0, 2000)"


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """A browser with one empty page. Chromium has no sandbox for root; what is opened here is our own page."""
    assert CHROMIUM
    command = [CHROMIUM, "--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(target(profile), max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(60)


def target(profile: Path) -> str:
    """The address of the page's end of the protocol, waited for."""
    from urllib.request import urlopen

    place, deadline = profile / "DevToolsActivePort", time.monotonic() + 120
    while not place.exists() or len(place.read_text().split()) < 2:
        assert time.monotonic() < deadline, "Chromium does not start"
        time.sleep(0.1)
    port = place.read_text().split()[0]
    while True:
        pages = [one for one in json.load(urlopen(f"http://127.0.0.1:{port}/json")) if one["type"] == "page"]
        if pages:
            return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
