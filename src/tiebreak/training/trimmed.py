"""GRPOTrainer that computes log-probabilities without padding: multi-turn rollouts differ in length by a factor of ten.

TRL pads a whole step to its longest rollout and shuffles it, so most of an update would be spent on padding. Here rows
of like length are passed through the model together, each bunch cut to its own width; the values are the same.
"""

from typing import Any

import torch
from torch import Tensor
from trl import GRPOTrainer

BUNCH = 8


class TrimmedTrainer(GRPOTrainer):
    """See the module."""

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Tensor,
        attention_mask: Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        compute_entropy: bool = False,
        **options: Any,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        widths_R = attention_mask.sum(1)
        parts, rows = [], []
        for bunch in torch.argsort(widths_R, descending=True, stable=True).split(BUNCH):
            mask = attention_mask[bunch]
            used = mask.any(0).nonzero()[:, 0]
            first, last = int(used[0]), int(used[-1]) + 1
            kept = logits_to_keep - (input_ids.shape[1] - last)
            logps, entropies, _ = super()._get_per_token_logps_and_entropies(
                model,
                input_ids[bunch, first:last],
                mask[:, first:last],
                kept,
                compute_entropy=compute_entropy,
                **options,
            )
            parts.append((_widened(logps, logits_to_keep), _widened(entropies, logits_to_keep)))
            rows.append(bunch)
        back = torch.argsort(torch.cat(rows))
        logps = torch.cat([logp for logp, _ in parts])[back]
        entropies = torch.cat([entropy for _, entropy in parts])[back] if compute_entropy else None
        return logps, entropies, None


def _widened(values_RT: Tensor | None, width: int) -> Any:
    """The values with zeros where padding was cut off on the right; None stays."""
    return None if values_RT is None else torch.nn.functional.pad(values_RT, (0, width - values_RT.shape[1]))
