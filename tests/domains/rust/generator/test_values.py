"""Python values as Rust text, held against Rust itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.domains.rust.asks import Ask
from tiebreak.domains.rust.generator.frame import MANIFEST_TEXT
from tiebreak.domains.rust.generator.values import Err, Ok, Raw, Some, argument, debug, display, expected, is_plain
from tiebreak.domains.rust.verdicts import Judge

VALUES = [
    (3, "i32"),
    (-4, "i32"),
    (True, "bool"),
    (False, "bool"),
    ("abc", "&str"),
    ([1, 2], "Vec<i32>"),
    (["x", "y"], "Vec<&str>"),
    (("a", 3), "(&str, i32)"),
    ([("a", 3), ("b", -1)], "Vec<(&str, i32)>"),
    (None, "Option<i32>"),
    (Some(7), "Option<i32>"),
    (Ok(2), "Result<i32, &str>"),
    (Err("no"), "Result<i32, &str>"),
    (Raw("Kind::One"), "Kind"),
]


def test_rust_agrees_on_expected_debug_and_display() -> None:
    lines = ["#[derive(Debug, PartialEq)]\nenum Kind { One }\n\nfn main() {\n"]
    for value, kind in VALUES:
        lines.append(f'    let value: {kind} = {expected(value)};\n    println!("{{:?}}", value);\n')
        if is_plain(value):
            lines.append('    println!("{}", value);\n')
    files = {"Cargo.toml": MANIFEST_TEXT.format(name="values"), "src/main.rs": "".join([*lines, "}\n"])}
    verdict = Judge(None)([Ask.of("cargo_run", files)])[0]
    wanted = [text for value, _ in VALUES for text in (debug(value), *([display(value)] if is_plain(value) else []))]
    assert verdict.ok, verdict.stderr
    assert verdict.stdout.split() == " ".join(wanted).split()


def test_a_list_is_a_slice_as_an_argument_and_a_vector_when_expected() -> None:
    assert argument([1, 2]) == "&[1, 2]" and expected([1, 2]) == "vec![1, 2]"
    assert argument([("a", 1)]) == '&[("a", 1)]'


@given(st.floats() | st.binary() | st.sets(st.integers()))
def test_a_value_without_a_rust_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no Rust form"):
        argument(value)
