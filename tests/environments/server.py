"""An OpenAI-compatible server on the loopback that serves our own engine, or a script, over our chat template."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tiebreak.engines.hf import HfEngine

MODEL = "tiny"
CUT = "<cut>"
"""How a script says that a token limit cut its turn: what follows is never sent."""
OVERLONG = "<overlong>"


@dataclass
class Server:
    """engine: what renders, counts and samples. script: turns by a word of the conversation's first user message.

    prompts: what the model was asked to continue, as text. extra: what is put into each reply's message. slow: seconds
    that each reply takes.
    """

    engine: HfEngine
    script: Mapping[str, list[str]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    slow: float = 0.0
    prompts: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the body of the reply to a request."""
        prompt = self.engine.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        scripted = self.scripted(body["messages"])
        time.sleep(self.slow)
        if scripted is not None and scripted.startswith(OVERLONG):
            return 400, {"error": {"message": "This model's maximum context length is 10 tokens.", "code": 400}}
        with self.lock:
            text, finish, used = self.sampled(prompt, body["seed"]) if scripted is None else said(scripted)
            self.prompts.append(prompt)
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, **self.extra},
                    "finish_reason": finish,
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": used, "total_tokens": used + 1},
        }

    def scripted(self, messages: list[dict[str, Any]]) -> str | None:
        """What the script says next in this conversation."""
        words = messages[1]["content"].replace(".", " ").replace(",", " ").split()
        turns = next((turns for name, turns in self.script.items() if name in words), None)
        return None if turns is None else turns[sum(message["role"] == "assistant" for message in messages)]

    def sampled(self, prompt: str, seed: int) -> tuple[str, str, int]:
        """A turn of the model: its text, as it was written; why it ended; its tokens."""
        reply = self.engine.session(1).reply([0], [prompt], [seed])[0]
        text = self.engine.decode(reply.ids[:-1] if reply.complete else reply.ids)
        return text, "stop" if reply.complete else "length", len(reply.ids)


def said(turn: str) -> tuple[str, str, int]:
    """A turn of a script, likewise; its words count as tokens."""
    text, cut, _ = turn.partition(CUT)
    return text, "length" if cut else "stop", len(text.split()) + 1


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions" or body.get("model") != MODEL:
                status, found = 404, {"error": {"message": f"there is no {self.path} of {body.get('model')}"}}
            else:
                status, found = server.answer(body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Threads(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    with Threads(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}/v1"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
