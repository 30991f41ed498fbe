"""Gates: a measure and a threshold make a decision with its reason, before anything expensive runs.

A no-go is a result: it is written down like a go, and only `enforce` turns it into an error.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tiebreak.audits.clusters import Clusters
from tiebreak.audits.crossings import Crossing, search
from tiebreak.audits.duplicates import Duplicate, duplicates
from tiebreak.audits.overlap import Overlap
from tiebreak.audits.parity import differing
from tiebreak.audits.ties import Rewards, dead_terms, term_activity, tied_by_step, tied_fraction
from tiebreak.errors import DataError, GateError
from tiebreak.stats.wilson import Fraction, fraction

SHOWN = 20
MEND = "nothing would be learned: change the arm's reward, the sampling temperature or the prompts"


@dataclass(frozen=True)
class Decision:
    """What a gate decided: `go`, why, what it measured and against which threshold; `subject` is the arm or run."""

    gate: str
    go: bool
    reason: str
    measure: dict[str, Any]
    threshold: float | int | None
    subject: str = ""

    def text(self) -> str:
        """The decision as JSON, keys sorted, byte-stable."""
        return json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: Path, decision: Decision) -> None:
    """Write the decision's JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(decision.text(), encoding="utf-8")
    part.replace(path)


def read(path: Path) -> Decision:
    """A decision that `write` wrote; raises DataError, naming the file, for anything else."""
    try:
        return Decision(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: no decision ({error}); remove the file and run its rule again") from error


def enforce(decision: Decision) -> Decision:
    """The decision if it says go; raises GateError with its reason if not."""
    if not decision.go:
        raise GateError(f"{decision.gate} gate: {decision.reason}")
    return decision


def leakage(
    splits: Mapping[str, Mapping[str, str]],
    *,
    near: Sequence[Crossing] = (),
    max_similarity: float = 1.0,
    templates: Mapping[str, Clusters] | None = None,
    overlap: Sequence[Overlap] = (),
) -> Decision:
    """Stop where a case of one split is, comments and layout apart, a case of another, or nearer than `max_similarity`.

    splits: {split: {case_id: source without its tests}}. near: how near the splits come to each other. templates, the
    clusters of each split, and overlap, of prompts and answers, decide nothing and stand in the record.
    """
    pairs = duplicates(splits)
    close = max((found for found in near if found.over), key=lambda found: found.nearest[0]["similarity"], default=None)
    measure = {
        "cases": {split: len(cases) for split, cases in sorted(splits.items())},
        "pairs": len(pairs),
        "examples": [asdict(pair) for pair in pairs[:SHOWN]],
        "near": [asdict(found) for found in near],
        "search": search(max_similarity),
        "templates": dict(templates or {}),
        "overlap": [asdict(found) for found in overlap],
    }
    if pairs:
        return Decision("leakage", False, same_reason(pairs), measure, max_similarity)
    if close is not None:
        return Decision("leakage", False, near_reason(close, near, max_similarity), measure, max_similarity)
    total = sum(len(cases) for cases in splits.values())
    nearest = max((found.nearest[0]["similarity"] for found in near if found.nearest), default=None)
    reason = f"no two of {total} cases in different splits have the same source" + (
        f"; the nearest are {nearest:.3f} alike, at most {max_similarity:g} is allowed" if nearest is not None else ""
    )
    return Decision("leakage", True, reason, measure, max_similarity)


def same_reason(pairs: Sequence[Duplicate]) -> str:
    """Why exact duplicates stop a study."""
    one = pairs[0]
    return (
        f"case {one.case_b} ({one.split_b}) is the same code as case {one.case_a} ({one.split_a})"
        + (f", and {len(pairs) - 1} more such pairs" if len(pairs) > 1 else "")
        + "; no source may stand in two splits: drop one of the two, or put both into one split"
    )


def near_reason(worst: Crossing, near: Sequence[Crossing], max_similarity: float) -> str:
    """Why near duplicates stop a study: the nearest pair, and how many cases are as near in all."""
    one, count = worst.nearest[0], sum(found.over for found in near)
    named = [
        f"{pair['case']} ({found.split}) and {pair['other']} ({found.against})"
        for found in near
        for pair in found.nearest
        if pair["similarity"] > max_similarity and pair is not one
    ]
    more = f"; {count - 1} more cases are as near, such as {'; '.join(named[:3])}" if count > 1 else ""
    return (
        f"case {one['case']} {one['form']} ({worst.split}) is {one['similarity']:.3f} like case {one['other']} "
        f"{one['other_form']} ({worst.against}), data.leakage.max_similarity is {max_similarity:g}{more}; drop one of "
        "the two, or put both into one split"
    )


def parity(
    expected: Mapping[str, Mapping[str, str]],
    found: Mapping[str, Mapping[str, str]],
    *,
    declared: Mapping[str, str] | None = None,
) -> Decision:
    """Stop where a stage shows a case in other bytes than the prompt function gives, or not the cases of its split.

    expected, found: {stage: {case_id: prompt}} with the stages sft, pool (RL) and holdout (evaluation).
    declared: stages whose difference is a declared fault, with the fault's name: evidence then, and no stop.
    """
    for stage, prompts in found.items():
        if odd := sorted(set(expected[stage]) ^ set(prompts)):
            where = "has no prompt" if odd[0] in expected[stage] else "is not of this split"
            reason = f"{stage}: case {odd[0]} {where}, and {len(odd)} such cases in all: remake the data"
            return Decision("parity", False, reason, {"unequal_cases": {stage: odd[:SHOWN]}}, 0)
    declared = declared or {}
    differences = {stage: differing(expected[stage], prompts) for stage, prompts in found.items()}
    measure: dict[str, Any] = {
        "prompts": {stage: len(prompts) for stage, prompts in found.items()},
        "differing": {stage: len(cases) for stage, cases in differences.items()},
        "first": {
            stage: {"case_id": case, **asdict(cases[case])}
            for stage, cases in differences.items()
            for case in list(cases)[:1]
        },
        "declared": dict(declared),
    }
    reasons = [parity_reason(stage, measure) for stage in measure["first"]]
    stops = [reason for stage, reason in zip(measure["first"], reasons, strict=True) if stage not in declared]
    if stops:
        return Decision("parity", False, "; ".join(stops), measure, 0)
    if reasons:
        faults = ", ".join(sorted(set(declared.values())))
        others = [f"{stage} at byte {one['offset']}" for stage, one in list(measure["first"].items())[1:]]
        more = f"; so do {', '.join(others)}" if others else ""
        return Decision("parity", True, f"declared as a fault ({faults}): {reasons[0]}{more}", measure, 0)
    total = sum(len(prompts) for prompts in found.values())
    return Decision("parity", True, f"all {total} prompts of {', '.join(found)} are the same bytes", measure, 0)


def parity_reason(stage: str, measure: Mapping[str, Any]) -> str:
    """Where a stage's first differing prompt parts from what was expected."""
    one = measure["first"][stage]
    return (
        f"case {one['case_id']}: the {stage} prompt differs at byte {one['offset']} (line {one['line']}, column "
        f"{one['column']}): found {one['found']}, expected {one['expected']}; found {one['found_context']}, expected "
        f"{one['expected_context']}; {measure['differing'][stage]} of {measure['prompts'][stage]} {stage} prompts "
        "differ: give every stage the same system message and layout, or declare the difference as a fault of the arm"
    )


def ties(
    arm: str,
    rewards: Rewards,
    *,
    max_tied: float,
    terms: Sequence[Sequence[Mapping[str, float]]] = (),
    declared: Sequence[str] = (),
    synthetic: Sequence[Mapping[str, float]] = (),
) -> Decision:
    """Stop an arm whose reward ties too many real groups, sampled from the SFT model.

    rewards[group][rollout]; terms, the same shape, are the reward's parts; declared names the terms of the table.
    synthetic: one made-up group that should move every declared term. Dead terms of either kind are named as a warning
    and stop nothing.
    """
    share = tied_fraction(rewards)
    dead_here = dead_terms(terms, declared) if terms else []
    dead_ever = [term for term in dead_terms([synthetic], declared) if term in declared] if synthetic else []
    measure = {
        "tied": asdict(share),
        "terms": [asdict(row) for row in term_activity(terms, declared)] if terms else [],
        "dead_on_real_groups": dead_here,
        "dead_on_synthetic_group": dead_ever,
        "warnings": [
            f"{term} is constant even over the synthetic group that should move it: a dead component"
            for term in dead_ever
        ]
        + [f"{term} never differs inside a sampled group" for term in dead_here if term not in dead_ever],
    }
    return threshold_decision("ties", arm, share, max_tied, measure, "groups sampled from the SFT model")


def trial(
    run: str,
    tied: int,
    groups: int,
    *,
    max_tied: float,
    by_step: Sequence[Mapping[str, Any]] = (),
) -> Decision:
    """Go if the tied fraction over all groups of the trial is under `max_tied`; its Wilson interval stands beside it.

    tied, groups: counts over all steps; by_step: the records of the steps (keys step, groups, tied), kept as evidence.
    """
    steps = [{key: row[key] for key in ("step", "groups", "tied") if key in row} for row in by_step]
    share = fraction(tied, groups)
    return threshold_decision(
        "trial", run, share, max_tied, {"tied": asdict(share), "steps": steps}, "groups of the trial"
    )


def trial_of_groups(
    run: str, steps: Sequence[int], tied: Sequence[bool], *, max_tied: float, steps_under: float | None = None
) -> Decision:
    """`trial` from one entry a group: its step and whether it tied.

    steps_under: the published rule of the fathom study instead: go only if the tied fraction is under `max_tied` in at
    least this share of the steps, each judged by itself.
    """
    shares = tied_by_step(steps, tied)
    by_step = [{"step": step, "groups": f.total, "tied": f.count} for step, f in shares.items()]
    whole = trial(run, sum(map(bool, tied)), len(tied), max_tied=max_tied, by_step=by_step)
    if steps_under is None or not shares:
        return whole
    under = fraction(sum(f.count < max_tied * f.total for f in shares.values()), len(shares))
    go = under.count >= steps_under * under.total - 1e-9
    reason = (
        f"{run}: in {under.count} of {under.total} steps of the trial less than {max_tied:g} of the groups tie; "
        f"at least {steps_under:g} of the steps are expected{'' if go else f', so {MEND}'}"
    )
    return replace(whole, go=go, reason=reason, measure=whole.measure | {"under": asdict(under)}, threshold=steps_under)


def trial_that_tied(run: str, reason: str, *, max_tied: float) -> Decision:
    """A trial that its trainer gave up, because it found no batch with a group that is not tied."""
    return Decision("trial", False, f"{run}: {reason}", {}, max_tied, run)


def gave_up(decision: Mapping[str, Any]) -> bool:
    """Whether a decision, as a mapping, is of `trial_that_tied`: how many groups tied then, nobody counted."""
    return decision["gate"] == "trial" and not decision["measure"]


def threshold_decision(
    gate: str, subject: str, share: Fraction, max_tied: float, measure: dict[str, Any], what: str
) -> Decision:
    """Go where the share is under the threshold."""
    if share.value is None:
        return Decision(
            gate, False, f"{subject}: no {what}, so nothing shows that rewards differ", measure, max_tied, subject
        )
    counted = (
        f"{subject}: {share.count} of {share.total} {what} tie ({share.value:.3f}, 95 % interval {share.low:.3f} to "
        f"{share.high:.3f})"
    )
    if share.value < max_tied:
        return Decision(gate, True, f"{counted}, under max_tied {max_tied:g}", measure, max_tied, subject)
    return Decision(gate, False, f"{counted}; max_tied is {max_tied:g}: {MEND}", measure, max_tied, subject)
