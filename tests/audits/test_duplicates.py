from hypothesis import given
from hypothesis import strategies as st

from tiebreak.audits.duplicates import duplicates, normalise, tokens

SOURCE = 'pub fn f(x: &str) -> i32 { let q = "a // b"; x.len() as i32 + q.len() as i32 }'


def test_comments_and_layout_do_not_count():
    other = """/* a /* nested */ comment */
pub fn f ( x : & str )->i32
{   // why
    let q = "a // b";
    x.len()as i32+q.len() as i32
}"""
    assert normalise(other) == normalise(SOURCE)


def test_strings_names_and_numbers_do_count():
    for change in (("a // b", "a // c"), ("i32", "i64"), ("q", "r"), ("+", "-"), ('"a // b"', '"a //  b"')):
        assert normalise(SOURCE.replace(*change)) != normalise(SOURCE)


def test_tokens_of_awkward_rust():
    assert list(tokens(r"""'a' '"' '\'' 'x: &'static str r#"// "no" "# b"\"" '\u{41}' // end""")) == [
        "'a'",
        "'\"'",
        r"'\''",
        "'",
        "x",
        ":",
        "&",
        "'",
        "static",
        "str",
        'r#"// "no" "#',
        r'b"\""',
        r"'\u{41}'",
    ]
    assert list(tokens("a /* never closed")) == ["a"]


@given(st.text())
def test_normalising_again_changes_nothing_and_never_fails(text):
    """Whatever a model writes: the tokens of a normalised source are those of the source."""
    once = normalise(text)
    assert once == " ".join(list(tokens(text)))


@given(st.lists(st.sampled_from(["fn", "x", "{", "}", "1", '"s"', "+"]), max_size=12), st.randoms())
def test_any_layout_is_the_same_source(words, random):
    gaps = [" ", "\n", "\t\n ", " /* c */ ", " // c\n"]
    assert normalise("".join(word + random.choice(gaps) for word in words)) == " ".join(words)


def test_pairs_across_splits_only():
    found = duplicates(
        {
            "sft": {"a": "fn f() {}", "b": "fn f()  {} // twin inside one split", "c": "fn g() {}"},
            "pool": {"d": "fn h() {}"},
            "holdout": {"e": "fn f ( ) { }", "f": "fn h() {}"},
        }
    )
    assert [(p.split_a, p.case_a, p.split_b, p.case_b) for p in found] == [
        ("holdout", "f", "pool", "d"),
        ("holdout", "e", "sft", "a"),
        ("holdout", "e", "sft", "b"),
    ]


def test_a_case_in_two_splits_is_a_duplicate():
    assert len(duplicates({"sft": {"a": "fn f() {}"}, "holdout": {"a": "fn f() {}"}})) == 1
    assert duplicates({"sft": {"a": "fn f() {}"}, "holdout": {"b": "fn g() {}"}}) == []
