"""The vLLM engine: a server of its own environment, asked for one turn at a time, tokens in and tokens out.

vLLM's packages clash with ours, so nothing here imports it. Every request has a seed, as a batch-mate without one may
spoil the others' (vLLM's issue 51226), and its sampling is the plain softmax: the server is kept from reading a model's
`generation_config.json`, whose top_p and top_k the training knows nothing of.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tiebreak.engines import vllm_checks
from tiebreak.engines.adapter import Adapter, smallest_rank
from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.client import Client
from tiebreak.engines.server import Server
from tiebreak.engines.tokens import Speech
from tiebreak.engines.vllm_machine import environment, gpu_names, is_invariant

BASE = "base"
PATIENCE = 1800.0  # seconds that a start may take: a large model over a slow file system
ALREADY, GONE = "'{}' has already been", "'{}' cannot be found"
"""What the server says of an adapter that is to be loaded again, or dropped again."""
TOKENS_AT_ONCE = 8192  # of a pass on the CPU
AT_ONCE = {"cpu": 64, "cuda": 256}
Reference = Callable[[list[int]], Sequence[float]]
"""The log probability of each of these tokens but the first."""


@dataclass(frozen=True)
class Serving:
    """What a server is started with.

    python: of vLLM's environment. rank: the largest rank of an adapter to come, 0 for none. memory: the share of the
    GPU's memory that it takes; None is vLLM's own.
    """

    python: Path
    model: Path
    dtype: str
    device: Literal["cpu", "cuda"]
    rank: int = 0
    memory: float | None = None

    def command(self, sampling: Sampling) -> list[str]:
        """What runs it."""
        flags = [
            *("--model", str(self.model), "--served-model-name", BASE, "--dtype", self.dtype),
            *("--max-model-len", str(sampling.max_length), "--max-num-seqs", str(AT_ONCE[self.device])),
            *("--generation-config", "vllm", "--seed", "0", "--disable-uvicorn-access-log", "--disable-log-stats"),
            *(self.on_cpu(sampling) if self.device == "cpu" else []),
            *(["--model-impl", "transformers"] if has_output_bias(self.model) else []),
            *(["--gpu-memory-utilization", str(self.memory)] if self.memory else []),
            *(["--enable-lora", "--max-lora-rank", str(smallest_rank(self.rank))] if self.rank else []),
        ]
        return [str(self.python), "-m", "vllm.entrypoints.openai.api_server", *flags]

    @staticmethod
    def on_cpu(sampling: Sampling) -> list[str]:
        """Prompts are read whole: after a part of one vLLM takes its draw back, which ends an engine on a CPU."""
        room = max(sampling.max_length, TOKENS_AT_ONCE)
        return ["--enforce-eager", "--no-enable-chunked-prefill", "--max-num-batched-tokens", str(room)]


def has_output_bias(model: Path) -> bool:
    """Whether a Qwen3 has biases in its attention, as models from scratch have here and published ones do not.

    vLLM's own Qwen3 drops the bias of the output projection without a word; transformers' code inside vLLM keeps it.
    """
    if not (model / "config.json").is_file():
        return False  # no model: the server says so
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    return config.get("model_type") == "qwen3" and bool(config.get("attention_bias"))


class VllmEngine(Speech):
    """A running server as a `FreeEngine`: the base model, or the adapter that was loaded last."""

    def __init__(self, server: Server, serving: Serving, tokenizer: Any, sampling: Sampling) -> None:
        super().__init__(tokenizer, sampling)
        self.server, self.serving, self.model = server, serving, BASE
        self.at_once = AT_ONCE[serving.device]
        self.client: Client | None = None
        self.version, self.repeats, self.change = "", False, 0.0

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """See `FreeEngine`."""
        self.client = Client(self.server.socket, self.server.key, self.server.check)
        try:
            yield
        finally:
            await self.client.close()
            self.client = None

    async def reply(self, context: Sequence[int], seed: int) -> Reply:
        """See `FreeEngine`. A full conversation gives an empty turn that was cut."""
        room = self.room(context)
        return self.turn((await self.complete(context, seed, room))["token_ids"] if room > 0 else [])

    async def complete(self, context: Sequence[int], seed: int, most: int, **options: Any) -> dict[str, Any]:
        """One completion of the loaded model, by this engine's sampling; `options` are further keys."""
        drawn = {"seed": seed, "temperature": self.sampling.temperature, "max_tokens": most}
        ending = {"stop_token_ids": [self.end_id], "ignore_eos": True}  # only the turn's own end ends it
        plain = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
        assert self.client is not None, "ask within connected()"
        return await self.client.complete(self.model, context, drawn | ending | plain | options)

    async def load(self, adapter: Adapter, name: str) -> None:
        """Serve `adapter` from now on, under a name that no earlier one had; the one before it is dropped.

        Raises EngineError where it cannot be loaded, or changes nothing.
        """
        assert self.client is not None, "load within connected()"
        before = self.model
        path = str(adapter.folder.resolve())
        body = {"lora_name": name, "lora_path": path}
        await self.client.post("/v1/load_lora_adapter", body, done=ALREADY.format(name))
        self.model = BASE
        plain = [await vllm_checks.logprobs(self), await vllm_checks.logprobs(self)]
        self.model = name
        self.change = vllm_checks.effect(plain, await vllm_checks.logprobs(self), adapter.folder)
        if before != BASE:
            await self.client.post("/v1/unload_lora_adapter", {"lora_name": before}, done=GONE.format(before))

    async def prepare(self, adapter: Adapter | None, reference: Reference | None) -> None:
        """Learn what runs, see that it is the model, load the adapter, and see whether numbers repeat."""
        async with self.connected():
            assert self.client is not None
            self.version = str((await self.client.get("/version"))["version"])
            if reference is not None:
                vllm_checks.same_model(await vllm_checks.logprobs(self), reference(vllm_checks.probe(self)))
            if adapter is not None:
                await self.load(adapter, "adapter")
            self.repeats = is_invariant(self.serving.device) and await vllm_checks.repeats(self)

    def describe(self) -> dict[str, object]:
        """What decides the tokens that come out, apart from weights and prompts.

        numbers: `bit-exact` where batch invariance is on and a turn was the same alone and among others; else
        `statistical`.
        """
        invariant = is_invariant(self.serving.device)
        command = self.serving.command(self.sampling)
        return {
            "engine": "vllm",
            "vllm": self.version,
            "device": self.serving.device,
            "gpus": list(gpu_names()) if self.serving.device == "cuda" else [],
            "dtype": self.serving.dtype,
            "flags": command[command.index("--dtype") :],
            "batch_invariant": invariant,
            "numbers": "bit-exact" if invariant and self.repeats else "statistical",
            "adapter_effect": self.change if self.model != BASE else None,
            "temperature": self.sampling.temperature,
            "turn_tokens": self.sampling.turn_tokens,
            "max_length": self.sampling.max_length,
        }


@contextlib.contextmanager
def serve(
    serving: Serving,
    tokenizer: Any,
    sampling: Sampling,
    log: Path,
    adapter: Adapter | None = None,
    reference: Reference | None = None,
) -> Iterator[VllmEngine]:
    """A running engine, its adapter loaded and proven to act; the server is ended with the context.

    reference: what another engine gives for the base, in the same precision, which this one must then equal.
    Raises EngineError where it does not start, with the last lines of `log`, or fails these checks.
    """
    command = serving.command(sampling)
    with Server(command, environment(serving.device), log, patience=PATIENCE) as server:
        engine = VllmEngine(server, serving, tokenizer, sampling)
        asyncio.run(engine.prepare(adapter, reference))
        yield engine
