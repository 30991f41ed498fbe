"""Rollouts with real verdicts, played again: what is stored comes out, and whatever is forged does not."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tiebreak.domains.rust.domain import RustDomain
from tiebreak.domains.rust.rewards import PUBLISHED_TABLES
from tiebreak.domains.rust.verdicts import Judge
from tiebreak.engines.base import Reply
from tiebreak.publish.context import Context
from tiebreak.publish.regrade import Told, check_grades, first_difference, pick, ruled_out
from tiebreak.sampling import Plan, play_block
from tiebreak.seeds import stream

SAMPLES = 2


class Reciter:
    """An engine that says given turns, one list a conversation; one with none left is cut by a limit."""

    def __init__(self, said: Sequence[list[str]]) -> None:
        self.left = [list(turns) for turns in said]

    def session(self, size: int) -> "Reciter":
        self.context: list[list[int]] = [[] for _ in range(size)]
        return self

    def reply(self, rows: Sequence[int], texts: Sequence[str], seeds: Sequence[int]) -> list[Reply]:
        said = [self.left[row].pop(0) if self.left[row] else None for row in rows]
        return [Reply("cut", [1], False) if text is None else Reply(text, [1, 2], True) for text in said]

    def describe(self) -> dict[str, object]:
        return {"engine": "reciter"}


@pytest.fixture(scope="module")
def played(cases: list[Any]) -> tuple[Context, list[Told]]:
    """Two rollouts of each case: its demonstration, and half of it; and what is needed to play them again."""
    domain = RustDomain(Judge(None, diagnostics="short"), PUBLISHED_TABLES)
    shown = domain.traces(cases, lambda case: stream(1, case.case_id), 0.5)
    whole = [[turn["content"] for turn in turns if turn["role"] == "assistant"] for turns in shown]
    said = [part for turns in whole for part in (turns, turns[: len(turns) // 2])]
    plan = Plan(1, ("eval", 0), "dense", 0, 0, SAMPLES, 8, 20)
    block = [(case, domain.prompt(case)) for case in cases]
    rows = [item["rollout"] for item in play_block(Reciter(said), domain, block, plan, 0)]
    context = cast(Context, SimpleNamespace(domain=domain, cases={case.case_id: case for case in cases}))
    return context, [told(row) for row in rows]


def told(row: dict[str, Any]) -> Told:
    """A rollout as it is read from a table."""
    outcome = {name: row[name] for name in ("valid", "success", "graded", "facts")}
    place = {"case": row["case_id"], "sample": row["sample"]}
    return Told("f", place, row["case_id"], row["turns"], 8, row["stop"], outcome, row["rewards"], {})


def test_what_is_stored_comes_out_again(played: tuple[Context, list[Told]]) -> None:
    context, stored = played
    assert first_difference(context, stored) is None
    assert {item.stop for item in stored} >= {"final", "tokens"}
    assert any(item.outcome["graded"] for item in stored) and not all(item.outcome["graded"] for item in stored)
    assert any(turn["role"] == "tool" for item in stored for turn in item.turns)


def forge_turn(item: Told, role: str, old: str, new: str) -> Told:
    place = next(n for n, turn in enumerate(item.turns) if turn["role"] == role and old in turn["content"])
    turns = [dict(turn) for turn in item.turns]
    turns[place]["content"] = turns[place]["content"].replace(old, new, 1)
    return replace(item, turns=turns)


def best(stored: Sequence[Told]) -> int:
    """The place of a rollout that is graded and has a tool's reply."""
    return next(n for n, item in enumerate(stored) if item.outcome["graded"] and len(item.turns) > 4)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("graded", lambda item: replace(item, outcome=dict(item.outcome) | {"graded": False})),
        ("valid", lambda item: replace(item, outcome=dict(item.outcome) | {"valid": False})),
        ("stop", lambda item: replace(item, stop="budget")),
        ("rewards.dense", lambda item: replace(item, rewards=dict(item.rewards) | {"dense": 3.5})),
        (
            "facts",
            lambda item: replace(
                item, outcome=dict(item.outcome) | {"facts": dict(item.outcome["facts"]) | {"phase": 1}}
            ),
        ),
        ("content", lambda item: forge_turn(item, "tool", "status: success", "status: failed")),
        ("content", lambda item: forge_turn(item, "assistant", '"id":"c1"', '"id":"c9"')),
        ("stop", lambda item: replace(item, turns=item.turns[:-1])),
    ],
)
def test_a_forged_field_is_named(played: tuple[Context, list[Told]], field: str, change: Any) -> None:
    context, stored = played
    place = best(stored)
    forged = [*stored[:place], change(stored[place]), *stored[place + 1 :]]
    found = first_difference(context, forged)
    assert found is not None and found.field.endswith(field) and found.place == stored[place].place


def as_error(item: Told, turns: int) -> Told:
    """The first turns of a rollout, stored as one that ended in an infrastructure error."""
    outcome = dict(item.outcome) | {"graded": None}
    return replace(item, stop="error", turns=item.turns[:turns], outcome=outcome, rewards={})


def test_a_failure_that_is_stored_as_an_error_is_named(played: tuple[Context, list[Told]]) -> None:
    context, stored = played
    item = stored[best(stored)]
    found = first_difference(context, [as_error(item, len(item.turns))])
    assert found is not None and (found.field, found.found, found.expected) == ("stop", "error", "final")


def test_an_error_on_the_way_comes_out_as_far_as_it_goes(played: tuple[Context, list[Told]]) -> None:
    context, stored = played
    item = stored[best(stored)]
    last = max(n for n, turn in enumerate(item.turns) if turn["role"] == "tool")
    assert first_difference(context, [as_error(item, last + 1), as_error(item, last)]) is None
    forged = forge_turn(as_error(item, last + 1), "tool", "status: ", "status: x")
    found = first_difference(context, [forged])
    assert found is not None and found.field.endswith("content")


def test_swapped_answers_are_named(played: tuple[Context, list[Told]]) -> None:
    context, stored = played
    place = best(stored)
    other = next(n for n, item in enumerate(stored) if item.case_id != stored[place].case_id)
    swapped = replace(stored[place], case_id=stored[other].case_id)
    assert first_difference(context, [swapped]) is not None


def test_a_sample_is_the_seed_s_and_no_word_of_the_release_moves_it() -> None:
    assert pick(7, 72_000, 200) == pick(7, 72_000, 200) != pick(8, 72_000, 200)
    assert len(pick(7, 300, 200)) == 200 and max(pick(7, 300, 200)) < 300


def test_each_verification_draws_its_own_seed_and_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.publish.regrade.number_of", lambda context: 1000)
    monkeypatch.setattr("tiebreak.publish.regrade.stored", lambda context: iter(()))
    context = cast(Context, None)
    one, other = (next(check_grades(context, 200)).detail for _ in range(2))
    assert one != other and "drawn with seed " in one
    assert "drawn with seed 5;" in next(check_grades(context, 200, 5)).detail
    assert [verdict.subject for verdict in check_grades(context, None)] == ["rollouts played again"]


def test_what_a_clean_sample_rules_out_is_told() -> None:
    assert "fewer than 1.49% of all differ, at 95% confidence" in ruled_out(200)  # 1 - 0.05^(1/200) = 0.01487
    assert "fewer than 95.00%" in ruled_out(1) and "rules nothing out" in ruled_out(0)
