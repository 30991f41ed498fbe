"""The grade: the final non-test source of a rollout in the pristine crate, under the visible tests and hidden checks.

Plain form. What the model did to tests, manifest or any other file does not reach the grade; every test that the
pristine crate and the hidden checks hold has to be seen to pass (an early exit leaves them unseen); conditional
compilation and linker attributes that the pristine code does not use are refused, for they tell tests from use.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.blueprints import Blueprint, Check
from tiebreak.domains.rust.crate import split_tests
from tiebreak.domains.rust.lexer import tokens
from tiebreak.domains.rust.verdicts import Judge

REFUSED_WORDS = frozenset("cfg cfg_attr no_mangle link_section export_name include include_str include_bytes".split())


@dataclass(frozen=True)
class Exam:
    """What has to hold for one rollout: its asks, the tests that must pass in the first, the output of the second."""

    test: Ask | None
    tests: int
    program: Ask | None
    output: str | None


def grade(judge: Judge, items: Sequence[tuple[Blueprint, Mapping[str, str]]]) -> list[bool]:
    """Whether each rollout's final files (path -> text) solve its blueprint, in order; one batch for all of them."""
    exams = [exam(blueprint, files) for blueprint, files in items]
    asks = [ask for held in exams if held for ask in (held.test, held.program) if ask is not None]
    verdicts = dict(zip(asks, judge(asks), strict=True))
    grades = []
    for held in exams:
        passed = held is not None
        if held is not None and held.test is not None:
            verdict = verdicts[held.test]
            passed = passed and verdict.ok and verdict.tests_passed >= held.tests
        if held is not None and held.program is not None:
            verdict = verdicts[held.program]
            passed = passed and verdict.ok and verdict.stdout.strip() == (held.output or "").strip()
        grades.append(passed)
    return grades


def exam(blueprint: Blueprint, files: Mapping[str, str]) -> Exam | None:
    """The exam of a rollout; None where there is nothing to examine (no source, refused words in it)."""
    path = blueprint.source_path
    pristine, final = blueprint.files[path], files.get(path)
    if final is None:
        return None
    old_code, visible = split_tests(pristine)
    code, _ = split_tests(final)
    if _words(code) - _words(old_code):
        return None
    hidden = hidden_tests(blueprint.hidden_checks)
    source = code if not visible or code.endswith("\n") else code + "\n"
    examined = {**blueprint.files, path: source + visible + hidden}
    program = Ask.of("cargo_run", {**blueprint.files, path: source + visible}) if blueprint.runs else None
    needs_tests = hidden or not blueprint.runs
    test = Ask.of("cargo_test", examined) if needs_tests else None
    return Exam(test, count_tests(visible) + len(blueprint.hidden_checks), program, blueprint.expected_output)


def hidden_tests(checks: Sequence[Check]) -> str:
    """A test module with one test a check; empty where there are none."""
    if not checks:
        return ""
    tests = "".join(
        f"    #[test]\n    fn check_{number}() {{\n"
        f'        ::std::assert_eq!(::std::format!("{{:?}}", {check.expr}), {rust_string(check.expect)});\n    }}\n'
        for number, check in enumerate(checks)
    )
    return f"\n#[cfg(test)]\nmod tiebreak_hidden_checks {{\n    use super::*;\n\n{tests}}}\n"


def rust_string(text: str) -> str:
    """A Rust string literal of `text`."""
    escaped = json.dumps(text, ensure_ascii=False).replace("\\b", "\\x08").replace("\\f", "\\x0c")
    return _short_escapes(escaped)


def _short_escapes(quoted: str) -> str:
    """JSON's four-digit escapes in Rust's form (they only stand for control characters here)."""
    parts = quoted.split("\\u")
    return parts[0] + "".join(f"\\u{{{part[:4]}}}{part[4:]}" for part in parts[1:])


def count_tests(tests: str) -> int:
    """How many tests a test module runs: its `#[test]` attributes without the ignored ones."""
    words = list(tokens(tests))
    marks = [words[index : index + 3] for index in range(len(words))]
    return marks.count(["#", "[", "test"]) - marks.count(["#", "[", "ignore"])


def _words(code: str) -> frozenset[str]:
    return frozenset(tokens(code)) & REFUSED_WORDS
