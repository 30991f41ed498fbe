"""An OpenAI-compatible server on the loopback: strict about requests, and able to go wrong in every known way."""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jsonschema

from tiebreak.domains.rust.blueprints import Blueprint, to_line
from tiebreak.domains.rust.generator import generate

MODEL = "writer-1"
KEYS = {"model", "messages", "seed", "temperature", "max_tokens", "max_completion_tokens", "response_format"}
REPLY_KEYS = (
    "family case_id bug_category difficulty user expected_tool_sequence expected_output files steps final".split()
)


@dataclass
class Server:
    """faults: what goes wrong, by the number of the completion request (from 0); forms: the response formats it knows.

    seeds: of the completions that were answered well; most: the most requests that were in work at a time.
    """

    faults: dict[int, str] = field(default_factory=dict)
    forms: tuple[str, ...] = ("json_schema", "json_object", "none")
    key: str | None = None
    delay: float = 0.0
    fenced: bool = False
    counts: bool = True
    lists_models: bool = True
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[int, dict[str, str], Any]:
        """(status, headers, body) of a request; a status of 0 drops the connection."""
        self.asked.append(f"{method} {path}")
        if self.key is not None and headers.get("Authorization") != f"Bearer {self.key}":
            return 401, {}, error(f"Incorrect API key provided: {headers.get('Authorization')}")
        if (method, path) == ("GET", "/v1/models") and self.lists_models:
            return 200, {}, {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        if (method, path) != ("POST", "/v1/chat/completions"):
            return 404, {}, error(f"there is no {path}")
        body = json.loads(raw)
        with self.lock:
            number = len(self.bodies)
            self.bodies.append(body)
        if (found := complaint(body, headers, self.forms)) is not None:
            return 400, {}, error(found)
        return self.completion(body, self.faults.get(number, ""))

    def completion(self, body: dict[str, Any], fault: str) -> tuple[int, dict[str, str], Any]:
        """The answer to a sound request."""
        match fault:
            case "busy":
                return 429, {"Retry-After": "7"}, error("slow down")
            case "broken":
                return 500, {}, error("a worker died")
            case "drop":
                return 0, {}, None
            case "page":
                return 200, {}, "<html>Welcome</html>"
            case "denied":
                return 403, {}, error("not for you")
        text = json.dumps(reply_to(body))
        text = f"```json\n{text}\n```" if self.fenced else text
        reason = "length" if fault == "cut" else "stop"
        text = {"cut": text[:200], "malformed": "Sure! Here is it: {" + text[9:]}.get(fault, text)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        usage = (
            {"usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}} if self.counts else {}
        )
        with self.lock:
            self.seeds.append(body["seed"])
        return 200, {}, {"object": "chat.completion", "model": MODEL, "choices": [choice], **usage}


def error(message: str) -> dict[str, Any]:
    """An error as the API words it."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


def complaint(body: Any, headers: Mapping[str, str], forms: tuple[str, ...]) -> str | None:
    """What is wrong with a request for a completion."""
    if headers.get("Content-Type") != "application/json" or not isinstance(body, dict):
        return "one JSON object is expected"
    if unknown := set(body) - KEYS:
        return f"Unrecognized request argument: {sorted(unknown)}"
    if body.get("model") != MODEL:
        return f"The model {body.get('model')} does not exist"
    if [message.get("role") for message in body["messages"]] != ["system", "user"]:
        return "messages: a system and a user message are expected"
    if any(set(message) != {"role", "content"} or not message["content"] for message in body["messages"]):
        return "messages: role and content are expected"
    if type(body.get("seed")) is not int or not 0 <= body["seed"] < 2**32:
        return "seed: an unsigned integer of 32 bits is expected"
    if not 0 <= body.get("temperature", 1) <= 2:
        return "temperature: 0 to 2 is expected"
    return format_complaint(body.get("response_format", {"type": "none"}), forms)


def format_complaint(wanted: dict[str, Any], forms: tuple[str, ...]) -> str | None:
    """What is wrong with a response format."""
    if wanted["type"] not in forms:
        return f"response_format of type {wanted['type']} is not supported"
    if wanted["type"] != "json_schema":
        return None
    inner = wanted["json_schema"]
    if set(inner) != {"name", "strict", "schema"} or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", inner["name"]):
        return "response_format.json_schema: name, strict and schema are expected"
    jsonschema.Draft202012Validator.check_schema(inner["schema"])
    return next((f"not strict: {place}" for place in loose(inner["schema"], "schema")), None)


def loose(schema: Any, place: str) -> Iterator[str]:
    """The places of a schema that strict structured output refuses."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"])
        ):
            yield place
        for key, value in schema.items():
            yield from loose(value, f"{place}.{key}")
    if isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from loose(value, f"{place}[{number}]")


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """A sound spec as it was wished for: one of our generator's, under the labels of the wish."""
    wish = dict(line.split(": ", 1) for line in body["messages"][1]["content"].splitlines() if ": " in line)
    pool = specs(wish["family"])
    item = pool[body["seed"] % len(pool)]
    labels = {"bug_category": wish["bug_category"].split(" ")[0], "difficulty": wish["difficulty"]}
    return {key: value for key, value in json.loads(to_line(item)).items() if key in REPLY_KEYS} | labels


@cache
def specs(family: str) -> list[Blueprint]:
    """Blueprints of a family."""
    return generate("all", 24, 3, families={family: 1.0})  # type: ignore[dict-item]


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server, answering under `server.url`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply()

        def do_POST(self) -> None:
            self.reply()

        def reply(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with server.lock:
                server.now += 1
                server.most = max(server.most, server.now)
            time.sleep(server.delay if self.command == "POST" else 0)
            status, headers, body = server.answer(self.command, self.path, self.headers, raw)
            with server.lock:
                server.now -= 1
            self.send(status, headers, body)

        def send(self, status: int, headers: dict[str, str], body: Any) -> None:
            self.close_connection = status == 0
            if status == 0:
                return
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
