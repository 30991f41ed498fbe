"""What a host has that an escape would reach: secrets, sockets, shared objects, a process; made for the tests."""

import contextlib
import ctypes
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tiebreak.domains.rust.scratch import scratch

REPOSITORY = Path(__file__).resolve().parents[3]
CREATE, REMOVE, READ_ONLY = 0o1000, 0, 0
LIBC = ctypes.CDLL(None, use_errno=True)


class Baits:
    """Baits of one module of tests; `words` are what `@name@` in an escape stands for."""

    def __init__(self) -> None:
        self.token = f"secret-{secrets.token_hex(8)}"
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        keep = self._stack.enter_context
        keep(_environment("HF_TOKEN", self.token))
        # a program of its own, so that its environment holds the token from its start
        self.victim = keep(subprocess.Popen(["sleep", "100000"], stdout=subprocess.DEVNULL))
        self._stack.callback(self.victim.kill)
        folder = keep(scratch())
        (folder / "lib.rs").write_text(self.token)
        home = Path(keep(tempfile.TemporaryDirectory(prefix="host-")))
        (home / "notes").write_text(self.token)
        os.set_inheritable(keep(open(home / "notes")).fileno(), True)
        tcp, self._abstract = keep(socket.socket()), keep(socket.socket(socket.AF_UNIX))
        self._udp = keep(socket.socket(type=socket.SOCK_DGRAM))
        name = f"tiebreak-{secrets.token_hex(8)}"
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        self._udp.bind(("127.0.0.1", 0))
        self._udp.setblocking(False)
        self._abstract.bind(f"\0{name}")
        self._abstract.listen()
        key = secrets.randbelow(1 << 30) + 1
        self.words = {
            "token": self.token,
            "victim": str(self.victim.pid),
            "scratch": str(folder),
            "files": str(home),
            "home": os.path.expanduser("~"),
            "repository": str(REPOSITORY),
            "tcp": str(tcp.getsockname()[1]),
            "udp": str(self._udp.getsockname()[1]),
            "abstract": name,
            "memory": str(self._shared("shmget", key, 4096, "shmctl")),
            "semaphores": str(key),
            "queue": name,
        }
        self._shared("semget", key, 1, "semctl")
        self._queue(f"/{name}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _shared(self, make: str, key: int, size: int, control: str) -> int:
        """A System V object of the host, removed at the end."""
        made = int(getattr(LIBC, make)(key, size, CREATE | 0o600))
        assert made >= 0, os.strerror(ctypes.get_errno())
        arguments = (made, REMOVE, None) if control == "shmctl" else (made, 0, REMOVE)
        self._stack.callback(lambda: getattr(LIBC, control)(*arguments))
        return made

    def _queue(self, name: str) -> None:
        """A POSIX message queue of the host, removed at the end."""
        functions = LIBC if hasattr(LIBC, "mq_open") else ctypes.CDLL("librt.so.1")
        made = functions.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        assert made >= 0, "no message queue can be made on this host"
        self._stack.callback(lambda: functions.mq_unlink(name.encode()))
        self._stack.callback(lambda: os.close(made))

    def arrived(self) -> bytes:
        """What came in at the host's datagram socket since the last time."""
        with contextlib.suppress(BlockingIOError):
            return self._udp.recv(100)
        return b""


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


def survivors(mark: str, end: Callable[[int], object]) -> list[str]:
    """The command lines of the processes that carry `mark`; each is ended."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it ended meanwhile
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if mark.encode() in words:
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
                end(int(entry.name))
    return found
