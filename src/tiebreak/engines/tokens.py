"""Text to tokens and back, the same for every engine: the bytes that a model sees do not depend on what runs it."""

from collections.abc import Sequence
from typing import Any

from tiebreak.chat import END, WHITESPACE
from tiebreak.engines.base import Reply, Sampling
from tiebreak.errors import EngineError


class Speech:
    """What engines share: a tokenizer, and how turns are drawn. Raises EngineError without a token for a turn's end."""

    def __init__(self, tokenizer: Any, sampling: Sampling) -> None:
        self.tokenizer, self.sampling = tokenizer, sampling
        self.end_id = tokenizer.convert_tokens_to_ids(END)
        if self.end_id is None or self.end_id == tokenizer.unk_token_id:
            raise EngineError(f"the tokenizer has no single token for {END}; add it to its special tokens")

    def encode(self, text: str) -> list[int]:
        """The tokens of a piece of rendered text, special tokens recognised, none added."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, special ones included."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def room(self, context: Sequence[int]) -> int:
        """How many tokens the next turn may have after `context`; 0 or less if the conversation is full."""
        return min(self.sampling.turn_tokens, self.sampling.max_length - len(context))

    def turn(self, ids: list[int]) -> Reply:
        """The turn that these sampled tokens are."""
        complete = bool(ids) and ids[-1] == self.end_id
        return Reply(self.decode(ids[:-1] if complete else ids).rstrip(WHITESPACE), ids, complete)
