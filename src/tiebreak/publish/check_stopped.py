"""Checks of the runs that a gate stopped: these and no others have no model, and no rollouts."""

import json
from collections.abc import Iterator

from tiebreak import gates
from tiebreak.provenance import path_digest
from tiebreak.publish.context import Context
from tiebreak.publish.records import model_digests
from tiebreak.publish.verdicts import Difference, Verdict, differs

NAME = "stopped.json"


def check_stopped(context: Context) -> Iterator[Verdict]:
    """Each stopped run has its gate's reason instead of a model, as its training recorded it; no other run has one."""
    for difference in stopped_apart(context):
        yield differs("stopped runs", difference)
        return
    stopped = list(stops(context))
    said = f"{', '.join(stopped) or 'none'}: the reasons are those of their trials' decisions"
    yield Verdict("stopped runs", "bit-exact", said, len(stopped))


def stops(context: Context) -> dict[str, gates.Decision]:
    """The decision of each run that did not go on."""
    decisions = {run: gates.read(context.paths.decision(run)) for run in context.study.trained_runs}
    return {run: decision for run, decision in decisions.items() if not decision.go}


def stopped_apart(context: Context) -> Iterator[Difference]:
    """Reasons that are missing, too many, or others than decided or recorded."""
    recorded, stopped = model_digests(context.records), stops(context)
    wanted = {context.paths.model(run) / NAME: run for run in stopped}
    found = set(context.paths.root.rglob(NAME))
    for path in sorted(wanted.keys() ^ found):
        here, there = ("there" if path in side else "absent" for side in (found, wanted))
        yield Difference(context.named(path), "", here, f"{there} by its trial's decision")
    for path, run in wanted.items():
        if path not in found:
            continue
        said, decided = json.loads(path.read_text(encoding="utf-8")), stopped[run]
        if said != (right := {"gate": decided.gate, "reason": decided.reason}):
            yield Difference(context.named(path), "", said, right)
        if (digest := path_digest(path.parent)) != recorded.get(run):
            expected = f"{recorded.get(run)} by the record of its training"
            yield Difference(context.named(path.parent), "SHA-256", digest, expected)
