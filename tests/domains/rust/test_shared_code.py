"""Two cases share what would leak: the given or the repaired function, whatever tests and main stand around it."""

from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.shared_code import bare, forms, given, repaired, shared_code


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
