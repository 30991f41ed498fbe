"""The grade: the final non-test source of a rollout in the pristine crate, examined where the program cannot interfere.

What the model did to tests, manifest or any other file does not reach the grade. The crate is compiled as a library
without `cfg(test)`; its tests and hidden checks tell on a channel of their own what they see, and that is compared
here, outside the program, with what the reference fix's tests saw and with values that the program never holds.
docs/threat-model.md says what this covers and what it cannot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.blueprints import Blueprint, Check
from tiebreak.domains.rust.crate import SOURCES, split_tests
from tiebreak.domains.rust.exam import report
from tiebreak.domains.rust.exam.harness import CRATE, ENTRY
from tiebreak.domains.rust.exam.rules import refusals
from tiebreak.domains.rust.exam.tests_part import qualify, rewrite
from tiebreak.domains.rust.verdicts import Judge, Verdict
from tiebreak.errors import BlueprintError, SandboxError


@dataclass(frozen=True)
class Grade:
    """Whether a rollout's final files solve its case; if not, why, for people (models never see it)."""

    graded: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exam:
    """What is asked for one rollout: the exams of its source and of the reference, and the program's run."""

    blueprint: Blueprint
    refused: tuple[str, ...] = ()
    source: Ask | None = None
    reference: Ask | None = None
    program: Ask | None = None

    @property
    def asks(self) -> list[Ask]:
        """The asks that there are."""
        return [ask for ask in (self.source, self.reference, self.program) if ask is not None]


def grade(judge: Judge, items: Sequence[tuple[Blueprint, Mapping[str, str]]]) -> list[Grade]:
    """The grade of each rollout's final files (path -> text), in order; one batch for all of them.

    BlueprintError, naming the case, where its own reference fix does not pass its tests; SandboxError where that one
    ran out of wall time, which is the machine's doing.
    """
    exams = [exam(blueprint, files) for blueprint, files in items]
    asks = list(dict.fromkeys(ask for held in exams for ask in held.asks))
    verdicts = dict(zip(asks, judge(asks), strict=True))
    return [_grade(held, verdicts) for held in exams]


def exam(blueprint: Blueprint, files: Mapping[str, str]) -> Exam:
    """What to ask about a rollout's final files; nothing where they are refused unseen."""
    kept = [path for path in SOURCES if path in blueprint.files]
    if missing := [path for path in kept if path not in files]:
        return Exam(blueprint, (f"{missing[0]} is gone",))
    best = reference(blueprint)
    code = {path: split_tests(files[path])[0] for path in kept}
    allowed = [split_tests(state[path])[0] for state in (blueprint.files, best) for path in kept]
    hidden = bool(blueprint.hidden_checks)
    if refused := [reason for text in code.values() for reason in refusals(text, allowed, hidden=hidden)]:
        return Exam(blueprint, tuple(refused))
    best_code = {path: split_tests(best[path])[0] for path in kept}
    program = Ask.of("cargo_run", _crate(blueprint, code)) if blueprint.runs else None
    source = _examined(blueprint, code)
    if source is None and program is None:
        raise BlueprintError(f"{blueprint.case_id}: no test, no hidden check, no output; there is nothing to grade by")
    return Exam(blueprint, (), source, _examined(blueprint, best_code), program)


def unsound(judge: Judge, blueprints: Sequence[Blueprint]) -> list[str | None]:
    """Why a blueprint cannot grade anybody (its reference fix fails its own exam), or None, for each in order."""
    found: list[Exam | str] = []
    for blueprint in blueprints:
        try:
            found.append(exam(blueprint, reference(blueprint)))
        except BlueprintError as problem:
            found.append(str(problem))
    asks = list(dict.fromkeys(ask for held in found if isinstance(held, Exam) for ask in held.asks))
    verdicts = dict(zip(asks, judge(asks), strict=True))
    return [held if isinstance(held, str) else _unsound(held, verdicts) for held in found]


def _unsound(held: Exam, verdicts: Mapping[Ask, Verdict]) -> str | None:
    try:
        return "; ".join(_grade(held, verdicts).reasons) or None
    except BlueprintError as problem:
        return str(problem)


@lru_cache(maxsize=4096)
def _plan(steps: tuple[tuple[str, str, str], ...], files: tuple[tuple[str, str], ...]) -> dict[str, str]:
    state = dict(files)
    for path, find, replace in steps:
        state[path] = state[path].replace(find, replace)
    return state


def reference(blueprint: Blueprint) -> dict[str, str]:
    """The crate as the blueprint's own patches leave it (path -> text)."""
    steps = tuple(
        (step.file_path or "", step.find or "", step.replace or "")
        for step in blueprint.steps
        if step.tool == "apply_patch"
    )
    return _plan(steps, tuple(sorted(blueprint.files.items())))


def _crate(blueprint: Blueprint, code: Mapping[str, str]) -> dict[str, str]:
    """The pristine crate with another code part in its sources."""
    return {**blueprint.files, **{path: _ended(text) + _tests(blueprint, path) for path, text in code.items()}}


def _tests(blueprint: Blueprint, path: str) -> str:
    return split_tests(blueprint.files[path])[1]


def _ended(code: str) -> str:
    return code if code.endswith("\n") else code + "\n"


def _examined(blueprint: Blueprint, code: Mapping[str, str]) -> Ask | None:
    """The exam of the case's root source; None where it has neither tests nor hidden checks."""
    path = next(path for path in SOURCES if path in blueprint.files)
    door = _door(_tests(blueprint, path), tuple(blueprint.hidden_checks))
    return (
        Ask.of("exam", {**blueprint.files, **code, path: _ended(code[path]) + door}, blueprint.case_id)
        if door
        else None
    )


@lru_cache(maxsize=4096)
def _door(tests: str, checks: tuple[Check, ...]) -> str:
    """What follows the code in an exam: the tests, the hidden checks, and the function that runs them all."""
    parts, calls = [], []
    if tests:
        visible = rewrite(tests)
        parts += [visible.text] if visible.tests else []
        calls += [f"{visible.module}::{CRATE}_tests();"] if visible.tests else []
    if checks:
        parts.append(hidden_module(checks))
        calls.append(f"{CRATE}_hidden::run();")
    if not calls:
        return ""
    return "\n".join([*parts, f"#[doc(hidden)]\npub fn {ENTRY}() {{ {' '.join(calls)} }}\n"])


def hidden_module(checks: Sequence[Check]) -> str:
    """A module that tells the value of each hidden check; what is expected is not in it."""
    lines = "".join(
        f'        ::{CRATE}::value("{number}", || ::std::format!("{{:?}}", {qualify(check.expr)}));\n'
        for number, check in enumerate(checks)
    )
    return f"\nmod {CRATE}_hidden {{\n    use super::*;\n\n    pub fn run() {{\n{lines}    }}\n}}\n"


def _grade(held: Exam, verdicts: Mapping[Ask, Verdict]) -> Grade:
    reasons = list(held.refused)
    if held.source is not None and held.reference is not None:
        expected = [check.expect for check in held.blueprint.hidden_checks]
        wanted = _wanted(held.blueprint, verdicts[held.reference], expected)
        reasons += _failures(verdicts[held.source]) or report.complaints(
            report.read(verdicts[held.source].stdout), wanted, expected
        )
    if held.program is not None:
        reasons += _output(verdicts[held.program], held.blueprint.expected_output or "")
    return Grade(not reasons, tuple(reasons))


def _wanted(blueprint: Blueprint, verdict: Verdict, expected: Sequence[str]) -> report.Seen:
    """What the reference's tests saw; they must all have passed."""
    if verdict.late:
        raise SandboxError(f"{blueprint.case_id}: the reference fix ran out of wall time; is this machine overloaded?")
    seen = report.read(verdict.stdout)
    if wrong := _failures(verdict) or report.complaints(seen, seen, expected):
        raise BlueprintError(f"{blueprint.case_id}: the reference fix does not pass its exam: {'; '.join(wrong)}")
    return seen


def _failures(verdict: Verdict) -> list[str]:
    if not verdict.compiled:
        return ["it does not compile"]
    return ["it ran out of time"] if verdict.timed_out else ["it floods its output"] if verdict.truncated else []


def _output(verdict: Verdict, expected: str) -> list[str]:
    if wrong := _failures(verdict):
        return wrong
    if not verdict.ok:
        return ["the program did not end well"]
    return [] if verdict.stdout.strip() == expected.strip() else ["the program's output is not the expected one"]
