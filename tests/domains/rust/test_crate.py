"""A crate as text: its tests part, its immutable parts, and the words that the lexer sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.crate import changed_parts, immutable_change, package_name, split_tests
from tiebreak.domains.rust.lexer import climbs_out, tokens

CODE = "pub fn f() {}\n\n"
TESTS = "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n"


def test_the_tests_part_begins_at_its_attribute() -> None:
    assert split_tests(CODE + TESTS) == (CODE, TESTS)
    assert split_tests(CODE) == (CODE, "")


def test_a_lone_attribute_in_the_code_is_no_tests_part() -> None:
    source = "#[cfg(test)]\nuse std::fmt;\n" + CODE + "#[cfg(test)]\n#[allow(dead_code)]\nmod t {}\n"
    assert split_tests(source)[1].startswith("#[cfg(test)]\n#[allow")


@given(st.text())
def test_splitting_loses_nothing(source: str) -> None:
    assert "".join(split_tests(source)) == source


@pytest.mark.parametrize(
    ("path", "before", "after", "refused"),
    [
        ("src/lib.rs", CODE + TESTS, "pub fn g() {}\n" + TESTS, False),
        ("src/lib.rs", CODE + TESTS, CODE + TESTS, False),
        ("src/lib.rs", CODE + TESTS, CODE + TESTS.replace("super", "self"), True),
        ("src/lib.rs", CODE + TESTS, CODE, True),
        ("src/lib.rs", CODE + TESTS, None, True),
        ("src/main.rs", None, "fn main() {}\n", True),
        ("Cargo.toml", "a", "b", True),
        ("build.rs", None, "fn main() {}\n", True),
        (".cargo/config.toml", None, "", True),
        ("tests/all.rs", None, "", True),
    ],
)
def test_only_code_may_change(path: str, before: str | None, after: str | None, refused: bool) -> None:
    reason = immutable_change(before, after, path)
    assert (reason is not None) == refused
    assert reason is None or path in reason


def test_all_refused_changes_are_listed_in_order() -> None:
    reasons = changed_parts({"Cargo.toml": "a", "src/lib.rs": CODE}, {"build.rs": "", "src/lib.rs": "other\n"})
    assert [reason.split()[0] for reason in reasons] == ["Cargo.toml", "build.rs"]


def test_the_package_has_a_name() -> None:
    assert package_name([("Cargo.toml", '[package]\nname = "my-crate"\n')]) == "my-crate"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a /* b /* c */ d */ e // f\ng", ["a", "e", "g"]),
        ('x("crate \\" unsafe") y', ["x", "(", '""', ")", "y"]),
        ('r#"un"safe"# z', ['""', "z"]),
        ("'a' 'b: '\\'' c", [":", "c"]),
        ('b"bytes" br##"raw"#"## r', ['""', '""', "r"]),
    ],
)
def test_tokens_see_through_strings_and_comments(source: str, words: list[str]) -> None:
    assert list(tokens(source)) == words


@given(st.text(alphabet="ab\"'/*#r\\{}\n "))
def test_any_text_has_tokens(source: str) -> None:
    assert "".join(tokens(source)).count("{") <= source.count("{")


@pytest.mark.parametrize(
    ("source", "out"),
    [
        ("mod tests { use super::*; }", False),
        ("use super::*;", True),
        ("mod a { use super::super::x; }", True),
        ("mod a { mod b { use super::super::x; } }", False),
        ("mod a { fn f() { super::g() } } fn h() { super::g() }", True),
    ],
)
def test_climbing_out_of_the_crate(source: str, out: bool) -> None:
    assert climbs_out(list(tokens(source))) == out
