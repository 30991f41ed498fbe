"""From a trace to tokens and loss weights, cut at the same places where the rollout loop cuts.

A conversation is a chain of segments: context (everything up to and including the opening of an assistant turn) and
assistant turns with their closing tag. Each segment is tokenized alone, in training as in rollouts, so a model meets
the same tokens in both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.chat import BREAK, CLOSING, OPENING, WHITESPACE, Message, render_message
from tiebreak.domains.base import TraceTurn
from tiebreak.errors import TrainingError


@dataclass(frozen=True)
class Segment:
    """A piece of rendered text; `own` marks an assistant turn, `learn` whether its tokens carry the loss."""

    text: str
    own: bool
    learn: bool


@dataclass(frozen=True)
class Encoded:
    """Tokens of one trace and the weight of each in the loss. learned: tokens of the turns that it teaches to write."""

    ids: list[int]
    weights: list[float]
    learned: int = 0


def segments(turns: Sequence[TraceTurn]) -> list[Segment]:
    """The segments of a trace; joined, their texts are `chat.render` of its messages.

    Raises TrainingError where a trace does not end on an assistant turn.
    """
    if not turns or turns[-1]["role"] != "assistant":
        raise TrainingError("a trace must end on an assistant turn")
    chain: list[Segment] = []
    context = ""
    for turn in turns:
        if turn["role"] == "assistant":
            chain.append(Segment(context + OPENING, own=False, learn=False))
            content = turn["content"].rstrip(WHITESPACE)
            chain.append(Segment(content + CLOSING, own=True, learn=turn["loss"]))
            context = BREAK
        else:
            message: Message = {"role": turn["role"], "content": turn["content"]}
            context += render_message(message) + BREAK
    return chain


def encode(tokenizer: Any, turns: Sequence[TraceTurn], context_weight: float = 0.0) -> Encoded:
    """Tokens and loss weights of a trace: 1 where the model is to learn, 0 on its masked turns.

    context_weight: the weight of everything that the model only reads (a little of it helps a model made from scratch).
    """
    ids: list[int] = []
    weights: list[float] = []
    learned = 0
    for segment in segments(turns):
        tokens = tokenizer(segment.text, add_special_tokens=False)["input_ids"]
        ids += tokens
        weights += [float(segment.learn) if segment.own else context_weight] * len(tokens)
        learned += len(tokens) if segment.learn else 0
    return Encoded(ids, weights, learned)
