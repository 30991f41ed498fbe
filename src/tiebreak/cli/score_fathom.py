"""What `tiebreak score` knows of the fathom domain."""

from collections.abc import Mapping
from typing import Any

from tiebreak.cli.lines import expect, wrong
from tiebreak.domains.fathom.answers import extract, normal
from tiebreak.domains.fathom.code import textual_calls
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES as PUBLISHED_TABLES
from tiebreak.domains.fathom.rewards import RewardTable as RewardTable
from tiebreak.domains.fathom.rewards import components, reward, terms

WHAT, KEYS = "completions", "id, completion, gold_answer, prompt_tokens and completion_tokens"


def check(item: Mapping[str, Any], place: str) -> None:
    """Raise DataError for the first thing that is wrong with a line."""
    least = {"prompt_tokens": 1, "completion_tokens": 0} | ({"calls": 0} if "calls" in item else {})
    words = {key: f"a whole number, at least {number}" for key, number in least.items()}
    texts = ("id", "completion", "gold_answer")
    expect(item, place, dict.fromkeys(texts, (str, "a string")) | {key: (int, words[key]) for key in least})
    for key, number in least.items():
        if item[key] < number:
            raise wrong(item, key, words[key], place)
    if not normal(item["gold_answer"]):
        raise wrong(item, "gold_answer", "a string that is not blank", place)


def score(item: Mapping[str, Any], tables: Mapping[str, RewardTable]) -> dict[str, Any]:
    """One completion under every table; `components` are what its `terms` weigh, valid says that the tags are there."""
    answer, text = extract(item["completion"]), item["completion"]
    counts = {"prompt_tokens": item["prompt_tokens"], "completion_tokens": item["completion_tokens"]}
    calls = item.get("calls", textual_calls(text))
    found = {
        name: components(answer, item["gold_answer"], table, calls=calls, **counts) for name, table in tables.items()
    }
    paid = {name: terms(parts, tables[name]) for name, parts in found.items()}
    rewards = {name: reward(parts) for name, parts in paid.items()}
    valid = answer is not None
    return {"id": item["id"], "reward": rewards, "terms": paid, "valid": valid, "calls": calls, "components": found}
