"""each error code of the phases, proven by a crate of one file; and the judge's answer on all of them at once."""

import pytest

from tiebreak.domains.rust.diagnostics import BORROW_CODES
from tiebreak.domains.rust.verdicts import Ask, Judge, Verdict

MANIFEST = '[package]\nname = "phases"\nversion = "0.1.0"\nedition = "2021"\n'

BORROW = {
    "E0309": "pub trait Get<'a> { type Out: 'a; }\n"
    "pub struct W<'a, T>(&'a u8, T);\nimpl<'a, T> Get<'a> for W<'a, T> { type Out = T; }\n",
    "E0310": "pub struct S<T> { pub r: &'static T }\n",
    "E0311": "pub fn h<T: std::fmt::Debug>(x: &u8, t: T) -> Box<dyn std::fmt::Debug + '_> { let _ = x; Box::new(t) }\n",
    "E0373": "pub fn f() -> impl Fn() -> i32 { let x = 3; || x }\n",
    "E0381": "pub fn f() -> i32 { let x: i32; x }\n",
    "E0382": "pub fn f() -> usize { let s = String::new(); let t = s; s.len() + t.len() }\n",
    "E0384": "pub fn f() -> i32 { let x = 1; if x > 0 { x = 2; } x }\n",
    "E0499": "pub fn f() { let mut v = vec![1]; let a = &mut v; let b = &mut v; a.push(1); b.push(2); }\n",
    "E0502": 'pub fn f() { let mut v = vec![1]; let a = &v; v.push(2); println!("{a:?}"); }\n',
    "E0503": "pub fn f() -> i32 { let mut x = 3; let r = &mut x; let y = x + 1; *r = 4; y }\n",
    "E0505": 'pub fn f() { let s = String::new(); let r = &s; drop(s); println!("{r}"); }\n',
    "E0506": 'pub fn f() { let mut x = 3; let r = &x; x = 4; println!("{r}"); }\n',
    "E0507": "pub struct S { pub n: String }\npub fn f(s: &S) -> String { s.n }\n",
    "E0508": "pub fn f(a: [String; 2]) -> String { let i = 1; a[i] }\n",
    "E0509": "pub struct D { pub n: String }\nimpl Drop for D { fn drop(&mut self) {} }\n"
    "pub fn f(d: D) -> String { d.n }\n",
    "E0515": "pub fn f<'a>() -> &'a str { let s = String::new(); &s }\n",
    "E0596": "pub fn f() { let v = Vec::new(); v.push(1); }\n",
    "E0597": 'pub fn f() { let r; { let x = 3; r = &x; } println!("{r}"); }\n',
    "E0621": "pub fn f<'a>(x: &'a i32, y: &i32) -> &'a i32 { if *x > *y { x } else { y } }\n",
    "E0716": 'pub fn f() -> usize { let r: &String; r = &String::from("a"); r.len() }\n',
}
NAME_AND_TYPE = {
    "E0106": "pub fn f(a: &str, b: &str) -> &str { a }\n",
    "E0308": 'pub fn f() -> i32 { "a" }\n',
    "E0277": 'pub fn f() -> i32 { 1 + "a" }\n',
    "E0282": "pub fn f() { let x = Vec::new(); }\n",
    "E0433": "pub fn f() { missing::thing(); }\n",
    "E0425": "pub fn f() -> i32 { missing }\n",
    "E0432": "use missing::thing;\n",
    "E0599": "pub fn f() -> i32 { 1.missing() }\n",
}
PARSE = {
    "missing brace": "pub fn f() {\n",
    "missing semicolon": "pub fn f() { let x = 1 let y = 2; }\n",
    "stray word": "pub fn f() { } banana\n",
    "open string": 'pub fn f() -> &str { "a }\n',
}
LATE = {
    "unknown macro": "pub fn f() { missing!(); }\n",
    "format arguments": 'pub fn f() { println!("{} {}", 1); }\n',
}
GONE = {"E0623"}  # of the published list: newer compilers never raise it


def judged(sources: dict[str, str]) -> dict[str, Verdict]:
    asks = [Ask.of("cargo_test", {"Cargo.toml": MANIFEST, "src/lib.rs": text}) for text in sources.values()]
    return dict(zip(sources, Judge(None, diagnostics="short")(asks), strict=True))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return judged({**BORROW, **NAME_AND_TYPE, **PARSE, **LATE, "good": "pub fn f() {}\n"})


def test_every_borrow_code_has_its_crate() -> None:
    assert set(BORROW) == BORROW_CODES - GONE


@pytest.mark.parametrize("code", BORROW)
def test_borrow_codes_are_phase_three(code: str, verdicts: dict[str, Verdict]) -> None:
    assert code in verdicts[code].codes
    assert (verdicts[code].phase, verdicts[code].compiled) == (3, False)


@pytest.mark.parametrize("code", NAME_AND_TYPE)
def test_name_and_type_codes_are_phase_two(code: str, verdicts: dict[str, Verdict]) -> None:
    assert code in verdicts[code].codes
    assert (verdicts[code].phase, verdicts[code].compiled) == (2, False)


@pytest.mark.parametrize("name", PARSE)
def test_syntax_errors_are_phase_one(name: str, verdicts: dict[str, Verdict]) -> None:
    assert (verdicts[name].phase, verdicts[name].compiled) == (1, False)


@pytest.mark.parametrize("name", LATE)
def test_errors_without_a_code_after_parsing_are_phase_two(name: str, verdicts: dict[str, Verdict]) -> None:
    assert (verdicts[name].phase, verdicts[name].codes) == (2, ())


def test_a_good_crate_is_phase_four(verdicts: dict[str, Verdict]) -> None:
    good = verdicts["good"]
    assert (good.ok, good.compiled, good.phase) == (True, True, 4)


def test_short_diagnostics_are_two_lines_an_error(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["E0308"].stderr == (
        "error[E0308]: mismatched types\n --> src/lib.rs:1:21\nerror: could not compile\n"
    )
