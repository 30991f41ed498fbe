"""What the Rust domain says of a transcript, with no environment between: the model's turns, handed over one by one."""

from collections.abc import Sequence
from typing import Any

from tiebreak.chat import WHITESPACE, Message, render
from tiebreak.domains.rust.blueprints import Blueprint
from tiebreak.domains.rust.domain import RustDomain


def judged(domain: RustDomain, arm: str, case: Blueprint, said: Sequence[str], *, cut: bool, rounds: int = 15) -> Any:
    """(stop, reward, metrics, messages) of a conversation in which the model said this; `cut`: not all of its last."""
    episode = domain.episode(case, domain.prompt(case), tool_rounds=rounds)
    for number, text in enumerate(said):
        if cut and number == len(said) - 1:
            episode.messages.append({"role": "assistant", "content": text.rstrip(WHITESPACE)})
            episode.halt("tokens")
        else:
            episode.act(text.rstrip(WHITESPACE))
            domain.answer([episode])
    if episode.stop is None:
        episode.halt("tokens")
    (outcome,), (graded,) = domain.outcomes([episode]), domain.grades([episode])
    terms = {f"term_{name}": value for name, value in domain.terms(episode, arm).items()}
    verdicts = {"valid": float(outcome["valid"]), "success": float(outcome["success"]), "graded": float(graded)}
    return outcome["stop"], outcome["rewards"][arm], verdicts | terms, episode.messages


def shown(messages: Sequence[dict[str, Any]]) -> str:
    """A library's messages as a model reads them."""
    return render([Message(role=one["role"], content=one.get("content") or "") for one in messages])
