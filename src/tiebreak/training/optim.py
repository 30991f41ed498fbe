"""Optimizers by name. `muon` is Muon on the matrices and AdamW on the rest, for models made from scratch."""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch.optim import AdamW, Muon, Optimizer

Name = Literal["adamw", "muon"]


class Joined(Optimizer):
    """Several optimizers as one: they step together, and one scheduler moves the rates of all."""

    def __init__(self, parts: list[Optimizer]) -> None:
        self.parts = parts
        super().__init__([dict(group) for part in parts for group in part.param_groups], {})
        self.param_groups = [group for part in parts for group in part.param_groups]

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step of every part."""
        loss = closure() if closure else None
        for part in self.parts:
            part.step()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of every part."""
        for part in self.parts:
            part.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """The states of the parts, in order."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` gave."""
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.param_groups = [group for part in self.parts for group in part.param_groups]


def make_optimizer(model: torch.nn.Module, name: Name, learning_rate: float, matrix_rate: float = 0.02) -> Optimizer:
    """The optimizer `name` over the trainable weights of `model`.

    learning_rate: AdamW's. matrix_rate: Muon's, for two-dimensional weights other than embeddings.
    """
    named = [(key, weight) for key, weight in model.named_parameters() if weight.requires_grad]
    if name == "adamw":
        return AdamW([weight for _, weight in named], lr=learning_rate, weight_decay=0.0)
    matrices = [weight for key, weight in named if weight.ndim == 2 and "embed" not in key]
    others = [weight for key, weight in named if weight.ndim != 2 or "embed" in key]
    adamw = AdamW(others, lr=learning_rate, betas=(0.9, 0.98), weight_decay=0.0)
    return Joined([Muon(matrices, lr=matrix_rate, weight_decay=0.0), adamw])
