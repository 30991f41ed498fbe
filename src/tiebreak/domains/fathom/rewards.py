"""The rewards of the fathom domain: three named tables, and one function that reads any of them.

Source of the tables: docs/contracts.md. A reward is the sum of its terms, the cap being one of them.
"""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from tiebreak.domains.fathom.answers import is_correct

DIGITS = 12  # sums of decimal weights are rounded here, so that a cap of 0.05 is 0.05


class RewardTable(BaseModel):
    """A reward shape: what is paid for the answer, its tags, its length and its `llm()` calls, in reward units."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    correctness: float = Field(0.75, ge=0, description="paid for the gold answer in its tags")
    token_budget: float = Field(0.20, ge=0, description="times max(0, 1 - alpha * max(0, completion / prompt - 1))")
    recursion: float = Field(0.05, ge=0, description="times the recursion efficiency")
    present: float = Field(0.0, ge=0, description="paid where the tags are there, whatever stands in them")
    wrong_cap: float = Field(0.05, ge=0, description="the most that a wrong answer in its tags is paid")
    missing_cap: float = Field(0.0, ge=0, description="the most that a text without the tags is paid; 0 is the gate")
    alpha: float = Field(0.2, ge=0, description="slope of the token budget")
    call_cost: float = Field(
        0.0, ge=0, description="recursion efficiency: max(0, 1 - this * calls) if correct; 0 makes it the constant 1"
    )


PUBLISHED_TABLES: Mapping[str, RewardTable] = {
    "v1_gate": RewardTable(),
    "v2_soft": RewardTable(present=0.10, wrong_cap=0.15, missing_cap=0.05),
    "v3_recursion": RewardTable(
        correctness=0.70,
        token_budget=0.15,
        recursion=0.15,
        present=0.10,
        wrong_cap=0.25,
        missing_cap=0.25,
        call_cost=0.25,
    ),
}

TERMS = ("correctness", "token_budget", "recursion", "present", "cap")


def token_budget(completion_tokens: int, prompt_tokens: int, alpha: float) -> float:
    """1 while the model writes no more tokens than its prompt has, then falling with slope alpha, at least 0.

    completion_tokens: the model's own, of all its turns; prompt_tokens: of the rendered prompt, at least 1.
    """
    if prompt_tokens < 1 or completion_tokens < 0:
        raise ValueError(f"{completion_tokens} tokens after a prompt of {prompt_tokens}: counts are expected")
    return max(0.0, 1.0 - alpha * max(0.0, completion_tokens / prompt_tokens - 1.0))


def efficiency(calls: int, correct: bool, table: RewardTable) -> float:
    """Recursion efficiency: constant 1 where calls cost nothing (a dead component), else 0 unless correct."""
    if calls < 0:
        raise ValueError(f"{calls} calls: a count is expected")
    if table.call_cost == 0:
        return 1.0
    return max(0.0, 1.0 - table.call_cost * calls) if correct else 0.0


def components(
    answer: str | None,
    gold: str,
    table: RewardTable,
    *,
    calls: int,
    prompt_tokens: int,
    completion_tokens: int,
) -> dict[str, float]:
    """What the table weighs, each in [0, 1]. answer: None where there were no tags.

    calls: executed ones in multi-turn episodes, `code.textual_calls` in single-turn ones.
    """
    correct = is_correct(answer, gold)
    return {
        "correctness": float(correct),
        "token_budget": token_budget(completion_tokens, prompt_tokens, table.alpha),
        "recursion": efficiency(calls, correct, table),
        "present": float(answer is not None),
    }


def terms(found: Mapping[str, float], table: RewardTable) -> dict[str, float]:
    """The reward of `components`, term by term; `reward` is their sum."""
    paid = {name: getattr(table, name) * value for name, value in found.items()}
    most = table.wrong_cap if found["present"] else table.missing_cap
    over = 0.0 if found["correctness"] else sum(paid.values()) - most
    return paid | {"cap": -over if over > 0 else 0.0}


def reward(paid: Mapping[str, float]) -> float:
    """The sum of `terms`."""
    return round(sum(paid.values()), DIGITS)
