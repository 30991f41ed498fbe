"""Guesses at what a model will say next: what followed the same few tokens before, in any conversation of the batch.

Agents copy: paths, lines of a file, the protocol. A guess is checked by the model's own draws, so it changes how many
forward passes a turn takes and not what is said (prompt lookup decoding, with sampling made exact by fixed uniforms).
"""

from collections.abc import Sequence

ORDERS = (5, 2)  # the longer one is asked first


class Lookup:
    """Where each run of tokens was last seen, over all conversations that were added."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], tuple[Sequence[int], int]] = {}

    def add(self, context: Sequence[int], new: int = 1) -> None:
        """Take in the last `new` tokens of a conversation."""
        for end in range(len(context) - new, len(context)):
            for order in ORDERS:
                if end >= order:
                    self.places[tuple(context[end - order : end])] = (context, end)

    def guess(self, context: Sequence[int], most: int) -> list[int]:
        """Up to `most` tokens that followed the end of `context` where it was last seen."""
        for order in ORDERS if most > 0 else ():
            found = self.places.get(tuple(context[-order:]))
            if found is not None:
                other, at = found
                return list(other[at : at + most])
        return []
