"""The three tables: the published statements, the attacks, and bounds for every input."""

import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tiebreak.audits.ties import dead_terms
from tiebreak.domains.fathom.answers import extract
from tiebreak.domains.fathom.code import textual_calls
from tiebreak.domains.fathom.rescore import declared_terms, synthetic_group
from tiebreak.domains.fathom.rewards import (
    PUBLISHED_TABLES,
    TERMS,
    RewardTable,
    components,
    reward,
    terms,
    token_budget,
)

SHAPES = list(PUBLISHED_TABLES)
GOLD = "blue"


def pays(
    text: str, shape: str, *, gold: str = GOLD, calls: int | None = None, prompt: int = 100, new: int = 50
) -> float:
    """What a single-turn completion earns under a published shape."""
    table = PUBLISHED_TABLES[shape]
    count = textual_calls(text) if calls is None else calls
    found = components(extract(text), gold, table, calls=count, prompt_tokens=prompt, completion_tokens=new)
    return reward(terms(found, table))


RIGHT, WRONG, EMPTY, BARE = "<answer>Blue</answer>", "<answer>red</answer>", "<answer></answer>", "blue"


@pytest.mark.parametrize(
    ("shape", "right", "wrong", "empty", "bare"),
    [
        ("v1_gate", 1.00, 0.05, 0.05, 0.0),
        ("v2_soft", 1.10, 0.15, 0.15, 0.05),
        ("v3_recursion", 1.10, 0.25, 0.25, 0.15),
    ],
)
def test_the_tables(shape: str, right: float, wrong: float, empty: float, bare: float) -> None:
    assert [pays(text, shape) for text in (RIGHT, WRONG, EMPTY, BARE)] == [right, wrong, empty, bare]


def test_the_published_tables_are_the_published_tables() -> None:
    weights = {name: (t.correctness, t.token_budget, t.recursion) for name, t in PUBLISHED_TABLES.items()}
    assert weights == {
        "v1_gate": (0.75, 0.20, 0.05),
        "v2_soft": (0.75, 0.20, 0.05),
        "v3_recursion": (0.70, 0.15, 0.15),
    }
    assert [table.present for table in PUBLISHED_TABLES.values()] == [0.0, 0.10, 0.10]
    assert RewardTable() == PUBLISHED_TABLES["v1_gate"]


@pytest.mark.parametrize(
    ("new", "factor"), [(0, 1.0), (100, 1.0), (150, 0.9), (200, 0.8), (350, 0.5), (600, 0.0), (9999, 0.0)]
)
def test_the_token_budget_is_a_capped_line(new: int, factor: float) -> None:
    assert token_budget(new, 100, 0.2) == pytest.approx(factor)
    assert pays(RIGHT, "v1_gate", new=new) == pytest.approx(0.80 + 0.20 * factor)
    assert pays(WRONG, "v3_recursion", new=new) == pytest.approx(0.10 + 0.15 * factor)
    assert pays(WRONG, "v2_soft", new=new) == pytest.approx(0.15)


def test_zero_calls_beat_one_beats_three_when_correct() -> None:
    none, one, three = (pays(RIGHT, "v3_recursion", calls=calls) for calls in (0, 1, 3))
    assert none > one > three
    assert (none, one, three) == pytest.approx((1.10, 1.0625, 0.9875))
    assert pays(RIGHT, "v3_recursion", calls=4) == pays(RIGHT, "v3_recursion", calls=400) == pytest.approx(0.95)


@pytest.mark.parametrize("shape", ["v1_gate", "v2_soft"])
def test_efficiency_is_a_constant_where_calls_cost_nothing(shape: str) -> None:
    assert pays(RIGHT, shape, calls=0) == pays(RIGHT, shape, calls=9)


def test_efficiency_is_zero_on_wrong_answers() -> None:
    found = components("red", GOLD, PUBLISHED_TABLES["v3_recursion"], calls=0, prompt_tokens=9, completion_tokens=9)
    assert found["recursion"] == 0
    assert pays(WRONG, "v3_recursion", calls=0) == pays(WRONG, "v3_recursion", calls=7) <= 0.25


@given(st.integers(0, 10**6), st.integers(0, 50))
def test_format_only_is_capped_under_v3_and_text_without_tags_too(new: int, calls: int) -> None:
    assert 0.05 <= pays(EMPTY, "v3_recursion", new=new, calls=calls) <= 0.25
    assert pays(BARE, "v3_recursion", new=new, calls=calls) <= 0.20


@pytest.mark.parametrize("shape", SHAPES)
def test_the_synthetic_group_of_eight(shape: str) -> None:
    group = synthetic_group(PUBLISHED_TABLES[shape])
    rewards = [reward(row) for row in group]
    assert len(rewards) == 8
    assert statistics.stdev(rewards) > 0.10
    right, rest = rewards[:4], rewards[4:]
    assert min(right) > max(rest)
    assert max(rest) <= {"v1_gate": 0.05, "v2_soft": 0.15, "v3_recursion": 0.25}[shape]
    assert (rewards[0] > rewards[1] > rewards[2]) is (shape == "v3_recursion")


def test_the_dead_component_is_named() -> None:
    dead = {}
    for name, table in PUBLISHED_TABLES.items():
        still = dead_terms([synthetic_group(table)])
        dead[name] = [term for term in declared_terms(table) if term in still]
    assert dead == {"v1_gate": ["recursion"], "v2_soft": ["recursion"], "v3_recursion": []}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_all_malformed_group_ties_under_every_table(shape: str) -> None:
    assert len({pays(text, shape) for text in ("blue", "", "The answer is blue", "<answer>blue")}) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_attack_answers_that_say_nothing(shape: str) -> None:
    for text in (EMPTY, "<answer> \n</answer>", "Thinking.\n<answer></answer>"):
        assert pays(text, shape) == pays(WRONG, shape) < pays(RIGHT, shape)
        assert pays(text, shape, gold="") == pays(WRONG, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_attack_naming_every_answer(shape: str) -> None:
    assert pays("<answer>blue</answer><answer>red</answer>", shape) == pays(WRONG, shape)
    assert pays("<answer>blue or red</answer>", shape) == pays(WRONG, shape)


def test_attack_calls_that_are_only_said() -> None:
    said = "I call llm('a').\n```python\n# llm('b')\ns = 'llm(1)'\n```\n"
    assert pays(said + RIGHT, "v3_recursion") == pays(RIGHT, "v3_recursion")


def test_attack_recursion_spam_pays_less() -> None:
    spam = "```python\n" + "llm('a', ctx)\n" * 50 + "```\n"
    assert pays(spam + RIGHT, "v3_recursion") == pytest.approx(0.95)
    assert pays(spam + WRONG, "v3_recursion") == pays(WRONG, "v3_recursion")


def test_attack_no_calls_on_a_task_that_needs_them_earns_no_more_than_format() -> None:
    assert pays(WRONG, "v3_recursion", calls=0) <= 0.25 < pays(RIGHT, "v3_recursion", calls=4)


counts: dict[str, Any] = {
    "calls": st.integers(0, 30),
    "prompt_tokens": st.integers(1, 10**6),
    "completion_tokens": st.integers(0, 10**7),
}
answers = st.one_of(st.none(), st.text(), st.sampled_from([GOLD, " BLUE ", "red", ""]))
unit = st.floats(0, 1)
own = st.builds(
    RewardTable,
    **dict.fromkeys(("correctness", "token_budget", "recursion", "present", "wrong_cap", "missing_cap"), unit),
    alpha=st.floats(0, 3),
    call_cost=st.floats(0, 3),
)


@given(st.sampled_from(SHAPES), answers, st.fixed_dictionaries(counts))
def test_bounds(shape: str, answer: str | None, given_counts: dict[str, int]) -> None:
    table = PUBLISHED_TABLES[shape]
    found = components(answer, GOLD, table, **given_counts)
    paid = terms(found, table)
    value = reward(paid)
    assert list(paid) == list(TERMS)
    assert all(0 <= part <= 1 for part in found.values())
    assert 0 <= value <= {"v1_gate": 1.00, "v2_soft": 1.10, "v3_recursion": 1.10}[shape]
    if not found["correctness"]:
        assert value <= (table.missing_cap if answer is None else table.wrong_cap)


@given(own, answers, st.fixed_dictionaries(counts))
def test_any_table_keeps_its_caps_and_likes_no_waste(
    table: RewardTable, answer: str | None, given_counts: dict[str, int]
) -> None:
    def value(counted: dict[str, int]) -> float:
        return reward(terms(components(answer, GOLD, table, **counted), table))

    if answer is None:
        assert value(given_counts) <= table.missing_cap + 1e-9
    for wasted in ("calls", "completion_tokens"):
        assert value(given_counts | {wasted: given_counts[wasted] + 1}) <= value(given_counts) + 1e-9


@pytest.mark.parametrize("counted", [(0, 0, 5), (-1, 5, 5), (0, 5, -1)])
def test_impossible_counts_are_refused(counted: tuple[int, int, int]) -> None:
    calls, prompt, new = counted
    with pytest.raises(ValueError, match="expected"):
        components("a", "a", PUBLISHED_TABLES["v3_recursion"], calls=calls, prompt_tokens=prompt, completion_tokens=new)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError):
        RewardTable.model_validate({"bonus": 1})
