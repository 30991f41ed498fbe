"""What the environment did in training, in sentences: counted from the records of each arm's steps and groups.

The probe tells whether a policy learned; these sentences tell what it could have learned from.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from tiebreak.audits.ties import TOLERANCE
from tiebreak.gates import gave_up
from tiebreak.paths import parse_run
from tiebreak.preflight import plural
from tiebreak.stats.sentences import between, rate
from tiebreak.stats.wilson import fraction

VERDICTS = ("valid", "success", "graded")


@dataclass
class Term:
    """One component of a reward: its value in every rollout added up, and in how many groups it differed."""

    total: float = 0.0
    moved: int = 0


@dataclass
class Tally:
    """The groups of an arm's runs, counted. Rewards are those of rollouts without an infrastructure error."""

    runs: set[str] = field(default_factory=set)
    gave_up: int = 0
    groups: int = 0
    tied: int = 0
    rollouts: int = 0
    dropped: int = 0
    rewards: list[float] = field(default_factory=list)
    terms: dict[str, Term] = field(default_factory=dict)
    stops: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    calls: list[int] = field(default_factory=list)
    live: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, run: str, group: Mapping[str, Any]) -> None:
        """Count one group's record."""
        size = len(group["rewards"])
        self.runs.add(run)
        self.groups += 1
        self.rollouts += size
        self.tied += bool(group["tied"])
        self.dropped += size * bool(group["tied"])
        self.live[run, int(group["step"])] += not group["tied"]
        self.rewards += [reward for reward in group["rewards"] if reward is not None]
        self.stops.update(str(stop) for stop in group["stop"])
        self.calls += group.get("calls", [])
        self.counts.update({name: sum(map(bool, group[name])) for name in VERDICTS})
        self.counts["tokens"] += sum(group["new_tokens"])
        for role in ("assistant", "tool"):
            self.counts[role] += sum(turn["role"] == role for turns in group["turns"] for turn in turns)
        self.add_terms(group["terms"])

    def add_terms(self, rollouts: Sequence[Mapping[str, float]]) -> None:
        """Count the components of one group's rewards."""
        for name in {name for rollout in rollouts for name in rollout}:
            values = [float(rollout.get(name, 0.0)) for rollout in rollouts]
            term = self.terms.setdefault(name, Term())
            term.total += sum(values)
            term.moved += max(values) - min(values) >= TOLERANCE


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a `groups.jsonl`, one after the other: their conversations never stand in memory together."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield json.loads(line)


def in_training(
    groups: Mapping[str, Iterable[Mapping[str, Any]]], decisions: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Sentences by arm. groups: the records of each run's groups, empty for a run without training; decisions: of its
    trial, by run.
    """
    tallies: dict[str, Tally] = {}
    for run, records in groups.items():
        tally = tallies.setdefault(parse_run(run)[0], Tally())
        tally.gave_up += gave_up(decisions[run])
        for record in records:
            tally.add(run, record)
    return {arm: sentences(tally) for arm, tally in tallies.items()}


def sentences(tally: Tally) -> list[str]:
    """What one arm's environment did."""
    left_out = [gave_up_sentence(tally)] if tally.gave_up else []
    if not tally.groups:
        return left_out or ["No group was sampled: a gate stopped the arm before its trial."]
    counted = [ties_sentence(tally), rewards_sentence(tally), terms_sentence(tally), rollouts_sentence(tally)]
    return counted + left_out


def gave_up_sentence(tally: Tally) -> str:
    """How many runs are missing from the counts, or in them up to the step at which they gave up alone."""
    runs = plural(tally.gave_up, "run")
    return f"{runs} gave up in the trial because every group of the batch tied; such batches are not counted here."


def ties_sentence(tally: Tally) -> str:
    """How many groups tied, and what was dropped with them."""
    share = fraction(tally.tied, tally.groups)
    empty = sum(not live for live in tally.live.values())
    steps = len(tally.live)
    lost = f"; {empty} of {plural(steps, 'step')} had no other group and changed nothing" if empty else ""
    return (
        f"{plural(len(tally.runs), 'run')} sampled {plural(tally.groups, 'group')} in {plural(steps, 'step')}: "
        f"{tally.tied:,} tied, a fraction of {between(share.__dict__)}, and {tally.dropped:,} of {tally.rollouts:,} "
        f"rollouts were dropped with them{lost}."
    )


def rewards_sentence(tally: Tally) -> str:
    """The range of the rewards."""
    if not tally.rewards:
        return "No rollout was scored: all ended in an infrastructure error."
    low, high = min(tally.rewards), max(tally.rewards)
    if high - low < TOLERANCE:
        return f"Every reward was {low:g}."
    return f"Rewards ran from {low:g} to {high:g} with a mean of {fmean(tally.rewards):.3f}."


def terms_sentence(tally: Tally) -> str:
    """The components of the reward: their mean, and the groups in which they differed."""
    moved = {name: term for name, term in sorted(tally.terms.items()) if term.moved}
    still = [name for name, term in sorted(tally.terms.items()) if not term.moved]
    means = [f"{name} {term.total / tally.rollouts:+.3f} ({term.moved:,})" for name, term in moved.items()]
    said = f"By component, with the mean and the groups of {tally.groups:,} in which it differed: {', '.join(means)}"
    if not moved:
        return (
            f"No component differed inside a group ({', '.join(still) or 'there are none'}), so nothing was to learn."
        )
    return (
        f"{said}; never different, so that nothing was learned from them: {', '.join(still)}." if still else f"{said}."
    )


def rollouts_sentence(tally: Tally) -> str:
    """What a rollout looked like: turns, calls, tokens, how it ended and what it came to."""
    count = tally.rollouts
    mean = {name: tally.counts[name] / count for name in ("assistant", "tool", "tokens")}
    calls = f", {fmean(tally.calls):.2f} calls" if tally.calls else ""
    ends = ", ".join(f"{stop} {number / count:.1%}" for stop, number in tally.stops.most_common())
    found = ", ".join(f"{name} {rate(tally.counts[name] / count)}" for name in VERDICTS)
    return (
        f"A rollout took {mean['assistant']:.2f} turns of the model, {mean['tool']:.2f} replies of tools{calls} and "
        f"{mean['tokens']:.0f} new tokens on average; they ended as {ends}; {found}."
    )


def of_files(
    runs: Sequence[str], paths: Sequence[Path], decisions: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """`in_training` of stored records, a file a run."""
    return in_training({run: lines(path) for run, path in zip(runs, paths, strict=True)}, decisions)
