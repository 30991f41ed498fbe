"""Generated tasks: derivable, unique, in their shares, the same bytes for the same seed."""

import json
import statistics
from collections import Counter
from pathlib import Path

import pytest
from domains.fathom.oracle import solve
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.domains.fathom.documents import document
from tiebreak.domains.fathom.generator import KINDS, PUBLISHED_LENGTHS, generate, spread
from tiebreak.domains.fathom.tasks import Task, dump_tasks, load_tasks, problems
from tiebreak.domains.fathom.templates import TEMPLATES
from tiebreak.errors import BlueprintError, ConfigError

SHORT = {900: 0.5, 2_000: 0.5}


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return generate(3, 300, SHORT)


@given(st.integers(0, 2**63 - 1), st.integers(1_000, 6_000))
@settings(max_examples=60)
def test_the_document_gives_the_gold_answer_and_no_other(seed: int, length: int) -> None:
    for task in generate(seed, 10, {length: 1.0}):
        assert solve(task.question, task.document) == task.answer
        assert problems(task) == []
        assert task.answer.lower() not in task.question.lower()
        assert length - 80 <= len(task.document) <= length


def test_every_template_is_drawn_and_solved(tasks: list[Task]) -> None:
    assert {task.template for task in tasks} == {template.name for template in TEMPLATES}
    assert [solve(task.question, task.document) for task in tasks] == [task.answer for task in tasks]
    assert len({task.case_id for task in tasks}) == len(tasks)


def test_decoys_of_the_same_form_stand_beside_the_needle(tasks: list[Task]) -> None:
    """Else the form alone would give the needle away."""
    for task in tasks:
        if task.template == "code":
            assert task.document.count("The access code of ") == 4


def test_kinds_come_in_their_shares(tasks: list[Task]) -> None:
    assert Counter(task.family for task in tasks) == {name: round(share * 300) for name, share in KINDS.items()}


def test_the_published_mixture_of_lengths() -> None:
    lengths = spread(PUBLISHED_LENGTHS, 1000)
    assert (min(lengths), max(lengths)) == (4_000, 200_000)
    assert statistics.median(lengths) == 16_000
    assert statistics.quantiles(lengths, n=10)[-1] == 200_000


@given(st.dictionaries(st.integers(), st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 500))
def test_shares_are_kept_to_one(weights: dict[int, int], count: int) -> None:
    shares = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    found = Counter(spread(shares, count))
    assert sum(found.values()) == count
    assert all(abs(found[name] - share * count) < 1 for name, share in shares.items())


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        dump_tasks(tmp_path / name, generate(seed, 20, SHORT))
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again != other
    assert load_tasks(tmp_path / "a") == generate(5, 20, SHORT)


@pytest.mark.slow
def test_the_longest_contexts_are_solved_too() -> None:
    for task in generate(1, 10, {200_000: 1.0}):
        assert solve(task.question, task.document) == task.answer
        assert 199_900 <= len(task.document) <= 200_000


@given(st.lists(st.text("ab", min_size=1, max_size=9).map("{}.".format), max_size=9), st.randoms(), st.integers(0, 900))
def test_documents_hold_their_facts_in_order(facts: list[str], rng: object, length: int) -> None:
    try:
        text = document(rng, facts, length)  # type: ignore[arg-type]
    except ConfigError:
        assert sum(map(len, facts)) + 2 * len(facts) > length
        return
    assert length - 80 <= len(text) <= length or not text
    place = 0
    for fact in facts:
        place = text.index(fact, place) + len(fact)


def test_a_context_that_is_too_short_is_named() -> None:
    with pytest.raises(ConfigError, match="a context of 50 characters cannot hold"):
        generate(1, 4, {50: 1.0})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"answer": "the"}, "the answer stands"),
        ({"document": "Nothing."}, "0 sentences answer the question"),
    ],
)
def test_a_bad_task_is_told(change: dict[str, str], complaint: str, tasks: list[Task]) -> None:
    task = next(task for task in tasks if task.family == "niah")
    assert any(complaint in problem for problem in problems(task.model_copy(update=change)))
    twice = task.model_copy(update={"document": task.document + " " + task.document})
    assert problems(twice)[0] == "2 sentences answer the question, expected 1"


def test_a_bad_line_is_named(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "cases.jsonl"
    dump_tasks(path, tasks[:2])
    good = path.read_text().splitlines()
    path.write_text(good[0] + "\n" + json.dumps(json.loads(good[1]) | {"answer": 3}) + "\n")
    with pytest.raises(BlueprintError, match=r"cases\.jsonl: line 2: answer: "):
        load_tasks(path)
    path.write_text("{\n")
    with pytest.raises(BlueprintError, match=r"cases\.jsonl: line 1: the line: "):
        load_tasks(path)
