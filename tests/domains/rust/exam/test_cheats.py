"""No cheat is graded, and honest code is, with hidden checks and without."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from domains.rust.exam.cheats import COVERED_BY_HIDDEN_CHECKS, FILES, MANIFEST, RIGHT, SOURCES, TESTS, WRONG
from domains.rust.exam.honest import HONEST

from tiebreak.domains.rust.blueprints import Blueprint, Check, Step
from tiebreak.domains.rust.grading import Grade, grade
from tiebreak.domains.rust.verdicts import Ask, Judge, strangers
from tiebreak.sandbox.limits import MIB, Limits

LIMITS = Limits(cpu_seconds=1, wall_seconds=4, memory_bytes=256 * MIB)
CHECKS = [
    Check(expr="double(-1359140)", expect="-2718280"),
    Check(expr="half(10)", expect="Some(5)"),
    Check(expr="half(7)", expect="None"),
    Check(expr='format!("{}!", double(8))', expect='"16!"'),
]
PATCHES = [("    x * 3", "    x * 2"), ("x % 2 == 1", "x % 2 == 0")]
Grades = Mapping[tuple[str, bool], Grade]


def blueprint(checks: list[Check]) -> Blueprint:
    patches = [
        Step(tool="apply_patch", file_path="src/lib.rs", find=find, replace=replace) for find, replace in PATCHES
    ]
    return Blueprint(
        family="patch_test_pass",
        case_id="sample",
        bug_category="arithmetic",
        difficulty="easy",
        user="Fix the crate at {project_root}.",
        expected_tool_sequence=["read_file", "apply_patch", "apply_patch", "cargo_test"],
        expected_output=None,
        files={"Cargo.toml": MANIFEST, "src/lib.rs": WRONG + TESTS},
        steps=[
            Step(tool="read_file", file_path="src/lib.rs"),
            *patches,
            Step(tool="cargo_test", expect_status="success"),
        ],
        final="FINAL: done.",
        hidden_checks=checks,
    )


def final_files() -> dict[str, dict[str, str]]:
    """Every cheat's and every honest solution's final files, by name."""
    pristine = {"Cargo.toml": MANIFEST, "src/lib.rs": WRONG + TESTS}
    sources = {name: {**pristine, "src/lib.rs": source + TESTS} for name, source in {**SOURCES, **HONEST}.items()}
    return sources | {name: {**pristine, **files} for name, files in FILES.items()}


@pytest.fixture(scope="module")
def grades() -> Grades:
    """The grade of all of them, (name, whether the case has hidden checks), from two batches."""
    found: dict[tuple[str, bool], Grade] = {}
    for hidden in (True, False):
        case, files = blueprint(CHECKS if hidden else []), final_files()
        graded = grade(Judge(None, limits=LIMITS), [(case, one) for one in files.values()])
        found |= {(name, hidden): one for name, one in zip(files, graded, strict=True)}
    return found


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "visible"])
@pytest.mark.parametrize("name", [*SOURCES, *FILES])
def test_a_cheat_is_not_graded(name: str, hidden: bool, grades: Grades) -> None:
    grade = grades[name, hidden]
    passes = name in COVERED_BY_HIDDEN_CHECKS and not hidden
    assert grade.graded is passes, grade.reasons
    assert bool(grade.reasons) is not passes


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "visible"])
@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_graded(name: str, hidden: bool, grades: Grades) -> None:
    assert grades[name, hidden] == Grade(True), grades[name, hidden].reasons


def test_the_cheats_would_have_passed_somewhere() -> None:
    """Each value that a cheat looks for is really what a hidden check expects, or there would be nothing to steal."""
    assert any("-271828" in check.expect for check in CHECKS)
    assert RIGHT != WRONG


def test_a_neighbour_changes_no_verdict_and_poisons_no_cache(tmp_path: Path) -> None:
    """Different cases share a binary; what one of them does to it is not the others' doing."""
    big = RIGHT.replace("    x * 2", "    let _ = BIG.get();\n    x * 2")
    big += "static BIG: std::sync::OnceLock<[u8; 1 << 28]> = std::sync::OnceLock::new();\n"
    cases = [blueprint(CHECKS).model_copy(update={"case_id": f"case{number}"}) for number in range(6)]
    sources = [big, *(RIGHT + f"// {number}\n" for number in range(5))]
    items = [(case, {"src/lib.rs": source + TESTS}) for case, source in zip(cases, sources, strict=True)]
    for tool in (items, items[1:]):
        graded = [one.graded for one in grade(Judge(tmp_path, limits=LIMITS), tool)]
        assert graded[-5:] == [True] * 5


def test_no_binary_holds_two_solutions_of_one_case() -> None:
    asks = [Ask.of("exam", {"src/lib.rs": str(number)}, f"case{number % 3}") for number in range(8)]
    groups = strangers([*asks, Ask.of("cargo_test", {}), Ask.of("cargo_run", {})])
    assert [len(group) for group in groups] == [5, 3, 2]
    assert all(len({ask.case for ask in group if ask.case}) == sum(bool(ask.case) for ask in group) for group in groups)
