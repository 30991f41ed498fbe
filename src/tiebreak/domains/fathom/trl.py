"""The reward functions as TRL calls them: `fn(prompts, completions, **columns)`, one float for each completion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tiebreak.domains.fathom.answers import extract
from tiebreak.domains.fathom.code import textual_calls
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES, RewardTable, components, reward, terms
from tiebreak.errors import DataError

CHARACTERS_PER_TOKEN = 4
Conversation = str | Sequence[Mapping[str, Any]]


def text_of(conversation: Conversation, role: str | None = None) -> str:
    """The text of a prompt or completion, of a string or of a list of messages (those of `role` alone)."""
    if isinstance(conversation, str):
        return conversation
    return "\n".join(str(item.get("content") or "") for item in conversation if role in (None, item.get("role")))


def _estimate(text: str) -> int:
    return max(1, -(-len(text) // CHARACTERS_PER_TOKEN))


def paid_terms(
    table: RewardTable, prompts: Sequence[Conversation], completions: Sequence[Conversation], columns: Mapping[str, Any]
) -> list[dict[str, float]]:
    """The terms of each completion.

    columns: `gold_answer`, one a completion; where there, `prompt_tokens`, `completion_tokens` (else the lengths of
    TRL's `completion_ids`, else a fourth of the characters, rounded up) and `calls` (else the textual count). Only the
    assistant's own messages are read: a tool that prints an answer has not answered. DataError for a missing column.
    """
    count = len(completions)
    written = [text_of(completion, "assistant") for completion in completions]
    lengths = [len(ids) for ids in columns.get("completion_ids") or ()]
    asked = (
        ("gold_answer", columns.get("gold_answer")),
        ("prompt_tokens", columns.get("prompt_tokens") or [_estimate(text_of(prompt)) for prompt in prompts]),
        ("completion_tokens", columns.get("completion_tokens") or lengths or [_estimate(text) for text in written]),
        ("calls", columns.get("calls") or [textual_calls(text) for text in written]),
    )
    for name, values in asked:
        if values is None or len(values) != count:
            there = "no such column" if values is None else f"{len(values)} values"
            raise DataError(f"{name}: {there} for {count} completions; add it to the data set, one value a row")
    paid = []
    rows: Iterable[tuple[Any, ...]] = zip(written, *(values for _, values in asked), strict=True)
    for text, gold, prompt, new, calls in rows:
        found = components(extract(text), gold, table, calls=calls, prompt_tokens=prompt, completion_tokens=new)
        paid.append(terms(found, table))
    return paid


def trl_reward(name: str, table: RewardTable) -> Callable[..., list[float]]:
    """A reward function for TRL, called `name` in its logs; the mean of each term goes to `log_metric` if given."""

    def paid(prompts: Sequence[Conversation], completions: Sequence[Conversation], **columns: Any) -> list[float]:
        found = paid_terms(table, prompts, completions, columns)
        log = columns.get("log_metric")
        if log is not None and found:
            for term in found[0]:
                log(f"{name}/{term}", sum(row[term] for row in found) / len(found))
        return [reward(row) for row in found]

    paid.__name__ = paid.__qualname__ = name
    paid.__doc__ = f"Rewards of completions under {name}; see `paid_terms` for the columns."
    return paid


v1_gate = trl_reward("v1_gate", PUBLISHED_TABLES["v1_gate"])
v2_soft = trl_reward("v2_soft", PUBLISHED_TABLES["v2_soft"])
v3_recursion = trl_reward("v3_recursion", PUBLISHED_TABLES["v3_recursion"])
