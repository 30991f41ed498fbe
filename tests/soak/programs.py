"""What the soak asks about: valid crates, crates that do not compile, tests that fail, and hostile ones, by name.

Every program comes in as many variants as wanted: a first line that only the cache can tell apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tiebreak.domains.rust.asks import Ask, Tool
from tiebreak.domains.rust.blueprints import Blueprint, Check, Step
from tiebreak.domains.rust.generator import generate
from tiebreak.domains.rust.grading import exam, reference

QUICK, MEDIUM, SLOW = 24, 6, 1  # how often; slow ones take seconds
CASES, SEED = 8, 5
MANIFEST = '[package]\nname = "soaked"\nversion = "0.1.0"\nedition = "2021"\n'


@dataclass(frozen=True)
class Program:
    """A crate and the tool for it; weight: how often it is asked about, beside the others."""

    ask: Ask
    weight: int = QUICK

    def salted(self, number: int) -> Ask:
        """The same ask to everybody but the cache."""
        root = self.ask.source
        files = {path: f"// {number:09}\n{text}" if path == root else text for path, text in self.ask.files}
        return Ask.of(self.ask.tool, files)


def of(tool: Tool, source: str, weight: int = QUICK) -> Program:
    path = "src/main.rs" if tool == "cargo_run" else "src/lib.rs"
    return Program(Ask.of(tool, {"Cargo.toml": MANIFEST, path: source}), weight)


def test(body: str, weight: int = QUICK) -> Program:
    good = "    #[test]\n    fn good() { assert_eq!(add(1, 2), 3); }\n"
    tests = f"#[cfg(test)]\nmod tests {{\n    use super::*;\n{good}    #[test]\n    fn other() {{ {body} }}\n}}\n"
    return of("cargo_test", "pub fn add(a: i32, b: i32) -> i32 { a + b }\n" + tests, weight)


def main(body: str, weight: int = QUICK) -> Program:
    return of("cargo_run", f"fn main() {{\n{body}\n}}\n", weight)


def hostile(declarations: str, body: str, weight: int = MEDIUM) -> Program:
    """A program that calls the C library."""
    return of("cargo_run", f'extern "C" {{ {declarations} }}\nfn main() {{\n    unsafe {{ {body} }}\n}}\n', weight)


BROKEN = {
    "parse error": of("cargo_test", "pub fn f( {}\n"),
    "missing semicolon": of("cargo_test", 'pub fn f() -> i32 { let x: i32 = "a" let y = 2; x + y }\n'),
    "type error": of("cargo_test", 'pub fn f() -> i32 { "a" }\n'),
    "unknown name": of("cargo_test", "pub fn f() -> i32 { absent(1) }\n"),
    "unknown import": of("cargo_test", "use std::colections::HashMap;\npub fn f() {}\n"),
    "moved value": of("cargo_test", "pub fn f(s: String) -> usize { drop(s); s.len() }\n"),
    "two borrows": of("cargo_test", "pub fn f(v: &mut Vec<u8>) { let a = &mut *v; v.push(1); a.push(2); }\n"),
    "dangling": of("cargo_test", "pub fn f<'a>() -> &'a String { let s = String::new(); &s }\n"),
    "many errors": of("cargo_test", "\n".join(f"pub fn f{n}() -> u8 {{ g{n}() }}" for n in range(40)) + "\n"),
    "no main": of("cargo_run", "fn f() {}\n"),
    "endless macro": of("cargo_test", "macro_rules! m { ($($t:tt)*) => { m!($($t)* 1) } }\nm!();\n", MEDIUM),
    "file of the host": of("cargo_test", 'pub const P: &str = include_str!("/etc/passwd");\n', MEDIUM),
    "no library": Program(Ask.of("cargo_test", {"Cargo.toml": MANIFEST}), MEDIUM),
}

FAILING = {
    "passing": test("assert_eq!(add(2, 2), 4);"),
    "failing": test("assert_eq!(add(2, 2), 5);"),
    "panicking": test('panic!("on two\\nlines");'),
    "exiting 0": test("std::process::exit(0);"),
    "exiting 3": test("std::process::exit(3);"),
    "aborting": test("std::process::abort();"),
    "overflowing": test("assert_eq!(add(i32::MAX, std::hint::black_box(1)), 0);"),
    "printing": test('for n in 0..50 { println!("line {n}"); } panic!("after all");'),
    "looping test": test("loop { std::hint::black_box(1); }", SLOW),
    "panic in a thread": test('std::thread::spawn(|| panic!("there")).join().unwrap();'),
}

NAP = "std::thread::sleep(std::time::Duration::from_secs(60));"
HOSTILE = {
    "hello": main('    println!("hello");'),
    "error from main": of("cargo_run", 'fn main() -> Result<(), String> { println!("a"); Err("bad".into()) }\n'),
    "out of bounds": main('    let v: Vec<i32> = vec![]; println!("{}", v[std::hint::black_box(0)]);'),
    "loop": main("    loop { std::hint::black_box(1); }", SLOW),
    "loop in threads": main("    for _ in 0..3 { std::thread::spawn(|| loop {}); } loop {}", SLOW),
    "sleep": main(f'    println!("begun"); {NAP}', SLOW),
    "memory": main('    let v = vec![1u8; 3 << 30]; println!("{}", v[std::hint::black_box(5)]);'),
    "memory bit by bit": main("    let mut v = vec![]; loop { v.push(Vec::<u8>::with_capacity(1 << 24)); }"),
    "memory in threads": main(
        "    let take = || std::mem::forget(Vec::<u8>::with_capacity(1 << 29));\n"
        "    for _ in 0..4 { std::thread::spawn(take).join().unwrap(); }",
    ),
    "flood": main('    loop { println!("flood"); }'),
    "flood of errors": main('    loop { eprintln!("flood"); }'),
    "recursion": of(
        "cargo_run",
        "fn f(n: u64) -> u64 { if n == 0 { 0 } else { 1 + f(std::hint::black_box(n - 1)) } }\n"
        'fn main() { println!("{}", f(1 << 40)); }\n',
    ),
    "command": main('    println!("{}", std::process::Command::new("/program").status().is_ok());'),
    "many threads": main(
        f"    while std::thread::Builder::new().stack_size(16384).spawn(|| {NAP.rstrip(';')}).is_ok() {{}} {NAP}", SLOW
    ),
    "full disk": main(
        '    let full = (0..1000).any(|n| std::fs::write(format!("/tmp/{n}"), vec![1u8; 1 << 20]).is_err());\n'
        '    println!("{full}");',
    ),
    "large file": main('    println!("{}", std::fs::write("/tmp/x", vec![1u8; 1 << 26]).is_ok());'),
    "the host's files": main(
        '    for path in ["/etc/passwd", "/proc/self/environ", "/usr", "/home", "/root", "src/main.rs"] {\n'
        '        println!("{}", std::path::Path::new(path).exists());\n    }',
    ),
    "the network": main('    println!("{:?}", std::net::TcpStream::connect("127.0.0.1:22").unwrap_err().kind());'),
    "own program": main('    println!("{}", std::fs::write("/program", "x").is_ok());'),
    "fork": hostile("fn fork() -> i32;", 'println!("{}", fork());'),
    "fork bomb": hostile("fn fork() -> i32;", 'println!("{}", (0..5000).any(|_| fork() >= 0));'),
    "kill itself": hostile("fn kill(process: i32, signal: i32) -> i32; fn getpid() -> i32;", "kill(getpid(), 9);"),
    "kill everybody": hostile("fn kill(process: i32, signal: i32) -> i32;", 'println!("{}", kill(-1, 9));'),
    "stop itself": hostile("fn raise(signal: i32) -> i32;", "raise(19);", SLOW),
    "ignore the time": hostile("fn signal(number: i32, handler: usize) -> usize;", "signal(24, 1); loop {}", SLOW),
    "close its output": hostile("fn close(file: i32) -> i32;", "for n in 0..64 { close(n); } std::process::exit(7)"),
    "bad address": hostile("fn getpid() -> i32;", "*((getpid() as usize % 16) as *mut u8) = 1;"),
}

EXAMINED = {
    "honest": "x * 2",
    "wrong": "x * 3",
    "exits": "std::process::exit(0)",
    "panics": 'panic!("no {x}")',
    "prints a report": '{ println!("passed 3\\none"); x }',
    "hides panics": "{ std::panic::set_hook(Box::new(|_| std::process::exit(0))); x.checked_mul(3).unwrap() }",
    "does not compile": "y",
    "floods": '{ for _ in 0..100000 { println!("flood"); } x * 2 }',
}


def examined(expression: str) -> Program:
    """The exam of a small crate whose function has this body."""
    tests = (
        "\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn one() { assert_eq!(double(1), 2); }\n}\n"
    )
    wrong = "pub fn double(x: i32) -> i32 { x * 7 }\n"
    case = Blueprint(
        family="patch_test_pass",
        case_id="soaked",
        bug_category="arithmetic",
        difficulty="easy",
        user="Fix {project_root}.",
        expected_tool_sequence=["read_file", "apply_patch", "cargo_test"],
        expected_output=None,
        files={"Cargo.toml": MANIFEST, "src/lib.rs": wrong + tests},
        steps=[
            Step(tool="read_file", file_path="src/lib.rs"),
            Step(tool="apply_patch", file_path="src/lib.rs", find="x * 7", replace="x * 2"),
            Step(tool="cargo_test", expect_status="success"),
        ],
        final="FINAL: done.",
        hidden_checks=[Check(expr="double(-7)", expect="-14")],
    )
    return Program(exam(case, {"src/lib.rs": wrong.replace("x * 7", expression)}).asks[0])


def generated() -> Iterator[tuple[str, Program]]:
    """What the study itself asks: cases as given and as repaired, by cargo's tools and in exams."""
    for number, case in enumerate(generate("all", CASES, SEED)):
        for state, files in (("given", case.files), ("repaired", reference(case))):
            tool: Tool = "cargo_run" if case.runs else "cargo_test"
            yield f"case {number} {state}", Program(Ask.of(tool, files))
            yield f"exam {number} {state}", Program(exam(case, files).asks[0])


@cache
def programs() -> dict[str, Program]:
    """All of them, by name."""
    exams = {f"exam that {name}": examined(body) for name, body in EXAMINED.items()}
    return {**BROKEN, **FAILING, **HOSTILE, **exams, **dict(generated())}
