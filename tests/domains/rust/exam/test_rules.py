"""Words that are refused, where they are refused, and that comments and strings hold any word."""

import pytest
from domains.rust.exam.cheats import RIGHT, WRONG
from domains.rust.exam.honest import HONEST

from tiebreak.domains.rust.exam.rules import REACHING, refusals


@pytest.mark.parametrize("word", sorted(REACHING))
def test_a_word_that_reaches_out_is_refused_unless_the_crate_has_it(word: str) -> None:
    code = f"{RIGHT}fn f() {{ {word}; }}\n"
    assert refusals(code, [WRONG], hidden=True) == [f"it uses `{word}`, which the crate does not"]
    assert refusals(code, [WRONG, code], hidden=True) == []
    assert refusals(f'{RIGHT}// {word}\n/* {word} */\nconst A: &str = "{word}";\n', [WRONG], hidden=True) == []


def test_env_and_path_are_words_like_others_elsewhere() -> None:
    code = RIGHT + "fn f(env: i32, path: i32) -> bool { let _ = std::env::args(); env == path }\n"
    assert refusals(code, [WRONG], hidden=False) == []
    assert refusals(RIGHT + 'const A: &str = env!("A");\n', [WRONG], hidden=True) != []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("impl<T> PartialEq<T> for Any { fn eq(&self, _: &T) -> bool { true } }", "PartialEq for Any"),
        ("impl std::cmp::PartialOrd<i32> for Any { }", "PartialOrd for Any"),
        ("pub trait Sure { }", "adds the trait Sure"),
        ("pub struct String;", "gives String another meaning"),
        ("use std::vec::Vec as Option;", "gives Option another meaning"),
        ("macro_rules! matches { () => {} }", "gives matches! another meaning"),
    ],
)
def test_what_visible_tests_look_at_keeps_its_form(more: str, why: str) -> None:
    (reason,) = refusals(f"{RIGHT}{more}\n", [WRONG], hidden=False)
    assert why in reason
    assert refusals(f"{RIGHT}{more}\n", [WRONG], hidden=True) == []


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("pub fn half<'a>(x: i32) -> Option<i32> where i32: Copy {", True),
        ("pub fn half(x: i32, f: fn(i32) -> u8) -> Option<i32> {", True),
        ("pub fn half(x: i32) -> Option<Answer> {", False),
        ("pub fn half(x: i32) {", False),
    ],
)
def test_a_return_type_stays(header: str, kept: bool) -> None:
    code = RIGHT.replace("pub fn half(x: i32) -> Option<i32> {", header)
    assert (refusals(code, [WRONG], hidden=False) == []) is kept


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_refused(name: str) -> None:
    assert refusals(HONEST[name], [WRONG, RIGHT], hidden=False) == []
