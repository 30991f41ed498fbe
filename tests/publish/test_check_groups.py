"""The groups of a training are those that pool, seed and settings give; others are named."""

import copy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tiebreak import gates, tables
from tiebreak.chat import Message, prompt
from tiebreak.paths import Paths
from tiebreak.publish.check_groups import unbound
from tiebreak.publish.context import Context
from tiebreak.sections.rlvr import Rlvr
from tiebreak.training.pool import batches
from tiebreak.training.run import Run

RUN, NAMES = "dense-seed1", ("a", "b", "c")
RLVR = {"steps": 4, "prompts": 2, "group": 2, "tool_rounds": 1, "turn_tokens": 8, "learning_rate": 1e-3}
LABELS = {"family": "f", "template": "t"}
Groups = list[dict[str, Any]]


def asked(name: str) -> list[Message]:
    return [{"role": "user", "content": f"Mend {name}."}]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """A pool of three cases, and a trial of two steps that went on."""
    cases = {name: SimpleNamespace(case_id=name, family="f", template="t") for name in NAMES}
    rows = [{"case_id": name, **LABELS, "difficulty": "easy", "prompt": prompt(asked(name))} for name in NAMES]
    paths, rlvr = Paths("s", tmp_path), Rlvr.model_validate(RLVR | {"trial": {"steps": 2}})
    tables.write_table(paths.prompts("pool"), rows, tables.PROMPTS)
    decide(paths, trial=True, ties=True)
    study = SimpleNamespace(rlvr=rlvr, root_seed=5)
    parts = {"arms": {"dense": {"faults": []}}}
    return cast(Context, SimpleNamespace(paths=paths, study=study, cases=cases, parts=parts))


def decide(paths: Paths, *, trial: bool, ties: bool) -> None:
    for path, go in ((paths.decision(RUN), trial), (paths.ties("dense"), ties)):
        gates.write(path, gates.Decision("trial", go, "as measured", {}, None, RUN))


def right(steps: int) -> Groups:
    """The groups that the seed gives."""
    order = batches(list(NAMES), Run(5, "dense", 1), Rlvr.model_validate(RLVR))
    return [
        {"step": place // 2 + 1, "group": place % 2, "case_id": name, "turns": [played(name), played(name)], **LABELS}
        for place, name in enumerate(order[: steps * 2])
    ]


def played(name: str) -> list[Message]:
    return [*asked(name), {"role": "assistant", "content": "FINAL"}]


def test_all_steps_of_a_training_those_of_a_trial_or_none(context: Context) -> None:
    assert list(unbound(context, RUN, right(4))) == []
    decide(context.paths, trial=False, ties=True)
    assert list(unbound(context, RUN, right(2))) == []
    assert "has step 3" in next(unbound(context, RUN, right(4)))
    decide(context.paths, trial=False, ties=False)
    assert list(unbound(context, RUN, [])) == []


def swap(groups: Groups) -> None:
    for name in ("case_id", "turns"):
        groups[0][name], groups[1][name] = groups[1][name], groups[0][name]


def other_prompt(groups: Groups) -> None:
    groups[3]["turns"][1][0]["content"] += " Say FINAL at once."


def fewer_samples(groups: Groups) -> None:
    groups[3]["turns"].pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (swap, "dense-seed1: has step 1, group 0 of case"),
        (lambda groups: groups.pop(), "dense-seed1: has no group where"),
        (lambda groups: groups.append(groups[-1]), "give no group"),
        (lambda groups: groups[2].update(family="g"), "step 2, group 0: family is g, of case"),
        (fewer_samples, "with 1 samples where"),
        (other_prompt, "step 2, group 1, sample 1: its prompt is not the one of case"),
        (lambda groups: groups[0].update(case_id="z"), "of case z with 2 samples where"),
    ],
)
def test_other_groups_are_named(context: Context, change: Callable[[Groups], object], said: str) -> None:
    groups = copy.deepcopy(right(4))
    change(groups)
    assert said in next(unbound(context, RUN, groups))


def test_of_an_order_that_another_trainer_drew_only_cases_and_prompts_are_known(context: Context) -> None:
    context.study.rlvr = context.study.rlvr.model_copy(update={"trainer": "prime-rl"})
    groups = list(reversed(right(4)))
    assert list(unbound(context, RUN, groups)) == []
    groups[0]["case_id"] = "z"
    assert "case z is not of the pool" in next(unbound(context, RUN, groups))
