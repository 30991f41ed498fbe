"""What answers `llm(prompt, chunk)`, and the budget that all calls of an episode share, at whatever depth."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")

MOST_CALLS = 16
MOST_DEPTH = 2


@dataclass
class Budget:
    """Calls of an episode, counted where the model's code cannot reach. deepest: of the calls that were made."""

    most_calls: int = MOST_CALLS
    most_depth: int = MOST_DEPTH
    calls: int = 0
    refused: int = 0
    deepest: int = 0

    def take(self, depth: int) -> str | None:
        """Pay for a call at `depth` (1: by the episode itself), or say why it is refused."""
        why = None
        if depth > self.most_depth:
            why = f"llm: calls go {self.most_depth} deep at most"
        elif self.calls >= self.most_calls:
            why = f"llm: the budget of {self.most_calls} calls is spent"
        if why is not None:
            self.refused += 1
            return why
        self.calls += 1
        self.deepest = max(self.deepest, depth)
        return None


Responder = Callable[[str, str, int, Budget], str]
"""(prompt, chunk, depth, budget) -> text. It is called once the call is paid for."""


def stub(prompt: str, chunk: str, depth: int, budget: Budget) -> str:
    """The sentence of the chunk that shares the most words with the prompt (the first of equals), "" if none does.

    It stands in for a language model: deterministic, quick, and right where the words of the question are the text's.
    """
    wanted = set(_WORD.findall(prompt.lower()))
    sentences = [part for part in _SENTENCE.split(chunk) if part.strip()]
    shared = [len(wanted & set(_WORD.findall(part.lower()))) for part in sentences]
    best = max(shared, default=0)
    return sentences[shared.index(best)].strip() if best else ""


def answer(respond: Responder, budget: Budget, depth: int, prompt: str, chunk: str) -> dict[str, str]:
    """The reply to one call, as the REPL takes it."""
    refused = budget.take(depth)
    return {"refused": refused} if refused is not None else {"text": respond(prompt, chunk, depth, budget)}
