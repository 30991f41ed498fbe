"""A model server as a process of its own: it is started, waited for until it answers, and ended, whatever happens."""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2

from tiebreak.devices import HELD
from tiebreak.errors import EngineError

KEEPER = Path(__file__).with_name("keeper.py")
POLL = 0.2
TELL_AFTER = 10.0  # seconds between words on a start that takes long
LAST_LINES = 12
LONGEST_SOCKET = 107  # bytes, by Linux
ADDRESS = "http://engine"  # what HTTP calls it; the connection goes to the socket


class Server:
    """A server of OpenAI's protocol that listens on a Unix socket, which only this user can reach.

    command: what runs it, without the socket's place, which is appended as `--uds PATH`. key: what requests show.
    patience: seconds that a start may take. Raises EngineError where no socket can be.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path, *, patience: float) -> None:
        self.log, self.patience = log, patience
        self.key = secrets.token_urlsafe(32)
        self.folder = tempfile.TemporaryDirectory(prefix="tiebreak-engine-")
        self.socket = Path(self.folder.name) / "socket"
        if (length := len(os.fsencode(self.socket))) > LONGEST_SOCKET:
            self.folder.cleanup()
            raise EngineError(
                f"{self.socket}: {length} bytes, a socket's path has at most {LONGEST_SOCKET}; let TMPDIR name a "
                "shorter folder"
            )
        self.command = [*command, "--uds", str(self.socket)]
        self.environment = {**environment, "VLLM_API_KEY": self.key}

    def __enter__(self) -> Self:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(self.environment),
                start_new_session=True,
                pass_fds=HELD,  # the GPUs are not free before the server is gone
            )
        try:
            self.wait()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wait(self) -> None:
        """Wait until it answers. Raises EngineError if it ends before that, or takes longer than `patience` seconds."""
        started = told = time.monotonic()
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(self.socket)), base_url=ADDRESS, timeout=5) as client:
            while not self.answers(client):
                self.check()
                now = time.monotonic()
                if now - started > self.patience:
                    raise EngineError(f"the engine did not answer within {self.patience:.0f} s; {self.last_words()}")
                if now - told > TELL_AFTER:
                    told = now
                    lines = self.lines()
                    print(
                        f"the engine is loading, {now - started:.0f} s: {lines[-1] if lines else ''}", file=sys.stderr
                    )
                time.sleep(POLL)

    def answers(self, client: httpx2.Client) -> bool:
        """Whether it is up."""
        try:
            return client.get("/health").status_code == 200
        except httpx2.HTTPError:
            return False

    def check(self) -> None:
        """Raise EngineError with the log's last words if the server has ended."""
        if self.process.poll() is not None:
            raise EngineError(f"the engine ended with status {self.process.returncode}; {self.last_words()}")

    def last_words(self) -> str:
        """The end of the log, where the reason mostly stands."""
        return f"the last lines of {self.log}:\n  " + "\n  ".join(self.lines()[-LAST_LINES:] or ["(it is empty)"])

    def lines(self) -> list[str]:
        """The log so far, without the key."""
        text = self.log.read_text(encoding="utf-8", errors="replace").replace(self.key, "***")
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def close(self) -> None:
        """End it: the keeper sees its standard input closed, and leaves nothing behind."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()
