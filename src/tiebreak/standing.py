"""How an arm stands before its gates, in sentences: what was measured, what it says, and what has not been measured.

It reads the gates' records and measures nothing itself, but for the dead components of a reward table, which need no
rollout.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tiebreak.audits.ties import dead_terms
from tiebreak.chain import read_record
from tiebreak.current import is_current
from tiebreak.domains.base import Domain
from tiebreak.gates import MEND, Decision, read
from tiebreak.paths import Paths, job_name, run_name
from tiebreak.preflight import plural
from tiebreak.study import Study

Verdict = Literal["go", "no-go", "open"]
STAGES = {"sft": "SFT", "pool": "RL", "holdout": "evaluation"}


@dataclass(frozen=True)
class Part:
    """One gate of an arm: `go` is None while it is not measured, and `targets` are then what Snakemake has to make."""

    name: str
    go: bool | None
    text: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """All gates of an arm."""

    arm: str
    parts: Sequence[Part]

    @property
    def verdict(self) -> Verdict:
        """A single no-go decides; a go needs every gate."""
        found = [part.go for part in self.parts]
        return "no-go" if False in found else "open" if None in found else "go"


def standing(study: Study, arm: str, domain: Domain, paths: Paths) -> Standing:
    """What the records under `paths` say of an arm; `domain` holds its reward table."""
    found = ties_of(study, arm, paths)
    return Standing(
        arm,
        [
            parity_part(study, arm, paths),
            ties_part(arm, found, domain, study.rlvr.trial.max_tied, str(paths.ties(arm))),
            *trial_parts(study, arm, found, paths),
        ],
    )


def recorded(path: Path, study: Study, paths: Paths, job: str) -> Decision | None:
    """A gate's decision; None if there is none, or if it was made of other values or files than the study has now.

    Without a record (a published copy of the results) the decision is believed.
    """
    if not path.is_file():
        return None
    record = paths.record(job)
    if record.is_file() and not is_current(read_record(record), study, paths.records):
        return None
    return read(path)


def parity_part(study: Study, arm: str, paths: Paths) -> Part:
    """Whether the arm's prompts are the bytes of SFT and evaluation."""
    found = recorded(paths.gate("parity"), study, paths, "parity") or stopped(study, paths, "parity")
    if found is None:
        return Part("parity", None, "Prompt parity has not been measured.", (str(paths.gate("parity")),))
    return Part("parity", found.go, parity_text(found, arm))


def stopped(study: Study, paths: Paths, job: str) -> Decision | None:
    """The decision of a gate that stopped the study as it is now: its job failed, and left it beside its work."""
    decision, record = paths.stopped(job)
    if not (decision.is_file() and record.is_file()):
        return None
    current = is_current(json.loads(record.read_text(encoding="utf-8")), study, paths.records)
    return read(decision) if current else None


def parity_text(found: Decision, arm: str) -> str:
    """Where an arm's prompts first differ, or that they do not."""
    first = found.measure.get("first", {})
    concerned = [stage for stage in (*STAGES, f"pool of {arm}") if stage in first]
    if not concerned and not found.go:
        return f"Parity stopped the study: {found.reason}."
    if not concerned:
        total = sum(found.measure["prompts"].get(stage, 0) for stage in STAGES)
        return f"A task has the same prompt, byte for byte, in SFT, RL and evaluation ({total} prompts compared)."
    stage = concerned[0]
    one, count = first[stage], found.measure["differing"][stage]
    fault = found.measure["declared"].get(stage)
    why = f"on purpose (fault {fault})" if fault else "and nothing says that this is on purpose"
    return (
        f"{count} of {found.measure['prompts'][stage]} {STAGES[stage.split()[0]]} prompts differ from what the other "
        f"stages show, {why}: case {one['case_id']} first at byte {one['offset']} (line {one['line']}, column "
        f"{one['column']}), where {one['found_context']!r} stands instead of {one['expected_context']!r}."
    )


def ties_of(study: Study, arm: str, paths: Paths) -> Decision | None:
    """The decision of an arm's ties gate, if it is of the arm as it is now."""
    return recorded(paths.ties(arm), study, paths, job_name("ties", {"arm": arm}))


def ties_part(arm: str, found: Decision | None, domain: Domain, max_tied: float, target: str) -> Part:
    """The dead components of the reward, and how many sampled groups tie."""
    declared = domain.declared_terms(arm)
    dead = [term for term in dead_terms([domain.synthetic_group(arm)], declared) if term in declared]
    said = f"Of the reward's components {listed(declared)}, {dead_words(dead)}"
    if found is None:
        return Part("ties", None, f"{said}; ties of real groups have not been measured.", (target,))
    still = [term for term in found.measure["dead_on_real_groups"] if term not in dead]
    more = f", and inside the sampled groups {listed(still)} never {'differs' if len(still) == 1 else 'differ'}"
    groups = (
        f"{counted(found.measure['tied'])} groups sampled from the SFT model tie; the arm stops from {max_tied:g} on"
    )
    return Part("ties", found.go, f"{said}{more if still else ''}; {groups}.")


def dead_words(dead: Sequence[str]) -> str:
    """Which components are dead."""
    if not dead:
        return "all move over a made-up group"
    verb = "is" if len(dead) == 1 else "are"
    return f"{listed(dead)} {verb} dead (constant even over a made-up group that should move it)"


def trial_parts(study: Study, arm: str, ties: Decision | None, paths: Paths) -> list[Part]:
    """One part for all trials that ran, and one for those that did not."""
    if ties is not None and not ties.go:
        return [Part("trial", False, f"There is no trial, for the ties gate stops the arm: {MEND}.")]
    ran: dict[int, Decision] = {}
    missing: dict[int, str] = {}
    for seed in study.training_seeds:
        path = paths.decision(run_name(arm, seed))
        decision = recorded(path, study, paths, job_name("trial", {"arm": arm, "seed": str(seed)}))
        if decision is None:
            missing[seed] = str(path)
        else:
            ran[seed] = decision
    parts = [Part("trial", all(one.go for one in ran.values()), trial_text(study, ran))] if ran else []
    if missing:
        said = f"The trial of training seed {listed(list(missing))} has not been run."
        parts.append(Part("trial", None, said, tuple(missing.values())))
    return parts


def trial_text(study: Study, ran: Mapping[int, Decision]) -> str:
    """What the trials of an arm measured, against which rule."""
    rule = study.rlvr.trial
    asked = f"less than {rule.max_tied:g} of the groups"
    if rule.steps_under is not None:
        asked += f" in at least {rule.steps_under:g} of the steps, each by itself"
    stops = [seed for seed, one in ran.items() if not one.go]
    end = f", so the training of seed {listed(stops)} stops: {MEND}" if stops else ", so training goes on"
    counts = "; ".join(trial_words(seed, one) for seed, one in ran.items())
    return f"In the trial of {plural(rule.steps, 'step')} {counts}; the rule is {asked}{end}."


def trial_words(seed: int, found: Decision) -> str:
    """One trial's ties."""
    if found.gate != "trial" or "tied" not in found.measure:
        return f"seed {seed} gave up ({found.reason})"
    words = f"{counted(found.measure['tied'])} groups of seed {seed} tie"
    under = found.measure.get("under")
    return words if under is None else f"{words} (in {under['count']} of {under['total']} steps few enough)"


def counted(share: Mapping[str, Any]) -> str:
    """`5 of 64 (0.078, 95 % interval 0.034 to 0.170)`."""
    if share["value"] is None:
        return "0 of 0"
    return (
        f"{share['count']} of {share['total']} ({share['value']:.3f}, 95 % interval {share['low']:.3f} to "
        f"{share['high']:.3f})"
    )


def listed(names: Sequence[object]) -> str:
    """Names as prose lists them; `none` for none."""
    shown = [str(name) for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown) or "none"
