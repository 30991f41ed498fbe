"""What the audits found, in words, from their document; in the form of the analysis's statements: {about, text}."""

from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.audits.ranking import EVERY

WAYS = ("clean", "gave_up")  # how a rollout ended, and no breach

Rows = list[dict[str, Any]]


def statements(audits: Mapping[str, Any]) -> list[dict[str, str]]:
    """Statements about groups, tampering, findings, ranking, never_solved, protocol and checks, alarms first."""
    tables = audits["tables"]
    parts = {
        "checks": checks(audits["checks"]),
        "tampering": tampering(tables["tampering"], audits["calls"], sum(audits["rollouts"].values())),
        "findings": findings(tables["outcomes"]),
        "groups": groups(tables["group_runs"]),
        "ranking": ranking(tables["ranking"]),
        "never_solved": never_solved(tables["never_solved_counts"]),
        "protocol": protocol(tables["protocol"]),
    }
    return [{"about": about, "text": text} for about, lines in parts.items() for text in lines]


def checks(found: Mapping[str, Any]) -> Iterator[str]:
    """What was held against what."""
    rewards, steps = found["rewards"], found["steps"]
    yield (
        f"{rewards['compared']:,} stored rewards were computed again from conversations and facts: "
        f"{rewards['differing']:,} differ."
    )
    yield (
        f"{steps['compared']:,} training steps were counted again from their groups: "
        f"{len(steps['differing']):,} differ from the trainer's own record."
    )


def tampering(attempts: Rows, calls: int, rollouts: int) -> Iterator[str]:
    """How many calls were after something a model may not touch, and how many got through."""
    through = sum(row["outcome"] == "succeeded" for row in attempts)
    yield (
        f"{len(attempts):,} of {many(calls, 'call')} in {many(rollouts, 'rollout')} went after something that a model "
        f"may not touch; not refused: {through:,}."
    )


def many(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def findings(outcomes: Rows) -> Iterator[str]:
    """Where success and grade part, by arm of the evaluations."""
    for row in outcomes:
        if row["source"] == "evaluation":
            yield (
                f"{row['arm']}: {row['success_not_graded']:,} of {row['success']:,} successes were not graded, and "
                f"{row['graded_not_success']:,} of {row['graded']:,} graded rollouts were no success."
            )


def groups(runs: Rows) -> Iterator[str]:
    """Tied groups of each run, and what its groups without success could learn from."""
    for row in runs:
        yield (
            f"{row['run']}: {row['tied']:,} of {row['groups']:,} groups tied. Of {row['no_success']:,} without any "
            f"success the shaping varied in {row['no_success_shaped']:,}; in {row['no_success_penalties_only']:,} the "
            f"penalty table alone told rollouts apart, and {row['no_success_tied']:,} tied."
        )


def ranking(rows: Rows) -> Iterator[str]:
    """How each shape ranks all rollouts of the evaluations."""
    for row in rows:
        if row["source"] == "evaluation" and row["arm"] == EVERY and row["mixed"]:
            bounds = "no interval: one template" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
            yield (
                f"The {row['shape']} reward pays a graded rollout more than one that is not in {row['right']:,} of "
                f"{row['pairs']:,} pairs of {row['mixed']:,} mixed groups, the same in {row['tied']:,}, less in "
                f"{row['inverted']:,}: Somers' D {row['somers_d']:.3f} ({bounds})."
            )


def never_solved(counts: Rows) -> Iterator[str]:
    """What each arm never solved, by how far it came."""
    for arm in dict.fromkeys(row["arm"] for row in counts):
        part = [row for row in counts if row["arm"] == arm]
        reached = ", ".join(f"{row['cases']} {row['reached'].replace('_', ' ')}" for row in part if row["cases"])
        yield (
            f"{arm} never solved {part[0]['never_solved']:,} of {part[0]['of_cases']:,} cases in "
            f"{many(part[0]['samples'], 'sample')} each"
            f"{f'; furthest phase: {reached}' if reached else ''}."
        )


def protocol(rows: Rows) -> Iterator[str]:
    """How many rollouts of each arm's evaluations have no breach, which breach most have, and how many gave up."""
    for arm in dict.fromkeys(row["arm"] for row in rows if row["source"] == "evaluation"):
        part = {row["what"]: row for row in rows if (row["source"], row["arm"]) == ("evaluation", arm)}
        clean, gave_up = part["clean"], part["gave_up"]
        slips = [row for name, row in part.items() if name not in WAYS and not name.startswith("stop_")]
        worst = max(slips, key=frequency, default=None)
        most = (
            f"; the commonest breach is {worst['what']}, in {worst['rollouts']:,}"
            if worst and worst["rollouts"]
            else ""
        )
        yield (
            f"{arm}: {clean['rollouts']:,} of {clean['of_rollouts']:,} rollouts ended without a breach{most}; "
            f"{gave_up['rollouts']:,} gave up: they ended by themselves without a success."
        )


def frequency(row: Mapping[str, Any]) -> int:
    """In how many rollouts a breach occurs."""
    return int(row["rollouts"])
