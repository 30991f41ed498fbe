"""From blueprints to cases: every planned step is played with the real tools, and what does not hold is rejected.

Blueprints are played in chunks, step level by step level, so that the judge can batch the verdicts of a level.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tiebreak.domains.base import Reject as Reject
from tiebreak.domains.rust.blueprints import CARGO_TOOLS, Blueprint, Step
from tiebreak.domains.rust.episode import cargo_reply
from tiebreak.domains.rust.grading import unsound
from tiebreak.domains.rust.protocol import Call
from tiebreak.domains.rust.toolbox import Reply, apply_patch, project_root
from tiebreak.domains.rust.verdicts import Ask, Judge, Verdict

CHUNK = 512


Progress = Callable[[int], object]


@dataclass
class _Play:
    """A blueprint in play: its files now, the step that comes next, and what went wrong."""

    blueprint: Blueprint
    name: str
    files: dict[str, str] = field(default_factory=dict)
    at: int = 0
    reject: Reject | None = None

    def fail(self, step: int, text: str) -> None:
        """Reject with `text`, which follows the name."""
        self.reject = {"case_id": self.blueprint.case_id, "step": step, "errors": [f"{self.name}: {text}"]}


def materialize(
    blueprints: Sequence[Blueprint],
    judge: Judge,
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
) -> tuple[list[Blueprint], list[Reject]]:
    """(cases, rejects), each in the order of `blueprints`; see `examine`."""
    found = examine(blueprints, judge, progress, names)
    cases = [item for item, reject in zip(blueprints, found, strict=True) if reject is None]
    return cases, [reject for reject in found if reject is not None]


def examine(
    blueprints: Sequence[Blueprint],
    judge: Judge,
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
    chunk: int = CHUNK,
) -> list[Reject | None]:
    """Why each blueprint is no case, or None where it is one, in order.

    progress: called with the number of blueprints that were just finished. names: what error texts call the blueprints
    (published ones have a `custom_id`), by default their case ids; a name that comes again is rejected. chunk: how many
    are played together; the same comes out for any, and larger ones are faster.
    """
    plays = [
        _Play(item, name, dict(item.files)) for item, name in zip(blueprints, names or _ids(blueprints), strict=True)
    ]
    _reject_repeated_names(plays)
    for start in range(0, len(plays), chunk):
        part = plays[start : start + chunk]
        _play(part, judge)
        if progress is not None:
            progress(len(part))
    return [play.reject for play in plays]


def _ids(blueprints: Sequence[Blueprint]) -> list[str]:
    return [item.case_id for item in blueprints]


def _reject_repeated_names(plays: Iterable[_Play]) -> None:
    seen: set[str] = set()
    for play in plays:
        if play.name in seen:
            play.fail(0, "this id was used before; ids must be unique")
        seen.add(play.name)


def plan_errors(blueprint: Blueprint) -> list[str]:
    """What is wrong with the plan itself, before anything is played (docs/contracts.md)."""
    reads, patches = _paths(blueprint, "read_file"), _paths(blueprint, "apply_patch")
    statuses = [step.expect_status for step in blueprint.steps if step.tool in CARGO_TOOLS]
    errors = []
    if blueprint.family.startswith("patch"):
        if not patches:
            errors.append(f"{blueprint.family} has no apply_patch step")
        elif not reads or reads[0] != patches[0]:
            errors.append(f"the first read is {reads[0] if reads else 'missing'}, the file it patches is {patches[0]}")
    failures = statuses[:-1] if blueprint.family.endswith("recover") else []
    if blueprint.family.endswith("recover") and not failures:
        errors.append("a recover family needs a failed cargo step before the success")
    if statuses != ["failed"] * len(failures) + ["success"]:
        errors.append(f"cargo statuses are {statuses}, expected {'failed, … ' * bool(failures)}success")
    return errors


def _paths(blueprint: Blueprint, tool: str) -> list[str | None]:
    return [step.file_path for step in blueprint.steps if step.tool == tool]


def _play(plays: Sequence[_Play], judge: Judge) -> None:
    for play in plays:
        if play.reject is None and (errors := plan_errors(play.blueprint)):
            play.fail(0, "; ".join(errors))
    _reject_unbroken(_live(plays), judge)
    while True:
        waiting = [play for play in _live(plays) if _to_the_next_cargo_step(play)]
        if not waiting:
            break
        for play, verdict in zip(waiting, judge([_ask(play) for play in waiting]), strict=True):
            _compare(play, verdict)
    _reject_unsound(_live(plays), judge)


def _live(plays: Iterable[_Play]) -> list[_Play]:
    return [play for play in plays if play.reject is None]


def _ask(play: _Play) -> Ask:
    return Ask.of(play.blueprint.cargo_tool, play.files)


def _passes(play: _Play, verdict: Verdict) -> bool:
    reply: Reply = cargo_reply(verdict, play.blueprint.cargo_tool, play.blueprint.expected_output)
    return reply.ok


def _reject_unbroken(plays: Sequence[_Play], judge: Judge) -> None:
    """A patch case that was made for us must fail as it stands, or its mutation changes nothing."""
    broken = [play for play in plays if play.blueprint.generator and play.blueprint.family.startswith("patch")]
    for play, verdict in zip(broken, judge([_ask(play) for play in broken]), strict=True):
        if _passes(play, verdict):
            play.fail(0, f"the crate passes {play.blueprint.cargo_tool} before any patch")


def _reject_unsound(plays: Sequence[_Play], judge: Judge) -> None:
    """The last files of the plan are the reference fix: it must pass its own exam, or the case can grade nobody."""
    for play, reason in zip(plays, unsound(judge, [play.blueprint for play in plays]), strict=True):
        if reason is not None:
            play.fail(0, f"it cannot grade anybody: {reason}")


def _to_the_next_cargo_step(play: _Play) -> bool:
    """Do the reads and patches up to a cargo step; whether there is one."""
    steps = play.blueprint.steps
    while play.at < len(steps) and steps[play.at].tool not in CARGO_TOOLS:
        if steps[play.at].tool == "apply_patch" and not _patch(play, steps[play.at]):
            return False
        play.at += 1
    return play.at < len(steps)


def _patch(play: _Play, step: Step) -> bool:
    root = project_root(play.blueprint.case_id)
    params = {"file_path": f"{root}/{step.file_path}", "find": step.find or "", "replace": step.replace or ""}
    reply = apply_patch(play.files, root, Call("apply_patch", "plan", params))
    if not reply.ok:
        play.fail(play.at + 1, f"step {play.at + 1}: {reply.stderr}")
    return reply.ok


def _compare(play: _Play, verdict: Verdict) -> None:
    step = play.blueprint.steps[play.at]
    status = "success" if _passes(play, verdict) else "failed"
    if status != step.expect_status:
        play.fail(play.at + 1, f"step {play.at + 1} {step.tool} status {status} != {step.expect_status}")
    play.at += 1
