"""Materialization: every rule rejects, with the real judge. (All published specs: imports/test_check.py.)"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tiebreak.domains.rust.blueprints import Blueprint, Check, Step
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.materialize import examine, materialize, plan_errors
from tiebreak.domains.rust.verdicts import Judge

LIBRARY = """/// Adds one.
pub fn more(n: i32) -> i32 {
    n + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert_eq!(more(1), 2);
    }
}
"""


VERDICTS = TemporaryDirectory(prefix="verdicts")


@cache
def judge() -> Judge:
    return Judge(Path(VERDICTS.name), diagnostics="short")


def read() -> Step:
    return Step(tool="read_file", file_path="src/lib.rs")


def patch(find: str, replace: str) -> Step:
    return Step(tool="apply_patch", file_path="src/lib.rs", find=find, replace=replace)


def cargo(status: str) -> Step:
    return Step(tool="cargo_test", expect_status=status)  # type: ignore[arg-type]


def case(steps: list[Step], *, family: str = "patch_test_pass", **changes: object) -> Blueprint:
    fields: dict[str, object] = {
        "family": family,
        "case_id": "one_small_case",
        "bug_category": "aggregation_reporting",
        "difficulty": "easy",
        "user": "Fix {project_root}.",
        "expected_tool_sequence": [step.tool for step in steps],
        "expected_output": None,
        "files": {
            "Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": LIBRARY,
        },
        "steps": steps,
        "final": "FINAL: done.",
    }
    return Blueprint.model_validate(fields | changes)


FIX = patch("    n + 2", "    n + 1")
SLIP = patch("    n + 2", "    n + 3")
MEND = patch("    n + 3", "    n + 1")


def errors_of(blueprint: Blueprint) -> tuple[int, str]:
    cases, rejects = materialize([blueprint], judge())
    assert cases == [] and len(rejects) == 1 and rejects[0]["case_id"] == blueprint.case_id
    return rejects[0]["step"], rejects[0]["errors"][0]


def test_sound_plans_of_each_test_family_become_cases() -> None:
    sound = [
        case([read(), FIX, cargo("success")]),
        case([read(), SLIP, cargo("failed"), MEND, cargo("success")], family="patch_test_recover", case_id="two"),
        case(
            [cargo("success")],
            family="test_only",
            case_id="three",
            files={
                "Cargo.toml": case([read(), FIX, cargo("success")]).files["Cargo.toml"],
                "src/lib.rs": LIBRARY.replace("n + 2", "n + 1"),
            },
        ),
    ]
    assert materialize(sound, judge()) == (sound, [])


@pytest.mark.parametrize(
    ("blueprint", "step", "text"),
    [
        (case([read(), SLIP, cargo("success")]), 3, "step 3 cargo_test status failed != success"),
        (
            case(
                [read(), FIX, cargo("failed"), patch("n + 1", "n  + 1"), cargo("success")], family="patch_test_recover"
            ),
            3,
            "step 3 cargo_test status success != failed",
        ),
        (
            case(
                [read(), SLIP, cargo("failed"), patch("n + 3", "n + 4"), cargo("success")], family="patch_test_recover"
            ),
            5,
            "step 5 cargo_test status failed != success",
        ),
        (case([read(), MEND, cargo("success")]), 2, "step 2: find occurs 0 times, expected once"),
        (case([read(), patch("more", "less"), cargo("success")]), 2, "step 2: find occurs 2 times, expected once"),
        (case([cargo("success")], family="test_only"), 1, "step 1 cargo_test status failed != success"),
    ],
)
def test_a_step_that_does_not_go_as_planned_is_named(blueprint: Blueprint, step: int, text: str) -> None:
    assert errors_of(blueprint) == (step, f"one_small_case: {text}")


@pytest.mark.parametrize(
    ("blueprint", "says"),
    [
        (case([FIX, cargo("success")]), "first read is missing"),
        (case([Step(tool="read_file", file_path="Cargo.toml"), FIX, cargo("success")]), "first read is Cargo.toml"),
        (case([read(), cargo("success")]), "no apply_patch"),
        (case([read(), FIX, cargo("failed")]), "cargo statuses"),
        (case([read(), SLIP, cargo("failed"), MEND, cargo("success")]), "cargo statuses"),
        (case([read(), FIX, cargo("success")], family="patch_test_recover"), "needs a failed cargo step"),
        (case([cargo("success"), cargo("success")], family="test_only"), "cargo statuses"),
        (case([cargo("failed"), read(), FIX, cargo("failed")], family="patch_test_recover"), "cargo statuses"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_rejected_before_it_is_played(blueprint: Blueprint, says: str) -> None:
    assert any(says in text for text in plan_errors(blueprint))
    step, text = errors_of(blueprint)
    assert step == 0 and says in text


def test_an_equivalent_mutant_is_rejected_where_the_generator_made_it() -> None:
    same = patch("    n + 1", "    1 + n")
    files = {**case([read(), FIX, cargo("success")]).files, "src/lib.rs": LIBRARY.replace("n + 2", "n + 1")}
    generated = case([read(), same, cargo("success")], files=files, generator="test")
    assert errors_of(generated) == (0, "one_small_case: the crate passes cargo_test before any patch")
    imported = generated.model_copy(update={"generator": ""})
    assert materialize([imported], judge()) == ([imported], [])


def test_a_reference_fix_that_misses_its_hidden_checks_is_rejected() -> None:
    good, bad = (Check(expr="more(5)", expect=text) for text in ("6", "7"))
    steps = [read(), FIX, cargo("success")]
    cases, _ = materialize([case(steps, hidden_checks=[good], generator="test")], judge())
    assert len(cases) == 1
    step, text = errors_of(case(steps, hidden_checks=[good, bad], generator="test"))
    assert step == 0 and "hidden check 1: '6', not '7'" in text


def test_a_patch_of_the_tests_is_refused() -> None:
    step, text = errors_of(case([read(), patch("more(1), 2", "more(1), 3"), cargo("success")]))
    assert step == 2 and "may not be changed" in text


def test_a_repeated_id_is_rejected_and_the_first_one_kept() -> None:
    first = case([read(), FIX, cargo("success")])
    cases, rejects = materialize([first, first], judge())
    assert cases == [first] and "used before" in rejects[0]["errors"][0]


def test_names_and_progress_are_the_callers() -> None:
    done: list[int] = []
    plan = case([read(), SLIP, cargo("success")])
    _, rejects = materialize([plan], judge(), done.append, names=["row-001"])
    assert rejects[0]["errors"] == ["row-001: step 3 cargo_test status failed != success"] and sum(done) == 1


def one_of_each() -> Iterator[Blueprint]:
    """A blueprint for every template and bug kind that comes, and every template in every family."""
    seen: set[tuple[str, str]] = set()
    for item in generate("all", 3000, 4):
        marks = {(item.template, item.bug_kind), (item.template, item.family)}
        if not marks <= seen:
            seen |= marks
            yield item


def test_every_template_with_every_bug_kind_and_family_materializes() -> None:
    items = list(one_of_each())
    assert len(items) > 150
    cases, rejects = materialize(items, judge())
    assert rejects == [] and cases == items


def test_chunks_of_any_size_come_to_the_same() -> None:
    plans = [
        case([read(), FIX, cargo("success")], case_id="a"),
        case([read(), SLIP, cargo("success")], case_id="b"),
        case([read(), SLIP, cargo("failed"), MEND, cargo("success")], family="patch_test_recover", case_id="c"),
    ]
    once = examine(plans, judge())
    assert [reject and reject["step"] for reject in once] == [None, 3, None]
    done: list[int] = []
    assert examine(plans, judge(), done.append, chunk=2) == once and done == [2, 1]
