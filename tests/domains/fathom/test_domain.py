"""The domain as the workflow sees it: prompts, traces, outcomes, rewards, grades, and tables of them."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tiebreak import chat, tables
from tiebreak.audits.parity import first_difference
from tiebreak.domains.base import Domain
from tiebreak.domains.fathom.domain import FACTS, FathomDomain, TaskEpisode
from tiebreak.domains.fathom.episode import Settings
from tiebreak.domains.fathom.generator import generate
from tiebreak.domains.fathom.rescore import rescored_groups
from tiebreak.domains.fathom.rewards import PUBLISHED_TABLES, reward
from tiebreak.domains.fathom.tasks import Task, dump_tasks
from tiebreak.domains.fathom.templates import TEMPLATES
from tiebreak.domains.fathom.traces import answered, fenced, program
from tiebreak.prompts import drift

V3 = "v3_recursion"


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    """Tasks of every template."""
    found = {task.template: task for task in generate(9, 120, {1_500: 1.0})}
    assert len(found) == len(TEMPLATES)
    return list(found.values())


@pytest.fixture(scope="module")
def domain() -> FathomDomain:
    return FathomDomain(PUBLISHED_TABLES, excerpt_tokens=60)


def play(domain: FathomDomain, task: Task, *contents: str) -> TaskEpisode:
    """An episode of these turns."""
    episode = domain.episode(task, domain.prompt(task), tool_rounds=4)
    for content in contents:
        episode.act(content)
        domain.answer([episode])
    return episode


def test_it_is_a_domain(domain: FathomDomain) -> None:
    kept: Domain = domain
    assert (kept.name, list(kept.shapes)) == ("fathom", list(PUBLISHED_TABLES))


def test_every_template_has_a_trace_with_real_replies_that_answers(domain: FathomDomain, tasks: list[Task]) -> None:
    for task in tasks:
        turns = domain.trace(task, Random(1))
        assert turns[:2] == [{**message, "loss": False} for message in domain.prompt(task)]
        assert [turn["role"] for turn in turns[2:]] == ["assistant", "tool", "assistant"]
        assert [turn["loss"] for turn in turns[2:]] == [True, False, True]
        assert turns[-1]["content"] == answered(task.answer)
        again = play(domain, task, *(turn["content"] for turn in turns if turn["role"] == "assistant"))
        assert [{**message, "loss": turn["loss"]} for message, turn in zip(again.messages, turns, strict=True)] == turns
        assert domain.grades([again]) == [True]


def test_programs_find_the_gold_answer_on_their_own(domain: FathomDomain, tasks: list[Task]) -> None:
    episodes = [domain.episode(task, domain.prompt(task), tool_rounds=1) for task in tasks]
    for episode in episodes:
        episode.act(fenced(program(episode.case)))
    domain.answer(episodes)
    assert [episode.messages[-1]["content"] for episode in episodes] == [task.answer for task in tasks]
    for episode in episodes:
        episode.halt("final")


def test_some_traces_ask_and_some_err_first(domain: FathomDomain) -> None:
    cases = generate(10, 40, {900: 1.0})
    drawn = lambda task: Random(task.seed)  # noqa: E731
    found = domain.traces(cases, drawn, 0.5)
    assert found == domain.traces(cases, drawn, 0.5)
    asking = [turns for turns in found if "llm(" in turns[2]["content"]]
    erring = [turns for turns in found if not turns[2]["loss"]]
    assert asking and erring
    for turns in erring:
        assert "NameError" in turns[3]["content"]
        assert [turn["loss"] for turn in turns] == [False] * 4 + [True, False, True]


def test_a_trace_does_not_ask_where_a_decoy_would_be_told(domain: FathomDomain, tasks: list[Task]) -> None:
    """The decoy's town is `kind`, a word of the question, as good as the name in the fact."""
    facts = ["Ann was born in a kind reed town.", "Tom was born in a even lake town."]
    home = next(task for task in tasks if task.template == "home")
    told = {"key": "Tom", "question": "In what kind of town was Tom born?", "answer": "even lake town"}
    for order, asks in ((facts, False), (facts[::-1], True)):
        task = home.model_copy(update=told | {"document": " ".join(order)})
        traces = [domain.trace(task, Random(seed)) for seed in range(8)]
        assert any("llm(" in turns[2]["content"] for turns in traces) == asks


def test_single_turn_traces_answer_at_once(tasks: list[Task]) -> None:
    single = FathomDomain(PUBLISHED_TABLES, Settings(mode="single"))
    turns = single.trace(tasks[0], Random(1))
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant"]
    assert turns[-1] == {"role": "assistant", "content": answered(tasks[0].answer), "loss": True}


def test_outcomes_and_rewards(domain: FathomDomain, tasks: list[Task]) -> None:
    task = tasks[0]
    asked = fenced("print(llm('anything', ctx), llm('more', ctx))")
    right, wrong, silent = (
        play(domain, task, asked, answered(task.answer.upper())),
        play(domain, task, asked, answered("no")),
        play(domain, task, "I give up."),
    )
    for episode in (right, wrong, silent):
        episode.count(100, 40)
    found = domain.outcomes([right, wrong, silent])
    assert [(row["stop"], row["valid"], row["success"]) for row in found] == [
        ("final", True, True),
        ("final", True, False),
        ("final", False, False),
    ]
    assert [row["rewards"]["v1_gate"] for row in found] == [1.0, 0.05, 0.0]
    assert [row["rewards"][V3] for row in found] == pytest.approx([1.10 - 0.075, 0.25, 0.15])
    assert reward(domain.terms(right, V3)) == found[0]["rewards"][V3]
    assert found[0]["facts"]["calls"] == 2
    assert found[0]["facts"]["blocks"] == [{"ok": True, "cut": False, "ended": None}]
    assert domain.grades([right, wrong, silent]) == [True, False, False]


def test_an_error_has_no_reward_and_an_open_episode_no_outcome(domain: FathomDomain, tasks: list[Task]) -> None:
    episode = play(domain, tasks[0])
    with pytest.raises(ValueError, match="goes on"):
        domain.outcomes([episode])
    episode.halt("error")
    assert domain.outcomes([episode])[0]["rewards"] == {}


def test_budget_and_tokens_end_without_an_answer(domain: FathomDomain, tasks: list[Task]) -> None:
    episode = domain.episode(tasks[0], domain.prompt(tasks[0]), tool_rounds=0)
    episode.act(fenced("print(1)"))
    assert domain.outcomes([episode])[0]["stop"] == "budget"
    cut = play(domain, tasks[0])
    cut.halt("tokens")
    assert domain.outcomes([cut])[0]["rewards"]["v1_gate"] == 0.0


def rows(domain: FathomDomain, tasks: list[Task]) -> Iterator[dict[str, Any]]:
    """Rollout rows of a right and a wrong episode of each task."""
    for task in tasks:
        for sample, answer in enumerate((task.answer, "no")):
            episode = play(domain, task, fenced(program(task)), answered(answer))
            (outcome,) = domain.outcomes([episode])
            turns = [{**message, "tokens": None, "sampling_seed": None} for message in episode.messages]
            yield {
                "case_id": task.case_id, "family": task.family, "difficulty": task.difficulty,
                "template": task.template, "arm": V3, "training_seed": 0, "repetition": 0, "sample": sample,
                "root_seed": 1, "turns": turns, "graded": outcome["success"], "new_tokens": 3, "truncated": False,
                **outcome, "rewards": sorted(outcome["rewards"].items()),
            }  # fmt: skip


def test_stored_rollouts_are_scored_again_to_the_same_values(
    domain: FathomDomain, tasks: list[Task], tmp_path: Path
) -> None:
    made = list(rows(domain, tasks[:3]))
    tables.write_table(tmp_path / "rollouts.parquet", made, tables.rollouts(FACTS))
    groups = rescored_groups(tmp_path / "rollouts.parquet", PUBLISHED_TABLES[V3])
    stored = [dict(row["rewards"])[V3] for row in sorted(made, key=lambda row: (row["case_id"], row["sample"]))]
    assert [reward(terms) for group in groups for terms in group] == stored


def test_prompts_are_one_function_and_the_drift_is_seen(
    domain: FathomDomain, tasks: list[Task], tmp_path: Path
) -> None:
    dump_tasks(tmp_path / "cases.jsonl", tasks)
    loaded = domain.load_cases(tmp_path / "cases.jsonl")
    assert loaded == tasks
    for task in loaded:
        shown = chat.prompt(domain.prompt(task))
        assert shown == chat.prompt(play(domain, task).messages)
        assert first_difference(shown, chat.prompt(domain.prompt(task, drifted=True))) is not None
        ((_, messages),) = drift(domain, [(task, domain.prompt(task, "Be kind."))])
        assert messages == domain.prompt(task, "Be kind.", drifted=True)
        assert json.dumps(task.answer) not in json.dumps(shown[: shown.index("[Document excerpt]")])


def test_the_same_seed_gives_the_same_corpus(domain: FathomDomain) -> None:
    corpus, again = domain.corpus(5, 10), domain.corpus(5, 10)
    assert corpus.texts == again.texts
    assert sum(stage.share for stage in corpus.stages) == pytest.approx(1)
    assert all(any(text in other for other in corpus.texts) for text in corpus.strings[:8])
    for stage, same in zip(corpus.stages, again.stages, strict=True):
        assert list(islice(stage.exercises, 5)) == list(islice(same.exercises, 5))


def test_many_episodes_at_once(domain: FathomDomain) -> None:
    cases = generate(12, 30, {900: 1.0})
    episodes = [domain.episode(task, domain.prompt(task), tool_rounds=2) for task in cases]
    for episode in episodes:
        episode.act(fenced("mine = len(ctx)\nprint(mine)"))
    domain.answer(episodes)
    for episode in episodes:
        episode.act(fenced("print(mine, ctx[:20])"))
    domain.answer(episodes)
    said = [episode.messages[-1]["content"] for episode in episodes]
    assert said == [f"{len(task.document)} {task.document[:20]}" for task in cases]
    assert domain.counters()["asked"] >= 60
    for episode in episodes:
        episode.halt("final")


def test_a_real_model_plays_it_and_its_tokens_are_counted(
    domain: FathomDomain, tasks: list[Task], model_folder: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tiebreak.engines.base import Sampling
    from tiebreak.engines.hf import HfEngine
    from tiebreak.rollout import Attempt, play

    model, tokenizer = AutoModelForCausalLM.from_pretrained(model_folder), AutoTokenizer.from_pretrained(model_folder)
    attempts = [Attempt(task, domain.prompt(task), 0, lambda turn: turn) for task in tasks[:3]]
    played = play(HfEngine(model, tokenizer, Sampling(0.8, 12, 900)), domain, attempts, tool_rounds=2)
    for item, outcome in zip(played, domain.outcomes([item.episode for item in played]), strict=True):
        assert outcome["facts"]["prompt_tokens"] == len(tokenizer(chat.prompt(item.attempt.messages))["input_ids"])
        assert outcome["facts"]["completion_tokens"] == item.new_tokens > 0
