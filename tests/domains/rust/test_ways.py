"""The three ways to a verdict say the same, byte for byte, in every corner (`test_ways_agree` takes whole crowds)."""

from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.domains.rust import batch, routes, scratch
from tiebreak.domains.rust.asks import Diagnostics
from tiebreak.domains.rust.verdicts import Ask, Judge, Limits, Verdict, shares

MANIFEST = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
QUICK = replace(Limits(), cpu_seconds=1, wall_seconds=30)


def library(source: str, **more: str) -> Ask:
    return Ask.of("cargo_test", {"Cargo.toml": MANIFEST, "src/lib.rs": source, **more})


def program(source: str) -> Ask:
    return Ask.of("cargo_run", {"Cargo.toml": MANIFEST, "src/main.rs": source})


def test_module(*tests: str) -> str:
    bodies = "".join(f"    #[test]\n    fn t{number}() {{ {body} }}\n" for number, body in enumerate(tests))
    return f"#[cfg(test)]\nmod tests {{\n    use super::*;\n{bodies}}}\n"


test_module.__test__ = False  # type: ignore[attr-defined]

ADD = "pub fn add(a: i32, b: i32) -> i32 { a + b }\n"
CORNERS = {
    "passes": library(ADD + test_module("assert_eq!(add(1, 2), 3);")),
    "fails": library(ADD + test_module("assert_eq!(add(1, 2), 4);", "assert!(true);", 'panic!("no\\nway");')),
    "no tests": library(ADD),
    "prints and fails": library(ADD + test_module('println!("said {}", add(1, 1)); eprintln!("cried"); panic!();')),
    "should panic": library("#[cfg(test)]\nmod t {\n #[test] #[should_panic] fn a() { panic!(\"x\") }\n"
                            " #[test] #[should_panic] fn b() {}\n #[test] #[ignore] fn c() {}\n}\n"),
    "result test": library("#[cfg(test)]\nmod t {\n #[test] fn a() -> Result<(), String> { Err(\"bad\".into()) }\n}\n"),
    "overflow": library(ADD + test_module("assert_eq!(add(i32::MAX, std::hint::black_box(1)), 0);")),
    "exits": library(ADD + test_module("std::process::exit(0);", "assert!(false);")),
    "exits 3": library(ADD + test_module("std::process::exit(3);")),
    "aborts": library(ADD + test_module("std::process::abort();")),
    "deep recursion": library("pub fn f(n: u64) -> u64 { if n == 0 { 0 } else { 1 + f(n - 1) } }\n"
                              + test_module("assert_eq!(f(std::hint::black_box(1 << 40)), 0);")),
    "type error": library('pub fn f() -> i32 { "a" }\n'),
    "two errors": library("pub fn f() -> i32 { missing() }\npub fn g(s: String) -> usize { drop(s); s.len() }\n"),
    "borrow error": library("pub fn g(s: String) -> usize { drop(s); s.len() }\n"),
    "no such trait": library("pub struct A;\npub fn f(a: A) -> String { a.to_string() + &format!(\"{a}\") }\n"),
    "a taken name": library("pub struct Duration(u8);\npub fn f(d: Duration) -> std::time::Duration { d }\n"),
    "uses a taken name": library("use std::time::Duration;\npub fn f(d: Duration) -> u8 { d }\n"),
    "unresolved": library("use add_things::add;\nuse std::colections::HashMap;\n"),
    "unknown function": library("pub fn f() -> i32 { ad(1, 2) }\n"),
    "parse error": library("pub fn f( {}\n"),
    "recovered parse error": library('pub fn f() -> i32 { let x: i32 = "a" let y = 2; x + y }\n'),
    "lint error": library("pub fn f() -> u8 { 255u8 + 1 }\n"),
    "super at the root": library("use super::*;\npub fn f() {}\n"),
    "crate path": library(ADD + "pub fn f() -> i32 { crate::add(1, 2) }\n" + test_module("assert_eq!(f(), 4);")),
    "inner attribute": library("#![deny(unused_variables)]\npub fn f() { let x = 1; }\n"),
    "late constant": library(ADD + "pub fn f<T>() { const { assert!(size_of::<T>() > 99) } }\nfn g() { f::<u8>() }\n"
                             + "pub fn h() { const { panic!() } }\nuse std::mem::size_of;\n"
                             + test_module("assert_eq!(add(1, 2), 3);")),
    "late associated constant": library("pub struct W<T>(T);\nimpl<T> W<T> { const A: () = panic!(); "
                                        "pub fn f() { Self::A } }\nfn g() { W::<u8>::f() }\n" + ADD
                                        + test_module("assert_eq!(add(1, 2), 3);")),
    "type name": library("pub struct S;\n" + test_module('assert_eq!(std::any::type_name::<S>(), "");')),
    "module path": library(test_module('assert_eq!(module_path!(), "");')),
    "foreign type": library("pub struct M(u8);\nimpl std::ops::Add<M> for String { type Output = u8;\n"
                            " fn add(self, m: M) -> u8 { m.0 } }\npub fn f() -> String { String::new() + 1 }\n"),
    "one implementation": library("pub fn f() -> String { String::new() + 1 }\n"),
    "macro": library("macro_rules! two { () => { 2 } }\n" + test_module("assert_eq!(two!(), 3);")),
    "second file": library("mod more;\n" + test_module("assert_eq!(more::one(), 2);"),
                           **{"src/more.rs": "pub fn one() -> i32 { 1 }\n"}),
    "wants a backtrace": library('pub fn f() { std::env::set_var("RUST_BACKTRACE", "1"); panic!("x") }\n'
                                 + test_module("f();")),
    "asks cargo": library(test_module('assert_eq!(env!("CARGO_PKG_NAME"), option_env!("X").unwrap_or("x"));')),
    "program": program('fn main() { println!("hello"); }\n'),
    "program fails": program('fn main() { println!("before"); let v: Vec<i32> = vec![]; println!("{}", v[0]); }\n'),
    "program errs": program('fn main() -> Result<(), String> { println!("a"); Err("bad".into()) }\n'),
    "program exits": program('fn main() { println!("a"); std::process::exit(4); }\n'),
    "program reads arguments": program("fn main() { println!(\"{}\", std::env::args().count()); }\n"),
    "no main": program("fn f() {}\n"),
    "program does not compile": program("fn main() { let x: i32 = \"a\"; }\n"),
    "no target": Ask.of("cargo_run", {"Cargo.toml": MANIFEST, "src/lib.rs": ADD}),
    "no library": Ask.of("cargo_test", {"Cargo.toml": MANIFEST}),
    "tests of a program": Ask.of(
        "cargo_test", {"Cargo.toml": MANIFEST, "src/main.rs": "fn main() {}\n" + test_module("")}
    ),
    "program with library": Ask.of(
        "cargo_run",
        {"Cargo.toml": MANIFEST, "src/lib.rs": ADD, "src/main.rs": 'fn main() { print!("{}", sample::add(1, 2)); }\n'},
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=["full", "short"])
def by_way(request: pytest.FixtureRequest) -> dict[str, dict[str, Verdict]]:
    asks = list(CORNERS.values())
    judges = {way: Judge(None, way=way, workers=2, diagnostics=request.param) for way in ("direct", "batch")}
    if request.param == "full":
        judges["cargo"] = Judge(None, way="cargo", workers=2)
    return {way: dict(zip(CORNERS, judge(asks), strict=True)) for way, judge in judges.items()}


def test_corner_cases_agree_in_all_ways(by_way: dict[str, dict[str, Verdict]]) -> None:
    assert by_way["batch"] == by_way["direct"]
    assert by_way.get("cargo", by_way["direct"]) == by_way["direct"]


def test_corner_cases_are_what_they_say(by_way: dict[str, dict[str, Verdict]]) -> None:
    found = by_way["batch"]
    assert [name for name in CORNERS if found[name].ok] == [
        "passes", "no tests", "exits", "late associated constant", "program", "program reads arguments",
        "tests of a program", "program with library",
    ]  # fmt: skip
    assert (found["fails"].tests_passed, found["fails"].tests_total) == (1, 3)
    assert (found["exits"].tests_passed, found["exits"].tests_total) == (0, 2)
    assert found["program fails"].compiled and found["program fails"].phase == 4
    assert found["program reads arguments"].stdout == "1\n"
    assert [found[name].phase for name in ("no target", "no library", "no main")] == [0, 0, 2]
    assert not found["no target"].compiled


def test_linking_the_library_in_changes_no_verdict(
    monkeypatch: pytest.MonkeyPatch, by_way: dict[str, dict[str, Verdict]]
) -> None:
    monkeypatch.setattr(batch, "WORTH_LINKING", 2)
    style: Diagnostics = "full" if "cargo" in by_way else "short"
    verdicts = Judge(None, way="batch", diagnostics=style)(list(CORNERS.values()))
    assert dict(zip(CORNERS, verdicts, strict=True)) == by_way["direct"]


@pytest.mark.parametrize(("asks", "workers", "sizes"), [
    (3, 2, [3]), (31, 2, [31]), (33, 2, [17, 16]), (193, 1, [97, 96]), (400, 2, [100] * 4), (384, 2, [192] * 2),
])  # fmt: skip
def test_batches_are_of_one_size(asks: int, workers: int, sizes: list[int]) -> None:
    group = [program(f'fn main() {{ print!("{number}"); }}') for number in range(asks)]
    parts = shares(group, workers)
    assert [len(part) for part in parts] == sizes
    assert [ask for part in parts for ask in part] == group


def test_a_looping_crate_fails_alone() -> None:
    looping = library(ADD + test_module("while add(1, 0) == 1 {}"))
    verdicts = Judge(None, way="batch", limits=QUICK)([CORNERS["passes"], looping, CORNERS["fails"]])
    assert [(verdict.ok, verdict.timed_out) for verdict in verdicts] == [(True, False), (False, True), (False, False)]
    assert verdicts[1].compiled and verdicts[1].stdout == "running 1 test\n"


def test_a_flood_and_a_memory_bomb_fail_alone() -> None:
    flood = program('fn main() { loop { println!("flood"); } }\n')
    bomb = program('fn main() { let v = vec![1u8; 3 << 30]; println!("{}", v[std::hint::black_box(5)]); }\n')
    verdicts = Judge(None, way="batch")([CORNERS["program"], flood, bomb])
    assert [verdict.ok for verdict in verdicts] == [True, False, False]
    assert verdicts[1].truncated and len(verdicts[1].stdout) == Limits().output_bytes


def test_a_running_crate_sees_no_sources_and_no_proc() -> None:
    look = 'fn main() { for p in ["/proc/self/exe", "/crate", "/usr", "/bin/true", "src/main.rs"] {\n'
    look += '    println!("{}", std::path::Path::new(p).exists()); } }\n'
    (verdict,) = Judge(None, way="direct")([program(look)])
    assert verdict.stdout == "false\n" * 5


def test_canonical_text() -> None:
    (verdict,) = Judge(None)([CORNERS["fails"]])
    assert verdict.stdout == (
        "running 3 tests\ntest tests::t0 ... FAILED\ntest tests::t1 ... ok\ntest tests::t2 ... FAILED\n\nfailures:\n\n"
        "---- tests::t0 stdout ----\n\nthread 'tests::t0' panicked at src/lib.rs:6:15:\n"
        "assertion `left == right` failed\n  left: 3\n right: 4\n\n"
        "---- tests::t2 stdout ----\n\nthread 'tests::t2' panicked at src/lib.rs:10:15:\nno\nway\n\n\n"
        "failures:\n    tests::t0\n    tests::t2\n\n"
        "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    )
    assert verdict.stderr == "error: test failed, to rerun pass `--lib`\n"


def test_the_cache_answers_the_second_time(tmp_path: Path) -> None:
    asks = [CORNERS["passes"], CORNERS["type error"], CORNERS["passes"]]
    first, second = Judge(tmp_path), Judge(tmp_path)
    verdicts = first(asks)
    assert second(asks) == verdicts
    assert (first.asked, first.hits, first.ran) == (3, 1, 2)
    assert (second.asked, second.hits, second.ran) == (3, 3, 0)


def test_limits_and_style_are_part_of_the_key(tmp_path: Path) -> None:
    Judge(tmp_path)([CORNERS["type error"]])
    for other in (Judge(tmp_path, limits=QUICK), Judge(tmp_path, diagnostics="short")):
        other([CORNERS["type error"]])
        assert other.ran == 1


def test_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asks = [CORNERS["passes"], CORNERS["type error"], CORNERS["program"], CORNERS["aborts"]]
    Judge(None, way="direct")([CORNERS["passes"]])  # makes the libraries that this process shows all its programs
    monkeypatch.setattr(scratch, "home", lambda: tmp_path)
    for way in ("direct", "batch", "cargo"):
        Judge(None, way=way)(asks)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_nothing_for_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scratch, "home", lambda: tmp_path)
    abandoned = tmp_path / f"{scratch.PREFIX}gone"
    (abandoned / "work").mkdir(parents=True)
    (abandoned / "lock").touch()
    with scratch.scratch() as mine:
        assert scratch.sweep() == 1
        assert mine.is_dir() and not abandoned.exists()


@pytest.mark.parametrize("name", ["crate path", "inner attribute", "type name", "module path", "super at the root",
                                  "second file", "foreign type", "program reads arguments",
                                  "program with library"])  # fmt: skip
def test_what_a_batch_would_see_differently_is_not_batched(name: str) -> None:
    assert routes.route(CORNERS[name], "auto") == "direct"


@pytest.mark.parametrize("more", ["[profile.dev]\noverflow-checks = false\n", '[dependencies]\nlibc = "1"\n', "build"])
def test_an_unusual_manifest_goes_to_cargo(more: str) -> None:
    files = {"Cargo.toml": MANIFEST + more, "src/lib.rs": ADD}
    assert routes.route(Ask.of("cargo_test", files), "auto") == "cargo"


def knot(width: int) -> str:
    """A match whose check for completeness takes time exponential in its width."""
    rows = [
        ", ".join(value if place == at else "_" for at in range(width))
        for value in ("true", "false")
        for place in range(width)
    ]
    arms = "".join(f"        ({row}) => {number},\n" for number, row in enumerate(rows))
    return (
        f"pub fn f(x: ({', '.join(['bool'] * width)})) -> i32 {{\n    match x {{\n{arms}        _ => -1,\n    }}\n}}\n"
    )


def test_a_crate_that_takes_long_to_compile_costs_its_neighbours_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch that holds it is given up soon; alone it may take what a crate may take."""
    slow = library(ADD + knot(20) + test_module("assert_eq!(add(1, 2), 3);"))
    asks = [
        slow,
        *(library(ADD + f"pub const N: i32 = {number};\n" + test_module("add(1, 2);")) for number in range(5)),
    ]
    assert batch.patience(128).cpu_seconds * 7 < batch.COMPILER.cpu_seconds * 3
    spent: list[int] = []

    def patience(crates: int) -> Limits:
        spent.append(crates)
        return replace(batch.COMPILER, cpu_seconds=1)

    monkeypatch.setattr(batch, "patience", patience)
    verdicts = Judge(None, way="batch")(asks)
    assert verdicts == Judge(None, way="direct")(asks) and all(verdict.ok for verdict in verdicts)
    assert spent == [6, 3, 2, 3], "halves, down to the one"
