"""What a server must show before its answers count: that an adapter acts, and whether a turn repeats in other company.

A LoRA that does not match is served as the base without a word (vLLM's issue 34186), and batch invariance has open bugs
(51902, 47069, 51187 there): both are measured.
"""

import asyncio
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from tiebreak.chat import OPENING
from tiebreak.errors import EngineError

if TYPE_CHECKING:
    from tiebreak.engines.vllm import VllmEngine

PROBE = "".join(f"{number} of {number * 7} lines. fn add(a: i64, b: i64) -> i64 {{ a + b }}\n" for number in range(8))
PROBE_TOKENS = 96
COMPANY = 15
DRAWN = 24
SEED = 20260218
SAME = 1e-3  # nats, in float32


def probe(engine: "VllmEngine", first: str = "") -> list[int]:
    """A fixed text's tokens."""
    most = min(PROBE_TOKENS, engine.sampling.max_length - 1)
    return engine.encode(first + PROBE + OPENING)[:most]


async def logprobs(engine: "VllmEngine") -> list[float]:
    """The log probability of each token of the fixed text but the first, under the model that is served."""
    tokens = probe(engine)
    choice = await engine.complete(tokens, SEED, 1, prompt_logprobs=0)
    found = choice.get("prompt_logprobs") or []
    if len(found) != len(tokens):
        raise EngineError(f"the engine gave {len(found)} of {len(tokens)} prompt_logprobs; it cannot be checked")
    return [float(entry[str(token)]["logprob"]) for token, entry in zip(tokens[1:], found[1:], strict=True)]


def effect(plain: Sequence[Sequence[float]], adapted: Sequence[float], folder: Path) -> float:
    """The largest change of a log probability that the adapter makes.

    plain: the base's, measured twice. Raises EngineError if the change is none, or none over what two looks at the
    base differ by, or a number is not finite.
    """
    noise = largest(plain[0], plain[1])
    change = largest(plain[0], adapted)
    if not change > noise:
        raise EngineError(
            f"{folder}: the engine serves the base model in place of this adapter: over {len(adapted)} tokens no log "
            f"probability changes by more than {noise:.3g}, as between two looks at the base; export the adapter anew"
        )
    return change


def same_model(found: Sequence[float], wanted: Sequence[float]) -> None:
    """Raise EngineError where the server's log probabilities are not those of the model as transformers runs it."""
    if not (difference := largest(found, wanted)) <= SAME:
        raise EngineError(
            f"the engine serves another model than its folder holds: over {len(found)} tokens a log probability "
            f"differs by {difference:.3g} from transformers', at most {SAME} is rounding; sample with engine hf"
        )


def largest(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest difference between two lists of log probabilities.

    Raises EngineError for one that is not finite: every comparison with NaN is false, so no check would see it.
    """
    if odd := [(at, value) for at, value in enumerate([*one, *other]) if not isfinite(value)]:
        at, value = odd[0]
        raise EngineError(
            f"{len(odd)} of {len(one) + len(other)} log probabilities are no finite numbers (the first is {value}, at "
            f"token {at % len(one) + 1}): the weights or the adapter hold NaN or overflow in this precision; export "
            f"the model anew, or sample in float32"
        )
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


async def repeats(engine: "VllmEngine") -> bool:
    """Whether a turn has the same tokens and log probabilities alone and among others."""
    alone = await drawn(engine, "")
    company = [drawn(engine, f"{number}\n" * number) for number in range(1, COMPANY + 1)]
    among, *_ = await asyncio.gather(drawn(engine, ""), *company)
    return alone == among


async def drawn(engine: "VllmEngine", first: str) -> tuple[list[int], list[float]]:
    """Some tokens after the fixed text, with their log probabilities."""
    tokens = probe(engine, first)
    most = min(DRAWN, engine.sampling.max_length - len(tokens))
    choice = await engine.complete(tokens, SEED, most, logprobs=0)
    return choice["token_ids"], choice["logprobs"]["token_logprobs"]
