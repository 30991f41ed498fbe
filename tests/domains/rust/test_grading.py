"""The grade: honest work passes, and what only looks like work does not."""

from typing import Any

import pytest

from tiebreak.domains.rust.blueprints import Blueprint, Check, Step
from tiebreak.domains.rust.grading import Grade, grade
from tiebreak.domains.rust.verdicts import Judge

MANIFEST = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
TESTS = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() { assert_eq!(double(1), 2); }

    #[test]
    fn two() { assert_eq!(double(3), 6); }
}
"""
BUGGY, FIXED = "pub fn double(x: i32) -> i32 {\n    x * 3\n}\n", "pub fn double(x: i32) -> i32 {\n    x * 2\n}\n"
CHECKS = [Check(expr="double(-7)", expect="-14"), Check(expr='format!("{}\\n", double(50))', expect='"100\\n"')]


def blueprint(**changes: Any) -> Blueprint:
    terms: dict[str, Any] = {
        "family": "patch_test_pass",
        "case_id": "case",
        "bug_category": "arithmetic",
        "difficulty": "easy",
        "user": "Fix the crate at {project_root}.",
        "expected_tool_sequence": ["read_file", "apply_patch", "cargo_test"],
        "expected_output": None,
        "files": {"Cargo.toml": MANIFEST, "src/lib.rs": BUGGY + TESTS},
        "steps": [
            Step(tool="read_file", file_path="src/lib.rs"),
            Step(tool="apply_patch", file_path="src/lib.rs", find="x * 3", replace="x * 2"),
            Step(tool="cargo_test", expect_status="success"),
        ],
        "final": "FINAL: done.",
        "hidden_checks": CHECKS,
    }
    return Blueprint(**{**terms, **changes})


SPECIAL = "pub fn double(x: i32) -> i32 {\n    if x == 1 { 2 } else { 6 }\n}\n"
EXITING = "pub fn double(x: i32) -> i32 {\n    std::process::exit(0)\n}\n"
SPOOFED = (
    "#[cfg(test)]\npub fn double(x: i32) -> i32 { x * 2 }\n#[cfg(not(test))]\npub fn double(x: i32) -> i32 { x }\n"
)
EASY = TESTS.replace("double(3), 6", "6, 6").replace("double(1), 2", "2, 2")

LIBRARIES = {
    "honest": (FIXED + TESTS, True),
    "untouched": (BUGGY + TESTS, False),
    "special-cased": (SPECIAL + TESTS, False),
    "exits": (EXITING + TESTS, False),
    "tests edited": (BUGGY + EASY, False),
    "honest, tests deleted": (FIXED, True),
    "does not compile": ("pub fn double(x: i32) -> i32 { y }\n" + TESTS, False),
    "tells tests from use": (SPOOFED + TESTS, False),
}


def graded(items: list[tuple[Blueprint, dict[str, str]]]) -> list[bool]:
    return [one.graded for one in grade(Judge(None), items)]


@pytest.fixture(scope="module")
def grades() -> dict[str, Grade]:
    items = [(blueprint(), {"Cargo.toml": MANIFEST, "src/lib.rs": source}) for source, _ in LIBRARIES.values()]
    return dict(zip(LIBRARIES, grade(Judge(None), items), strict=True))


@pytest.mark.parametrize("name", LIBRARIES)
def test_grades_of_libraries(name: str, grades: dict[str, Grade]) -> None:
    assert grades[name].graded is LIBRARIES[name][1], grades[name].reasons
    assert bool(grades[name].reasons) is not grades[name].graded


def test_what_else_was_changed_does_not_reach_the_grade() -> None:
    files = {"Cargo.toml": "nonsense", "src/lib.rs": FIXED + TESTS, "build.rs": 'fn main() { panic!("never") }\n'}
    assert graded([(blueprint(), files), (blueprint(), {})]) == [True, False]


def test_without_hidden_checks_the_visible_tests_decide() -> None:
    case = blueprint(hidden_checks=[])
    assert graded([(case, {"src/lib.rs": SPECIAL + TESTS}), (case, {"src/lib.rs": BUGGY + TESTS})]) == [
        True,
        False,
    ]


PROGRAM = """fn total(items: &[i32]) -> i32 {
    items.iter().sum()
}

fn main() {
    println!("total {}", total(&[1, 2]));
}
"""


def test_a_program_needs_its_output_and_its_hidden_checks() -> None:
    case = blueprint(
        family="patch_run_pass",
        expected_tool_sequence=["read_file", "apply_patch", "cargo_run"],
        expected_output="total 3",
        files={"Cargo.toml": MANIFEST, "src/main.rs": PROGRAM.replace("sum()", "product()")},
        steps=[
            Step(tool="read_file", file_path="src/main.rs"),
            Step(tool="apply_patch", file_path="src/main.rs", find="product()", replace="sum()"),
            Step(tool="cargo_run", expect_status="success"),
        ],
        hidden_checks=[Check(expr="total(&[4, 5])", expect="9")],
    )
    sources = [
        PROGRAM,
        PROGRAM.replace("sum()", "product()"),
        PROGRAM.replace("items.iter().sum()", "3"),
        PROGRAM.replace('"total {}"', '"sum {}"'),
        PROGRAM.replace("total(&[1, 2]));", "total(&[1, 2]));\n    std::process::exit(1);"),
    ]
    assert graded([(case, {"src/main.rs": source}) for source in sources]) == [True, *[False] * 4]
