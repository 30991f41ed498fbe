"""A hub on the loopback: just what a snapshot download asks of one, with the ways in which it can go wrong."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from domains.rust.imports.specs import reply, spec

NAME, COMMIT = "someone/crates", "0123456789abcdef0123456789abcdef01234567"

FILES = {
    "specs.jsonl": reply("a-1", spec()).encode(),
    "more/other.jsonl": b"{}\n",
    "README.md": b"# Crates\n",
}


@dataclass
class Hub:
    """A repository with one commit: a dataset, or with `models` a model.

    files: of the commit. cut: how many bytes of a file's body are sent; None is all. asked: paths, in order.
    """

    files: Mapping[str, bytes]
    cut: int | None = None
    gated: bool = False
    models: bool = False
    asked: list[str] = field(default_factory=list)
    endpoint: str = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of a GET."""
        self.asked.append(path)
        if self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b"{}"
        kind = "models" if self.models else "datasets"
        api, resolve = f"/api/{kind}/{NAME}/tree/", f"/{NAME}/resolve/" if self.models else f"/datasets/{NAME}/resolve/"
        if path == f"/api/{kind}/{NAME}/revision/{COMMIT}":
            return 200, {"Content-Type": "application/json"}, json.dumps(self.about()).encode()
        if path.startswith(f"/api/{kind}/{NAME}/revision/"):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if not path.startswith((api, resolve)):
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        commit, _, name = path.removeprefix(api).removeprefix(resolve).partition("/")
        if commit != COMMIT:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        if path.startswith(api):
            return 200, {"Content-Type": "application/json"}, json.dumps(self.tree()).encode()
        if name not in self.files:
            return 404, {"X-Error-Code": "EntryNotFound"}, b"{}"
        body = self.files[name]
        return 200, {"ETag": f'"{oid(body)}"', "X-Repo-Commit": COMMIT}, body

    def about(self) -> dict[str, object]:
        """What the hub says of the repository at the commit, sizes of files among it."""
        files = [{"rfilename": path, "size": len(body)} for path, body in self.files.items()]
        return {"id": NAME, "sha": COMMIT, "siblings": files}

    def tree(self) -> list[dict[str, object]]:
        """The files of the commit, as the hub lists them."""
        return [
            {"type": "file", "path": path, "size": len(body), "oid": oid(body)} for path, body in self.files.items()
        ]


def oid(body: bytes) -> str:
    """Git's name of a file."""
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub, answering at `hub.endpoint`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(body=True)

        def do_HEAD(self) -> None:
            self.reply(body=False)

        def reply(self, *, body: bool) -> None:
            status, headers, content = hub.answer(unquote(urlsplit(self.path).path))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                cut = hub.cut if status == 200 and "ETag" in headers else None
                self.wfile.write(content[:cut])
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
