"""Rollouts of a training on a server beside the trainer, on the same GPU: before each step it is given the adapter.

Only the adapter travels, a few megabytes in a folder; the server holds the SFT model that all steps share.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tiebreak.domains.base import Domain
from tiebreak.engines.adapter import read_adapter
from tiebreak.engines.base import Sampling
from tiebreak.engines.vllm import Serving, VllmEngine, serve
from tiebreak.rollout import Attempt, Played
from tiebreak.rollout_free import play_free


class Served:
    """A `Player` (`training.groups`) on a running server.

    base: the folder of the model that is served. folder: where adapters are left for the server, one at a time.
    """

    def __init__(self, engine: VllmEngine, base: Path, folder: Path, *, tool_rounds: int) -> None:
        self.engine, self.base, self.folder, self.tool_rounds = engine, base, folder, tool_rounds
        self.number = 0

    def __call__(self, model: Any, tokenizer: Any, domain: Domain, attempts: Sequence[Attempt]) -> list[Played]:
        """Play these rollouts with the adapter as it is now."""
        if is_trained(model):
            asyncio.run(self.give(model))
        return asyncio.run(play_free(self.engine, domain, attempts, list, tool_rounds=self.tool_rounds))

    async def give(self, model: Any) -> None:
        """Write the adapter down and have the server take it, under a name of its own. It must act."""
        self.number += 1
        name = f"adapter-{self.number}"
        model.save_pretrained(self.folder / name)
        async with self.engine.connected():
            await self.engine.load(read_adapter(self.folder / name, self.base), name)
        shutil.rmtree(self.folder / f"adapter-{self.number - 1}", ignore_errors=True)


def is_trained(model: Any) -> bool:
    """Whether an adapter differs from a fresh one, which changes nothing and need not be served."""
    return any(bool(weight.detach().any()) for name, weight in model.named_parameters() if "lora_B" in name)


@contextlib.contextmanager
def open_served(
    serving: Serving, tokenizer: Any, sampling: Sampling, work: Path, *, tool_rounds: int
) -> Iterator[Served]:
    """A server for one training; its log and its adapters are left in `work`, the adapters as long as it runs."""
    folder = work / "served"
    shutil.rmtree(folder, ignore_errors=True)
    with serve(serving, tokenizer, sampling, work / "vllm.log") as engine:
        yield Served(engine, serving.model, folder, tool_rounds=tool_rounds)
    shutil.rmtree(folder, ignore_errors=True)
