"""A real server in a process of its own, and what the tests know that its clients do not."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiebreak.domains.fathom.orders import Dealer, Order
from tiebreak.domains.fathom.tasks import Task

ROOT = Path(__file__).parents[3]
SECRET = 7_305_118_264_409_127


@dataclass
class Server:
    """url: without a slash at the end; log: what it printed."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def get(self, path: str) -> str:
        """The body of a page."""
        with urllib.request.urlopen(f"{self.url}/{path}", timeout=60) as reply:
            return str(reply.read().decode())

    def sandboxes(self) -> list[int]:
        """The processes that it has started and that still run."""
        return [pid for task in tasks(self.process.pid) for pid in children(task)]

    def gone(self, seconds: float = 30) -> bool:
        """Whether no sandbox is left, waited for."""
        deadline = time.monotonic() + seconds
        while self.sandboxes() and time.monotonic() < deadline:
            time.sleep(0.1)
        return not self.sandboxes()


def tasks(pid: int) -> list[Path]:
    """The threads of a process."""
    return list(Path(f"/proc/{pid}/task").iterdir())


def children(task: Path) -> list[int]:
    """What a thread has started; nothing where it has ended meanwhile."""
    try:
        return list(map(int, (task / "children").read_text().split()))
    except OSError:
        return []


@contextmanager
def serving(folder: Path, path: str | None = None, **variables: str) -> Iterator[Server]:
    """Start it on a free port under TIEBREAK_FATHOM_… (and with this PATH), wait until it is healthy, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    known = {"SECRET": str(SECRET), "SESSIONS": "300", "WALL_SECONDS": "60"} | variables
    environment = os.environ | {f"TIEBREAK_FATHOM_{name}": value for name, value in known.items()}
    environment |= {} if path is None else {"PATH": path}
    environment["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT / 'environments' / 'fathom'}"
    command = [sys.executable, "-m", "fathom_env.server.app", "--port", str(port)]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", folder / "log", process)
    try:
        healthy(server)
        yield server
    finally:
        process.terminate()
        process.wait(60)


def healthy(server: Server) -> None:
    """Wait for the server."""
    deadline = time.monotonic() + 180
    while True:
        try:
            server.get("health")
            return
        except OSError:
            assert server.process.poll() is None and time.monotonic() < deadline, server.log.read_text()
            time.sleep(0.2)


def dealt(**options: object) -> Task:
    """The task that a reset with these options gives."""
    return Dealer(SECRET).task(Order.model_validate(options))
