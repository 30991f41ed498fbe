"""Multi-turn sampling with one cache for a whole conversation, against `generate` that reads it anew at each turn.

    ./dev python benchmarks/rollouts.py [MODEL] [--cases N]

Both play the same generated cases with the same settings on one thread; verdicts come from one warm cache, so the
figures compare sampling. The alternative is the plain loop that a user would write: `generate` on the
left-padded conversations of all live rollouts. Prints rollouts a second and the ratio.
"""

import argparse
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Reply, Sampling
from tiebreak.engines.hf import HfEngine
from tiebreak.rollout import Attempt, play
from tiebreak.seeds import derive

SAMPLES = 8


class PlainSession:
    """Conversations without a cache between turns."""

    def __init__(self, engine: "PlainEngine", size: int) -> None:
        self.engine, self.context = engine, [[] for _ in range(size)]

    @torch.inference_mode()
    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        """Read every conversation from its beginning and sample one turn of each."""
        engine, sampling = self.engine, self.engine.sampling
        for row, text in zip(rows, texts, strict=True):
            self.context[row] += engine.encode(text)
        width = max(len(self.context[row]) for row in rows)
        pad = engine.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (width - len(self.context[row])) + self.context[row] for row in rows])
        torch.manual_seed(seeds[0] % 2**32)
        new = engine.model.generate(
            input_ids=ids,
            attention_mask=(ids != pad).long(),
            do_sample=True,
            temperature=sampling.temperature,
            top_k=0,
            max_new_tokens=max(1, min(sampling.turn_tokens, sampling.max_length - width)),
            eos_token_id=engine.end_id,
            pad_token_id=pad,
        )[:, width:].tolist()
        return [self.finish(row, tokens) for row, tokens in zip(rows, new, strict=True)]

    def finish(self, row: int, tokens: list[int]) -> Reply:
        """The row's turn, up to its closing tag."""
        end = self.engine.end_id
        complete = end in tokens
        tokens = tokens[: tokens.index(end) + 1] if complete else tokens
        self.context[row] += tokens
        return Reply(self.engine.decode(tokens[:-1] if complete else tokens).rstrip(), tokens, complete)


class PlainEngine(HfEngine):
    """The same model behind the plain loop."""

    def session(self, size: int) -> Any:
        """Room for `size` fresh conversations."""
        self.model.eval()
        return PlainSession(self, size)


def rate(engine: HfEngine, domain: RustDomain, cases: Sequence[Any]) -> float:
    """Rollouts a second."""
    attempts = [
        Attempt(case, domain.prompt(case), sample, partial(derive, 1, case.case_id, sample))
        for case in cases
        for sample in range(SAMPLES)
    ]
    play(engine, domain, attempts, tool_rounds=6)  # warms the cache of verdicts
    started = time.perf_counter()
    play(engine, domain, attempts, tool_rounds=6)
    return len(attempts) / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="results/laptop/sft/model", type=Path)
    parser.add_argument("--cases", default=16, type=int)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    domain = RustDomain(Judge(Path("results/.cache/verdicts"), diagnostics="short"), output_limit=1200)
    cases = list(generate("all", options.cases, 77))
    sampling = Sampling(0.8, 192, 1024)
    plain = rate(PlainEngine(model, tokenizer, sampling), domain, cases)
    ours = rate(HfEngine(model, tokenizer, sampling), domain, cases)
    print(f"{options.cases * SAMPLES} rollouts: generate {plain:.1f}/s, ours {ours:.1f}/s, ratio {ours / plain:.1f}")


if __name__ == "__main__":
    main()
