"""A key-value cache for ragged batches: a row's tokens stand in slots 0, 1, 2, …, so slot and position are one.

A chunk is written for all rows at once, right-padded; what lies beyond a row's length is never looked at, because the
mask lets a query at position p see the slots up to p, and is overwritten by the row's next tokens.
"""

from typing import Any

import torch
from torch import Tensor

GROWTH = 128


class RaggedCache:
    """Keys and values of a batch, in transformers' cache interface. Tensors are (rows R, heads H, slots S, width D)."""

    def __init__(self, layers: int, size: int) -> None:
        self.size = size
        self.rows: Tensor | None = None
        self.keys: list[Tensor | None] = [None] * layers
        self.values: list[Tensor | None] = [None] * layers
        self.positions_RT = torch.zeros(0, 0, dtype=torch.long)
        self.slots = 0

    def write_at(self, positions_RT: Tensor, rows: Tensor | None = None) -> None:
        """Say where the next forward pass writes: the position of each token of the chunk, and of which rows (all)."""
        self.positions_RT, self.rows = positions_RT, rows
        self.slots = int(positions_RT.max()) + 1

    def update(self, key: Tensor, value: Tensor, layer_idx: int, **_: Any) -> tuple[Tensor, Tensor]:
        """Store a chunk (R, H, T, D) of one layer and return all slots in use."""
        return self._store(self.keys, layer_idx, key), self._store(self.values, layer_idx, value)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Slots in use; transformers asks, though positions and mask are always given."""
        return self.slots

    def keep(self, rows: Tensor) -> None:
        """Drop every row but `rows`, in that order; a row may be named more than once."""
        self.size = len(rows)
        for store in (self.keys, self.values):
            for layer, buffer in enumerate(store):
                if buffer is not None:
                    store[layer] = buffer.index_select(0, rows)

    def _store(self, store: list[Tensor | None], layer: int, chunk_RHTD: Tensor) -> Tensor:
        _, heads, _, width = chunk_RHTD.shape
        buffer = store[layer]
        if buffer is None or buffer.shape[2] < self.slots:
            grown = chunk_RHTD.new_zeros(self.size, heads, self.slots + GROWTH, width)
            if buffer is not None:
                grown[:, :, : buffer.shape[2]] = buffer
            store[layer] = buffer = grown
        row = torch.arange(self.size) if self.rows is None else self.rows
        buffer[row[:, None], :, self.positions_RT] = chunk_RHTD.transpose(1, 2)
        return buffer[:, :, : self.slots] if self.rows is None else buffer[self.rows, :, : self.slots]

    def repeat(self, source: Tensor, target: Tensor, slots: int) -> None:
        """Copy the first `slots` slots of rows `source` to rows `target`."""
        for store in (self.keys, self.values):
            for buffer in store:
                assert buffer is not None
                buffer[target, :, :slots] = buffer[source, :, :slots]

    def fork(self, rows: Tensor) -> "RaggedCache":
        """A copy that holds just `rows`."""
        copy = RaggedCache(len(self.keys), self.size)
        copy.keys, copy.values = list(self.keys), list(self.values)
        copy.keep(rows)
        return copy

    def absorb(self, other: "RaggedCache", rows: Tensor, size: int) -> None:
        """Take over the rows of `other`; its row i becomes row rows[i] of this cache, which has `size` rows."""
        for mine, theirs in ((self.keys, other.keys), (self.values, other.values)):
            for layer, source in enumerate(theirs):
                assert source is not None
                target = mine[layer]
                if target is None or target.shape[2] < source.shape[2]:
                    grown = source.new_zeros(size, *source.shape[1:])
                    if target is not None:
                        grown[:, :, : target.shape[2]] = target
                    mine[layer] = target = grown
                target[rows, :, : source.shape[2]] = source
