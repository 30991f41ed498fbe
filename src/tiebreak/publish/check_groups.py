"""Checks of which groups a training must have: so many a step, of the pool's cases in the order that its seed gives,
each under the prompt that its arm shows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from tiebreak import gates
from tiebreak.chat import Message, prompt
from tiebreak.paths import parse_run
from tiebreak.prompts import drift, opening
from tiebreak.publish.context import Context
from tiebreak.sampling import prompts_of
from tiebreak.training.pool import batches, mixture
from tiebreak.training.run import Run

LABELS = ("family", "template")
Group = Mapping[str, Any]
Prompts = list[tuple[Any, list[Message]]]


def unbound(context: Context, run: str, groups: Sequence[Group]) -> Iterator[str]:
    """What is wrong with which groups a run has, in the order of its groups."""
    shown = pool(context, run)
    if context.study.rlvr.trainer == "trl":
        yield from out_of_order(context, run, groups, shown)
    by_id = {case.case_id: (case, prompt(messages)) for case, messages in shown}
    for group in groups:
        place = f"{run}: step {group['step']}, group {group['group']}"
        if group["case_id"] not in by_id:
            yield f"{place}: case {group['case_id']} is not of the pool"
            continue
        case, text = by_id[group["case_id"]]
        for name in LABELS:
            if group[name] != getattr(case, name):
                yield f"{place}: {name} is {group[name]}, of case {case.case_id} it is {getattr(case, name)}"
        for sample, turns in enumerate(group["turns"]):
            if prompt(opening(turns)) != text:
                yield f"{place}, sample {sample}: its prompt is not the one of case {case.case_id} in the pool"


def out_of_order(context: Context, run: str, groups: Sequence[Group], shown: Prompts) -> Iterator[str]:
    """Groups that are not those that our own loop plays: it draws the order of all steps beforehand."""
    study = context.study
    arm, seed = parse_run(run)
    by_prompt = {prompt(messages): case.case_id for case, messages in shown}
    wanted_shares = mixture(context.paths.bands, study.rlvr, shown, study.root_seed)
    order = batches(shown, Run(study.root_seed, arm, int(seed or 0)), study.rlvr, wanted_shares)
    a_step = study.rlvr.prompts
    wanted = [
        (number // a_step + 1, number % a_step, by_prompt[prompt(messages)], study.rlvr.group)
        for number, (_, messages) in enumerate(order[: steps_of(context, run) * a_step])
    ]
    found = [(group["step"], group["group"], group["case_id"], len(group["turns"])) for group in groups]
    for one, right in zip_longest(found, wanted):
        if one != right:
            yield f"{run}: has {in_words(one)} where the pool, its seed and the settings give {in_words(right)}"
            return


def in_words(group: tuple[int, int, str, int] | None) -> str:
    """A group as messages name it."""
    if group is None:
        return "no group"
    step, number, case, samples = group
    return f"step {step}, group {number} of case {case} with {samples} samples"


def steps_of(context: Context, run: str) -> int:
    """How many steps a run was trained for: all, those of its trial, or none where a gate stopped its arm before."""
    if gates.read(context.paths.decision(run)).go:
        return context.study.rlvr.steps
    return context.study.rlvr.trial.steps if gates.read(context.paths.ties(parse_run(run)[0])).go else 0


def pool(context: Context, run: str) -> Prompts:
    """The pool's cases with the prompts that the run's arm shows."""
    shown = prompts_of(context.paths.prompts("pool"), list(context.cases.values()))
    faults = context.parts["arms"][parse_run(run)[0]]["faults"]
    return drift(context.domain, shown) if "drifted_prompt" in faults else shown
