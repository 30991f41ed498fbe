"""Training traces: a case's steps played through the very episode that the model will meet, every reply real.

*Detours* show errors and how to come back from them. The action that is deliberately wrong has `loss=False`, whatever
follows it has `loss=True`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tiebreak.domains.base import TraceTurn
from tiebreak.domains.rust import mistakes
from tiebreak.domains.rust.blueprints import CARGO_TOOLS, Blueprint, Step
from tiebreak.domains.rust.episode import Judge, RustEpisode, answer, prompt
from tiebreak.domains.rust.protocol import OUTPUT_LIMIT, READ_LIMIT, format_call
from tiebreak.domains.rust.toolbox import project_root
from tiebreak.errors import BlueprintError

MOST_DETOURS = 2
MOST_CALLS = 8
SECOND_LOOK = 0.12


@dataclass(frozen=True)
class Action:
    """A call to make: the step, whether it must succeed, and whether the model is to learn to make it."""

    step: Step
    succeeds: bool
    loss: bool = True


def traces(
    cases: Sequence[Blueprint],
    judge: Judge,
    rng_of_case: Callable[[Blueprint], Random],
    detours: float,
    *,
    read_limit: int = READ_LIMIT,
    output_limit: int = OUTPUT_LIMIT,
    system_message: str | None = None,
    most_calls: int = MOST_CALLS,
) -> list[list[TraceTurn]]:
    """One demonstration a case, in order; each starts with the messages of `prompt`.

    detours: the chance that a (further) detour stands before the right patch, at most two, and none that would lead
    over `most_calls`, which should be the budget of the evaluation. Where a detour turns out not to fail (a wrong fix
    that is as good as the right one) the trace has none. Raises BlueprintError for a case whose own steps do not go as
    planned.
    """

    def fresh(case: Blueprint) -> RustEpisode:
        opening = prompt(case, system_message)
        return RustEpisode(case, opening, tool_rounds=99, read_limit=read_limit, output_limit=output_limit)

    plans = [planned(case, rng_of_case(case), detours, most_calls) for case in cases]
    episodes = [fresh(case) for case in cases]
    _play(episodes, plans, judge)
    again = [place for place, item in enumerate(episodes) if not as_planned(item, plans[place])]
    for place in again:
        plans[place], episodes[place] = actions(cases[place]), fresh(cases[place])
    _play([episodes[place] for place in again], [plans[place] for place in again], judge)
    for item, plan in zip(episodes, plans, strict=True):
        if not as_planned(item, plan):
            raise BlueprintError(
                f"{item.case.case_id}: its steps do not go as planned; materialize the blueprint first"
            )
    return [_turns(item, plan) for item, plan in zip(episodes, plans, strict=True)]


def trace(case: Blueprint, rng: Random, judge: Judge, *, detours: float) -> list[TraceTurn]:
    """`traces` of a single case."""
    return traces([case], judge, lambda _: rng, detours)[0]


def actions(case: Blueprint) -> list[Action]:
    """The case's own steps; a patch after which the plan expects a failure is not to be learnt."""
    plan = []
    for place, step in enumerate(case.steps):
        status = next((later.expect_status for later in case.steps[place:] if later.tool in CARGO_TOOLS), "success")
        wrong = step.tool == "apply_patch" and status == "failed"
        plan.append(Action(step, step.expect_status != "failed", loss=not wrong))
    return plan


def planned(case: Blueprint, rng: Random, detours: float, most_calls: int = MOST_CALLS) -> list[Action]:
    """The case's steps with detours before the last patch, in at most `most_calls` calls (or as many as it has)."""
    plan = actions(case)
    for _ in range(MOST_DETOURS if case.family.startswith("patch") else 0):
        if rng.random() >= detours:
            break
        place = max(number for number, action in enumerate(plan) if action.step.tool == "apply_patch")
        way = _detour(case, plan, place, rng)
        if len(plan) - 1 + len(way) <= most_calls:
            plan[place : place + 1] = way
    return plan


def _detour(case: Blueprint, plan: Sequence[Action], place: int, rng: Random) -> list[Action]:
    """A mistake and the way back from it, the last action being the right patch."""
    right = plan[place]
    find, fix = right.step.find or "", right.step.replace or ""
    wrong = rng.choice((mistakes.wrong_fix, mistakes.broken_fix, None))
    text = wrong(find, fix, rng) if wrong is not None else None
    now = _text_at(case, plan, place)
    if text is None or now.replace(find, text).count(text) != 1:
        return _missed(right, mistakes.near_miss(find, fix, now, rng), rng)
    bad = Action(replace_step(right.step, replace=text), True, loss=False)
    cargo = Action(Step(tool=case.cargo_tool, expect_status="failed"), False)
    return [bad, cargo, *_second_look(right.step, rng), replace(right, step=replace_step(right.step, find=text))]


def _missed(right: Action, find: str, rng: Random) -> list[Action]:
    bad = Action(replace_step(right.step, find=find), False, loss=False)
    return [bad, *_second_look(right.step, rng), right]


def _second_look(step: Step, rng: Random) -> list[Action]:
    """Sometimes the file is read again after a failure."""
    return [Action(Step(tool="read_file", file_path=step.file_path), True)] if rng.random() < SECOND_LOOK else []


def replace_step(step: Step, **changes: str) -> Step:
    """The step with other texts."""
    return step.model_copy(update=changes)


def _text_at(case: Blueprint, plan: Sequence[Action], place: int) -> str:
    """The text of the file that the action at `place` patches, as the plan has it by then."""
    path = plan[place].step.file_path or ""
    text = case.files[path]
    for action in plan[:place]:
        step = action.step
        if step.tool == "apply_patch" and step.file_path == path and action.succeeds:
            text = text.replace(step.find or "", step.replace or "", 1)
    return text


def content(case: Blueprint, action: Action, number: int) -> str:
    """What the assistant writes to make the `number`-th call."""
    root, step = project_root(case.case_id), action.step
    params = {"project_path": root} if step.tool in CARGO_TOOLS else {"file_path": f"{root}/{step.file_path}"}
    if step.tool == "apply_patch":
        params |= {"find": step.find or "", "replace": step.replace or ""}
    return format_call(step.tool, f"c{number}", params)


def _play(episodes: Sequence[RustEpisode], plans: Sequence[Sequence[Action]], judge: Judge) -> None:
    """Play all plans to their end, one call of each episode at a time."""
    for number in range(max((len(plan) for plan in plans), default=0)):
        for item, plan in zip(episodes, plans, strict=True):
            if number < len(plan):
                item.act(content(item.case, plan[number], number + 1))
        answer(judge, episodes)
    for item in episodes:
        item.act(item.case.final)


def as_planned(episode: RustEpisode, plan: Sequence[Action]) -> bool:
    """Whether every call came out as its action says."""
    return [record.ok for record in episode.calls] == [action.succeeds for action in plan]


def _turns(episode: RustEpisode, plan: Sequence[Action]) -> list[TraceTurn]:
    losses = iter([*(action.loss for action in plan), True])
    return [
        TraceTurn(
            role=message["role"],
            content=message["content"],
            loss=message["role"] == "assistant" and next(losses),
        )
        for message in episode.messages
    ]
