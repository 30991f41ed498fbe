"""The part of vLLM's server that the engine uses, over transformers: what is sampled is real, the server is not.

`python loopback.py -m MODULE --model FOLDER --uds PATH …` takes the place of vLLM's Python. Draws are HfEngine's, so
that a rollout must come out the same. Faults, by the environment variable LOOPBACK (a JSON object): `refuse`, the
number of first completions that get a 503; `stuck`, a text: every completion whose prompt holds it gets a 503; `die`,
the number of completions after which the process ends; `deaf`, adapters are taken and change nothing; `noisy`, log
probabilities depend on how many completions there were before; `lost`, adapters are loaded and dropped as
asked, and the answers that say so never come.
"""

import argparse
import json
import os
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from tiebreak.engines.hf import draw, uniforms

FAULTS: dict[str, Any] = json.loads(os.environ.get("LOOPBACK", "{}"))


class Engine:
    """A model, its adapters, and the completions that were asked for."""

    def __init__(self, folder: str, rank: int) -> None:
        torch.set_num_threads(1)
        self.folder, self.rank = folder, rank
        self.models = {"base": AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()}
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.lock, self.asked = threading.Lock(), 0

    def load(self, name: str, path: str) -> None:
        """Serve an adapter under a name."""
        plain = AutoModelForCausalLM.from_pretrained(self.folder, dtype="float32").eval()
        self.models[name] = plain if FAULTS.get("deaf") else PeftModel.from_pretrained(plain, path).eval()

    @torch.inference_mode()
    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """One choice, token by token."""
        model, prompt = self.models[body["model"]], list(body["prompt"])
        noise = uniforms([body["seed"]], body["max_tokens"])[0]
        found: list[int] = []
        scores: list[float] = []
        while len(found) < body["max_tokens"]:
            logits = model(input_ids=torch.tensor([prompt + found])).logits[0, -1:]
            found.append(int(draw(logits, noise[len(found) : len(found) + 1], body["temperature"])))
            scores.append(float(logits.log_softmax(-1)[0, found[-1]]) + self.asked * FAULTS.get("noisy", 0.0))
            if found[-1] in body["stop_token_ids"]:
                break
        choice: dict[str, Any] = {"token_ids": found, "text": self.tokenizer.decode(found)}
        if "logprobs" in body:
            choice["logprobs"] = {"token_logprobs": scores}
        if "prompt_logprobs" in body:
            table = model(input_ids=torch.tensor([prompt])).logits[0].log_softmax(-1)
            rest = [{str(token): {"logprob": float(table[at, token])}} for at, token in enumerate(prompt[1:])]
            choice["prompt_logprobs"] = [None, *rest]
        return choice

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The status and the JSON value of an answer."""
        with self.lock:
            if path == "/v1/load_lora_adapter":
                if body["lora_name"] in self.models:
                    return 400, {"error": {"message": f"The adapter '{body['lora_name']}' has already been loaded."}}
                self.load(body["lora_name"], body["lora_path"])
                return 200, "added"
            if path == "/v1/unload_lora_adapter":
                if body["lora_name"] not in self.models:
                    return 404, {"error": {"message": f"The adapter '{body['lora_name']}' cannot be found."}}
                del self.models[body["lora_name"]]
                return 200, "removed"
            self.asked += 1
            if self.asked > FAULTS.get("die", self.asked):
                os._exit(3)
            stuck = FAULTS.get("stuck")
            if self.asked <= FAULTS.get("refuse", 0) or (stuck and stuck in self.tokenizer.decode(body["prompt"])):
                return 503, {"error": {"message": "busy"}}
            if body["model"] not in self.models:
                return 404, {"error": {"message": f"no model {body['model']}"}}
            return 200, {"choices": [self.complete(body)]}


class Handler(BaseHTTPRequestHandler):
    """HTTP for one connection."""

    protocol_version = "HTTP/1.1"
    engine: Engine

    def do_GET(self) -> None:
        self.send(200, {"version": "loopback"} if self.path == "/version" else {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            self.send(401, {"error": {"message": "Unauthorized"}})
            return
        status, value = self.engine.answer(self.path, body)
        if FAULTS.get("lost") and status == 200 and "lora_name" in body:
            self.close_connection = True
            return
        self.send(status, value)

    def send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self) -> str:
        return "socket"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Loopback(ThreadingMixIn, UnixStreamServer):
    """A thread a connection."""

    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--uds", required=True)
    parser.add_argument("--max-lora-rank", type=int, default=0)
    arguments, _ = parser.parse_known_args()
    Handler.engine = Engine(arguments.model, arguments.max_lora_rank)
    print(f"loopback serves {arguments.model} at {arguments.uds}", flush=True)
    Loopback(arguments.uds, Handler).serve_forever()


if __name__ == "__main__":
    main()
