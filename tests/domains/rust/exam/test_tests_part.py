"""Visible tests are rewritten whole or refused, never skipped."""

import pytest

from tiebreak.domains.rust.exam.tests_part import Test, qualify, rewrite
from tiebreak.errors import BlueprintError

TESTS = """#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    #[should_panic(expected = "too \\"large\\"")]
    fn first() {
        run(vec![1]);
    }

    fn helper(line: i32) -> bool {
        line != 3
    }

    #[ignore = "slow"]
    #[test]
    fn second() {}

    #[test]
    fn third() -> Result<(), String> {
        // assert_eq!(in, comment)
        assert_eq!("assert_eq!(in, string)".len(), std::format!("{}", 3).len(), "at {}", line!());
        std::assert!(helper(4));
        Ok(())
    }

    #[should_panic]
    #[test]
    fn fourth() {}
}
"""


def test_tests_their_panics_and_the_ignored() -> None:
    none, some = "::std::option::Option::None", "::std::option::Option::Some"
    found = rewrite(TESTS)
    assert found.module == "checks"
    assert found.tests == (
        Test("first", some + "(" + some + '("too \\"large\\""))'),
        Test("third", none),
        Test("fourth", f"{some}({none})"),
    )


def test_attributes_go_and_assertions_report() -> None:
    text = rewrite(TESTS).text
    for gone in ("#[test]", "#[cfg(test)]", "#[ignore", "#[should_panic"):
        assert gone not in text
    assert '::tiebreak_exam::assert_eq!("assert_eq!(in, string)".len()' in text
    assert "// assert_eq!(in, comment)" in text
    assert '"at {}", ::std::line!()' in text and "::std::vec![1]" in text
    assert "line != 3" in text and "std::format!(" in text and "::std::::" not in text
    assert text.rstrip().endswith("}") and text.count("{") == text.count("}")


def test_a_macro_of_the_tests_own_is_left_alone() -> None:
    own = "#[cfg(test)]\nmod tests {\n    macro_rules! vec { () => { 3 } }\n    #[test]\n    fn a() { vec!(); }\n}\n"
    assert "fn a() { vec!(); }" in rewrite(own).text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("#[cfg(test)]\nmod tests;\n", "no module with a body"),
        ("#[cfg(test)]\nmod tests {\n", "not closed"),
        ("#[cfg(test)]\nmod tests {}\nfn after() {}\n", "`fn` follows"),
        ("#[cfg(test)]\nmod tests {\n mod inner {\n #[test]\n fn deep() {}\n }\n}\n", "test deep stands deeper"),
    ],
)
def test_another_form_is_refused(source: str, why: str) -> None:
    with pytest.raises(BlueprintError, match=why):
        rewrite(source)


def test_expressions_name_macros_from_the_root() -> None:
    assert qualify('format!("{}", vec![1].len() != 2)') == '::std::format!("{}", ::std::vec![1].len() != 2)'
