"""The hub over HTTP, in a thread. Every request is counted, an unknown one is answered 501 and remembered."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from .messages import Answer, Request, User
from .routes import Routes
from .store import Store


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: the line is cut before it is done or after, an error is the answer, or it takes
    some seconds."""

    how: Literal["cut before", "cut after", "answer", "slow"]
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class Hub:
    """A hub. faults: by the number of the request, counted from 0; down_from: that one and all later ones are cut
    before anything is done. asked: (method, path, status) of each request; unknown: those that no route answers.
    """

    store: Store
    users: dict[str, User]
    faults: dict[int, Fault] = field(default_factory=dict)
    down_from: int | None = None
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    endpoint: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Answer | None:
        """What is answered; None where the line is cut. One request at a time."""
        with self.lock:
            number = len(self.asked)
            fault = self.faults.get(number)
            if self.down_from is not None and number >= self.down_from:
                fault = Fault("cut before")
            answer = None
            if fault is not None and fault.how == "slow":
                threading.Event().wait(fault.seconds)
            if fault is None or fault.how in ("cut after", "slow"):
                answer = self.routed(request)
            elif fault.how == "answer":
                answer = Answer(fault.status, b'{"error": "asked for by the test"}', dict(fault.headers))
            self.asked.append((request.method, request.path, answer.status if answer else 0))
            return None if fault is not None and fault.how == "cut after" else answer

    def routed(self, request: Request) -> Answer:
        """The routes' answer; a disk that is full here is an error there."""
        try:
            answer = Routes(self.store, self.users, self.endpoint).answer(request)
        except OSError as problem:
            return Answer(500, str(problem.strerror).encode())
        if answer.status == 501:
            self.unknown.append(f"{request.method} {request.path}")
        return answer

    def again(self) -> None:
        """Forget what was asked and what was to go wrong; what is stored stays."""
        self.faults, self.down_from, self.asked = {}, None, []


def handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    """The class that answers for a hub."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are two writes, and the client waits for both

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            request = Request(
                self.command, unquote(parts.path), parse_qs(parts.query), dict(self.headers.items()), self.body()
            )
            answer = hub.answer(request)
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def serving(folder: Path, users: dict[str, User], port: int = 0) -> Iterator[Hub]:
    """A hub of a folder, answering at `endpoint`; users by their tokens."""
    hub = Hub(Store(folder), users)
    server = ThreadingHTTPServer(("127.0.0.1", port), handler(hub))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
