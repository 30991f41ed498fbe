"""Two cases share what would leak: the given or the repaired function, whatever tests and main stand around it."""

from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.shared_code import answer, bare, forms, given, repaired, shared_code


def test_no_two_generated_cases_share_code() -> None:
    cases = generate("all", 1500, 3)
    seen: set[str] = set()
    for case in cases:
        own = set(shared_code(case))
        assert own.isdisjoint(seen)
        seen |= own


def test_tests_main_and_comments_are_left_out_and_the_patches_applied() -> None:
    for case in generate("all", 60, 5):
        code = bare(given(case))
        assert code and "fn main()" not in code and "#[test]" not in code and "///" not in code
        patched = any(step.tool == "apply_patch" for step in case.steps)
        assert patched == (bare(repaired(case)) != code)


def test_a_main_that_others_wrote_is_part_of_the_task() -> None:
    case = next(case for case in generate("all", 40, 5) if case.runs)
    assert "fn main()" not in given(case)
    imported = case.model_copy(update={"generator": ""})
    assert "fn main()" in given(imported) and "fn main()" in repaired(imported)
    assert forms(imported) == {"as given": given(imported), "as repaired": repaired(imported)}


def test_the_answer_is_the_right_patches_and_the_output() -> None:
    for case in generate("all", 60, 5):
        patches = [step.replace for step in case.steps if step.tool == "apply_patch"]
        output = [case.expected_output] if case.runs else []
        assert answer(case) == "\n".join([*patches[-1:], *output]), "the last patch is the one after which all is well"


def test_patches_that_only_together_are_right_are_all_the_answer() -> None:
    case = next(case for case in generate("all", 40, 5) if case.family == "patch_test_pass")
    read, patch, cargo = case.steps
    twice = case.model_copy(update={"steps": [read, patch, patch.model_copy(update={"replace": "more"}), cargo]})
    assert answer(twice) == f"{patch.replace}\nmore"
