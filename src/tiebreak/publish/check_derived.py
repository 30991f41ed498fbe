"""Checks of what is derived outside of any rule that can be run again: summaries, decisions, bands, training records,
the release's own tables, crate and card."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from math import isclose
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from tiebreak import gates, tables
from tiebreak.audits.groups import by_step, disagreements
from tiebreak.audits.stored import json_lines
from tiebreak.chain import job_of
from tiebreak.job_sampling import summary
from tiebreak.paths import parse_run
from tiebreak.publish import crate
from tiebreak.publish.card import card
from tiebreak.publish.check_groups import unbound
from tiebreak.publish.context import Context
from tiebreak.publish.differences import NEAR, compared, walk
from tiebreak.publish.records import files_of
from tiebreak.publish.release import about, put_tables
from tiebreak.publish.strict import parsed
from tiebreak.publish.verdicts import Difference, Verdict, differs
from tiebreak.sampling import Plan
from tiebreak.training.pool import band_rows

OUTCOMES = ["case_id", "stop", "valid", "success", "graded", "truncated"]
ANEW = "anew"
FROM_GROUPS = (
    "groups of the pool's cases in the seed's order; counts, ties, rewards and rates are those of its groups; "
    "numbers of tokens, losses and times need the training"
)


def check_summaries(context: Context) -> Iterator[Verdict]:
    """The summary of every evaluation, from its rollouts."""
    study = context.study
    for run in study.runs:
        arm, seed = parse_run(run)
        for repetition in study.repetitions:
            plan = Plan(study.root_seed, ("eval", repetition), arm, seed, repetition, study.evaluation.k, 1, 1)
            path = context.paths.evaluation(run, repetition) / "summary.json"
            found = parsed(path.read_text(encoding="utf-8"))
            rows = tables.read_table(context.paths.rollouts(run, repetition), OUTCOMES).to_pylist()
            yield equal(context.named(path), found, summary(plan, rows, stopped=stop_reason(context, run)))


def stop_reason(context: Context, run: str) -> str | None:
    """Why a run was stopped, from its trial's decision; None for one that went on."""
    if run not in context.study.trained_runs:
        return None
    decision = gates.read(context.paths.decision(run))
    return None if decision.go else decision.reason


def equal(name: str, found: Any, expected: Any) -> Verdict:
    """The verdict on a JSON value."""
    for _, field, one, other in walk(found, json.loads(json.dumps(expected)), ""):
        return differs(name, Difference(name, field, one, other))
    return Verdict(name, "bit-exact")


def check_decisions(context: Context) -> Iterator[Verdict]:
    """The decision of every trial, from the groups of its steps, or from the gate that stopped its arm."""
    rule = context.study.rlvr.trial
    for run in context.study.trained_runs:
        path = context.paths.decision(run)
        found, tied = gates.read(path), gates.read(context.paths.ties(parse_run(run)[0]))
        groups = [group for group in json_lines(context.paths.groups(run)) if group["step"] <= rule.steps]
        name = context.named(path)
        if not tied.go:
            yield equal(name, asdict(found), asdict(tied))
        elif not groups and not found.go:
            yield Verdict(name, "not re-run", "its trainer found no live group and recorded none")
        else:
            steps, ties = [group["step"] for group in groups], [group["tied"] for group in groups]
            anew = gates.trial_of_groups(run, steps, ties, max_tied=rule.max_tied, steps_under=rule.steps_under)
            yield equal(name, asdict(found), asdict(anew))


def check_training(context: Context) -> Iterator[Verdict]:
    """Records of training steps against their groups; what only the trainer measured cannot be computed again."""
    for run in context.study.trained_runs:
        path = context.paths.steps(run)
        groups, steps = json_lines(context.paths.groups(run)), json_lines(path)
        name = context.named(path)
        counted = by_step({run: groups}, context.reader.shaping)
        problems = [
            *unbound(context, run, groups),
            *group_problems(run, groups),
            *disagreements(counted, {run: steps}),
            *step_problems(run, groups, steps),
        ]
        if problems:
            yield differs(name, Difference(name, "step", problems[0], "what groups.jsonl says"), len(steps))
        else:
            yield Verdict(name, "bit-exact", FROM_GROUPS, len(steps))


def step_problems(run: str, groups: list[dict[str, Any]], steps: list[dict[str, Any]]) -> Iterator[str]:
    """Numbers of a step's record that are not those of its groups; only of those that the record has."""
    for step in steps:
        told = numbers_of([group for group in groups if group["step"] == step["step"]])
        for name, value in told.items():
            if name in step and not alike(step[name], value):
                yield f"{run}: step {step['step']}: {name} is {step[name]}, of the groups {value}"


def alike(one: float | None, other: float | None) -> bool:
    """Whether two numbers that may be missing are the same but for rounding."""
    return one is other if one is None or other is None else isclose(one, other, rel_tol=NEAR, abs_tol=NEAR)


def numbers_of(groups: list[dict[str, Any]]) -> dict[str, float | None]:
    """What the groups of a step say of it."""
    rewards = [reward for group in groups for reward in group["rewards"] if reward is not None]
    tokens = [count for group in groups for count in group["new_tokens"]]
    if not tokens:
        return {}
    whole = {name: [flag for group in groups for flag in group[name]] for name in ("valid", "success", "graded")}
    said = [sum(turn["role"] == "assistant" for turn in turns) for group in groups for turns in group["turns"]]
    return {
        "rollouts": len(tokens),
        "tied_fraction": fmean(group["tied"] for group in groups),
        "errors": len(tokens) - len(rewards),
        "truncated": sum(stop == "tokens" for group in groups for stop in group["stop"]),
        "reward_mean": fmean(rewards) if rewards else None,
        "reward_std": pstdev(rewards) if rewards else None,
        **{f"{name}_rate": fmean(flags) for name, flags in whole.items()},
        "new_tokens_mean": fmean(tokens),
        "new_tokens_max": max(tokens),
        "turns_mean": fmean(said),
    }


def group_problems(run: str, groups: list[dict[str, Any]]) -> Iterator[str]:
    """Groups whose rewards are not the sums of their terms, or whose tie is not what their rewards say."""
    for group in groups:
        place = f"{run}: step {group['step']}, group {group['group']}"
        for sample, (reward, terms) in enumerate(zip(group["rewards"], group["terms"], strict=True)):
            if reward is not None and abs(reward - sum(terms.values())) >= 1e-9:
                yield f"{place}, sample {sample}: reward is {reward}, its terms sum to {sum(terms.values())}"
        scored = [reward for reward in group["rewards"] if reward is not None]
        if group["tied"] != (not scored or max(scored) - min(scored) < 1e-9):
            yield f"{place}: tied is {group['tied']}, its rewards are {group['rewards']}"


def check_bands(context: Context) -> Iterator[Verdict]:
    """The pool's bands, from the rollouts that measured them."""
    path = context.paths.bands
    if context.study.rlvr.pool is None:
        return
    measured = context.paths.root / "probes" / "bands" / "rollouts.parquet"
    columns = ["case_id", "family", "template", "difficulty", "stop", "graded"]
    anew = context.place / ANEW / "bands.parquet"
    tables.write_table(anew, band_rows(tables.read_table(measured, columns).to_pylist()), tables.BANDS)
    yield compared(path, anew, context.named(path))


def check_tables(context: Context) -> Iterator[Verdict]:
    """The tables that people load, made again from the results."""
    released, anew = context.release / "tables", context.place / ANEW / "tables"
    put_tables(anew, context.paths, context.study)
    for name in sorted({path.name for folder in (released, anew) for path in files_of(folder)}):
        yield compared(released / name, anew / name, f"tables/{name}")


def check_crate(context: Context) -> Iterator[Verdict]:
    """The crate, from the records and the files."""
    copy = context.place / ANEW / "release"
    shutil.copytree(context.release, copy, copy_function=link, ignore=shutil.ignore_patterns(crate.NAME, ".*"))
    records = sorted(context.records, key=lambda record: (record["started"], job_of(record)))
    crate.write_crate(copy, records, about(context.study, context.manifest.commit))
    yield compared(context.release / crate.NAME, copy / crate.NAME, crate.NAME)


def link(source: str, target: str) -> None:
    """A link instead of a copy."""
    Path(target).symlink_to(Path(source).resolve())


def check_card(context: Context) -> Iterator[Verdict]:
    """The card's text, rendered anew from the artifacts."""
    anew = context.place / ANEW / "README.md"
    anew.write_text(card(context.release), encoding="utf-8")
    yield compared(context.release / "README.md", anew, "README.md")
