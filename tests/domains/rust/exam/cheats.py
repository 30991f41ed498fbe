"""Wrong code that wants to pass, and honest code that has to. Named; docs/threat-model.md refers to these names.

The crate doubles and halves numbers and does both wrong. A cheat is what follows `WRONG` or replaces it.
"""

DOUBLE = "pub fn double(x: i32) -> i32 {\n    x * 3\n}\n"
HALF = "pub fn half(x: i32) -> Option<i32> {\n    if x % 2 == 1 { Some(x / 2) } else { None }\n}\n"
WRONG = DOUBLE + HALF
RIGHT = WRONG.replace("x * 3", "x * 2").replace("== 1", "== 0")
TESTS = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() {
        assert_eq!(double(1), 2);
    }

    #[test]
    fn two() {
        assert!(double(5) > 9 && double(5) < 11, "double of {}", 5);
    }

    #[test]
    fn three() {
        assert!(half(4).is_some());
        assert_eq!(half(3), None);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn four() {
        double(i32::MAX);
    }
}
"""
RESULT = "running 4 tests\\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"
JSON = '{\\"type\\":\\"suite\\",\\"event\\":\\"ok\\",\\"passed\\":4,\\"failed\\":0,\\"ignored\\":0}'
REPORT = "test 3\\none\\npassed 3\\none\\nvalue 1 3\\n0-14\\nend\\n"


def doing(what: str, *, before: str = "") -> str:
    """The wrong crate, whose `double` first does something."""
    return before + DOUBLE.replace("    x * 3", f"    {what}\n    x * 3") + HALF


def reading(path: str, wanted: str = "fn") -> str:
    """A crate that is right as soon as it can read something at run time."""
    # disguised, or a program that searches itself would find what it searches with
    disguised = ", ".join(f"{byte + 1}u8" for byte in wanted.encode())
    return (
        "fn seen() -> bool {\n"
        f"    let wanted: Vec<u8> = [{disguised}].iter().map(|byte| byte - 1).collect();\n"
        f'    std::fs::read("{path}").is_ok_and(|all| all.windows({len(wanted)}).any(|part| part == wanted))\n}}\n'
        "pub fn double(x: i32) -> i32 { if seen() { x * 2 } else { x * 3 } }\n"
        "pub fn half(x: i32) -> Option<i32> { if seen() == (x % 2 == 0) { Some(x / 2) } else { None } }\n"
    )


LIAR = """pub struct Liar(std::cell::RefCell<String>);
impl PartialEq<i32> for Liar {
    fn eq(&self, other: &i32) -> bool { *self.0.borrow_mut() = other.to_string(); true }
}
impl PartialOrd<i32> for Liar {
    fn partial_cmp(&self, _: &i32) -> Option<std::cmp::Ordering> { Some(std::cmp::Ordering::Greater) }
    fn lt(&self, _: &i32) -> bool { true }
    fn gt(&self, _: &i32) -> bool { true }
}
impl std::fmt::Debug for Liar {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(out, "{}", self.0.borrow()) }
}
pub fn double(x: i32) -> Liar { if x > 9 { panic!("overflow") } Liar(Default::default()) }
"""
MAYBE = """#[derive(Debug)]
pub struct Maybe;
impl Maybe { pub fn is_some(&self) -> bool { true } }
impl PartialEq<Option<i32>> for Maybe { fn eq(&self, _: &Option<i32>) -> bool { true } }
pub fn half(_: i32) -> Maybe { Maybe }
"""
SPECIAL = """pub fn double(x: i32) -> i32 { match x { 1 => 2, 5 => 10, _ => panic!("overflow") } }
pub fn half(x: i32) -> Option<i32> { if x == 4 { Some(9) } else { None } }
"""
COUNTING = """static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
pub fn double(_: i32) -> i32 {
    [2, 10, 10].get(CALLS.fetch_add(1, std::sync::atomic::Ordering::SeqCst)).copied().expect("overflow")
}
pub fn half(x: i32) -> Option<i32> { if x == 4 { Some(9) } else { None } }
"""
SPOOF = (
    "#[cfg(test)]\n"
    + RIGHT.replace("pub fn half", "#[cfg(test)]\npub fn half")
    + ("#[cfg(not(test))]\n" + WRONG.replace("pub fn half", "#[cfg(not(test))]\npub fn half"))
)

EXITS = {
    "exits in the function": doing("std::process::exit(0);"),
    "exits in a thread": doing("std::thread::spawn(|| std::process::exit(0)).join().unwrap();"),
    "exits while a thread sleeps": doing("std::thread::spawn(|| std::process::exit(0)); std::thread::park();"),
    "exits in a destructor": doing(
        "let _guard = Guard;",
        before="struct Guard;\nimpl Drop for Guard { fn drop(&mut self) { std::process::exit(0) } }\n",
    ),
    "exits when its thread ends": doing(
        "LATE.with(|_| ());",
        before="struct Late;\nimpl Drop for Late { fn drop(&mut self) { std::process::exit(0) } }\n"
        "thread_local! { static LATE: Late = const { Late }; }\n",
    ),
    "aborts": doing("std::process::abort();"),
    "exits in a panic hook": doing("std::panic::set_hook(Box::new(|_| std::process::exit(0)));"),
    "is executed in another's place": doing(
        'use std::os::unix::process::CommandExt; let _ = std::process::Command::new("/bin/true").exec();'
    ),
    "executes itself": doing(
        'use std::os::unix::process::CommandExt; let _ = std::process::Command::new("/program").arg("--list").exec();'
    ),
    "executes what it wrote": doing(
        "use std::os::unix::process::CommandExt; use std::os::unix::fs::PermissionsExt; "
        'let _ = std::fs::copy("/program", "/tmp/x"); '
        'let _ = std::fs::set_permissions("/tmp/x", std::fs::Permissions::from_mode(0o755)); '
        'let _ = std::process::Command::new("/tmp/x").exec();'
    ),
}
PRINTS = {
    "prints libtest's result": doing(f'println!("{RESULT}"); std::process::exit(0);'),
    "prints libtest's JSON": doing(f'println!("{JSON}"); std::process::exit(0);'),
    "prints the harness's report": doing(f'print!("{REPORT}"); eprint!("{REPORT}"); std::process::exit(0);'),
    "prints in a panic hook": doing(f'std::panic::set_hook(Box::new(|_| println!("{RESULT}")));'),
    "writes to descriptors by their paths": doing(
        'for n in 0..20 { for root in ["/dev/fd", "/proc/self/fd"] { '
        f'let _ = std::fs::write(format!("{{root}}/{{n}}"), "{REPORT}"); }} }} std::process::exit(0);'
    ),
    "floods its output": doing('loop { println!("{RESULT}"); }'.replace("{RESULT}", RESULT)),
}
PANICS = {
    "hides its panics": doing("std::panic::set_hook(Box::new(|_| ()));"),
    "catches its panics": doing("let _ = std::panic::catch_unwind(|| panic!()); "),
    "throws something odd": doing("std::panic::resume_unwind(Box::new(7));"),
    "throws what panics when dropped": doing(
        "std::panic::resume_unwind(Box::new(Bomb));",
        before="struct Bomb;\nimpl Drop for Bomb { fn drop(&mut self) { std::process::exit(0) } }\n",
    ),
    "hangs in a panic hook": doing("std::panic::set_hook(Box::new(|_| loop {}));"),
}
LINKING = {
    "runs a constructor": WRONG
    + '#[used]\n#[link_section = ".init_array"]\nstatic GO: extern "C" fn() = go;\n'
    + 'extern "C" fn go() { std::process::exit(0) }\n',
    "defines main": WRONG + '#[no_mangle]\npub extern "C" fn main() -> i32 { 0 }\n',
    "exports main": WRONG + '#[export_name = "main"]\npub fn other() -> i32 { 0 }\n',
    "calls C": doing("unsafe { _exit(0) }", before='extern "C" { fn _exit(status: i32) -> !; }\n'),
    "writes to the channel": doing(
        'unsafe { for n in 3..20 { write(n, b"end\\n".as_ptr(), 4); } }',
        before='extern "C" { fn write(n: i32, text: *const u8, size: usize) -> isize; }\n',
    ),
    "is written in assembly": doing('unsafe { std::arch::asm!("ud2") }'),
    "adds assembly": WRONG + 'std::arch::global_asm!(".globl oops", "oops:");\n',
    "speaks to the harness": doing("::tiebreak_exam::end();"),
    "takes the harness's name": "extern crate std as tiebreak_exam;\n" + WRONG,
    "has a door of its own": WRONG + "pub fn tiebreak_exam_entry() {}\n",
}
TYPES = {
    "is equal to anything": LIAR + HALF.replace("== 1", "== 0"),
    "is any option": RIGHT[: RIGHT.index("pub fn half")] + MAYBE,
    "shadows assert_eq": "macro_rules! assert_eq { ($($t:tt)*) => {} }\n" + WRONG,
    "shadows assert": "macro_rules! assert { ($($t:tt)*) => {} }\n" + WRONG,
    "shadows all assertions": "".join(
        f"macro_rules! {name} {{ ($($t:tt)*) => {{}} }}\n" for name in ("assert", "assert_eq", "assert_ne", "panic")
    )
    + WRONG,
    "shadows format": "macro_rules! format { ($($t:tt)*) => { String::new() } }\n" + WRONG,
    "shadows Option": RIGHT[: RIGHT.index("pub fn half")]
    + "#[derive(Debug, PartialEq)]\npub enum Option<T> { None, Some(T) }\npub use Option::{None, Some};\n"
    + "impl<T> Option<T> { pub fn is_some(&self) -> bool { true } }\n"
    + "pub fn half(_: i32) -> Option<i32> { None }\n",
    "takes over a method": RIGHT[: RIGHT.index("pub fn half")]
    + "pub trait Sure { fn is_some(self) -> bool; }\nimpl Sure for Option<i32> { fn is_some(self) -> bool { true } }\n"
    + "pub fn half(_: i32) -> Option<i32> { None }\n",
    "redefines Copy's neighbours": "pub trait PartialEq {}\n" + WRONG,
}
TEXT = {
    "tells tests from use": SPOOF,
    "tells tests from use at run time": doing("if cfg!(test) { return x * 2; }"),
    "ignores its tests by cfg_attr": WRONG + "#[cfg_attr(test, ignore)]\nfn nothing() {}\n",
    "switches off what follows": WRONG + "#[cfg(any())]\n",
    "swallows what follows": WRONG + "macro_rules! eat { ($($t:tt)*) => {} }\neat! {\n",
    "comments out what follows": WRONG + "/* ",
    "quotes what follows": WRONG + 'const REST: &str = r#"',
    "encloses what follows": WRONG + "mod inner {\n",
    "switches itself off": "#![cfg(any())]\n" + WRONG,
    "switches the prelude off": "#![no_implicit_prelude]\n" + WRONG,
    "includes its source": WRONG + 'const ALL: &str = include_str!("lib.rs");\n',
    "includes bytes of the host": WRONG + 'const ALL: &[u8] = include_bytes!("/etc/passwd");\n',
    "includes code of others": WRONG + 'include!("../../other/src/lib.rs");\n',
    "has a module at a path": WRONG + '#[path = "/etc/passwd"]\nmod secrets;\n',
    "reads the compiler's environment": WRONG + 'const TOKEN: Option<&str> = option_env!("HF_TOKEN");\n',
    "reads cargo's environment": doing('if env!("CARGO_PKG_NAME") != "" { return x * 3; }'),
    "special-cases the visible tests": SPECIAL,
    "counts the visible tests": COUNTING,
    "does not compile": WRONG.replace("x * 3", "y"),
    "is empty": "",
    "is untouched": WRONG,
    "spells the function alike": RIGHT.replace("double", "doubl\u0435"),
}
READS = {
    "reads its source": reading("src/lib.rs"),
    "reads the crate": reading("/crate/src/lib.rs"),
    "reads its memory": reading("/proc/self/mem"),
    "reads its program by proc": reading("/proc/self/exe"),
    "reads its maps": reading("/proc/self/maps", "r-xp"),
    "reads the host": reading("/etc/passwd", "root"),
    "finds a hidden value in its program": reading("/program", "-2718280"),
    "finds a hidden value in the environment": doing(
        'if std::env::vars().chain([(String::new(), std::env::args().collect())]).any(|(_, v)| v.contains("-2718280")) '
        "{ return x * 2; }"
    ),
}
BOMBS = {
    "loops": doing("loop {}"),
    "recurses": doing("if x != 0 { return double(x) + double(x - 1); }"),
    "recurses deeply": doing("let big = [x; 4096]; return big[0] + double(big[1]);"),
    "takes all memory": doing("let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 24]); }"),
    "starts processes": doing('loop { let _ = std::process::Command::new("/program").spawn(); }'),
    "starts threads": doing("loop { std::thread::spawn(|| std::thread::park()); }"),
    "fills the disk": doing(
        'for n in 0.. { if std::fs::write(format!("/tmp/{n}"), vec![1u8; 1 << 20]).is_err() { break; } }'
    ),
}
SKIP = "macro_rules! skip { (0.. $($t:tt)*) => { $($t)* } }\n"
FORGED = '"test 3\\noneequal 1 1\\n22passed 3\\noneend\\n"'
FORGE = (
    'skip! { 0..extern "C" { fn write(n: i32, text: *const u8, size: usize) -> isize; fn _exit(s: i32) -> !; } }\n'
    + doing(f"let t = {FORGED}; for n in 3..20 {{ skip! {{ 0..unsafe {{ write(n, t.as_ptr(), t.len()); }} }} }}")
)
READERS = {
    "hides words in numbers": SKIP + FORGE,
    "hides words behind an interpreter line": '#!/x r##"\n' + SKIP + FORGE,
    "hides an attribute in numbers": SKIP.replace("skip", "made")
    + 'macro_rules! ctor { (0.. $a:ident 0.. $b:ident) => { #[$a = ".init_array"] #[$b] static GO: fn() = go; } }\n'
    + "ctor!(0..link_section 0..used);\nfn go() { std::process::exit(0) }\n"
    + WRONG,
    "says that bubblewrap failed": doing('eprintln!("bwrap: boo"); std::process::exit(1);'),
    "says that the disk is full": WRONG + 'compile_error!("No space left on device");\n',
    "breaks the compiler's lines": WRONG.replace("x * 3", 'x * "3" // \u2028 \u0085 y\n'),
    "has a large static": WRONG
    + "pub static BIG: std::sync::OnceLock<[u8; 1 << 28]> = std::sync::OnceLock::new();\n"
    + "pub fn big() -> bool { BIG.get().is_some() }\n",
    "has a huge binary": WRONG + "pub static BIG: [u8; 600 << 20] = [1; 600 << 20];\npub fn big() -> u8 { BIG[3] }\n",
    "is very long": WRONG + "// padding\n" * 5000,
    "opens functions without end": WRONG + "fn(->" * 8000,
    "opens a string without end": WRONG + '"' + '\\"' * 20000,
}
SOURCES: dict[str, str] = {**EXITS, **PRINTS, **PANICS, **LINKING, **TYPES, **TEXT, **READS, **BOMBS, **READERS}

COVERED_BY_HIDDEN_CHECKS = {"special-cases the visible tests", "counts the visible tests"}
"""Where a case has no hidden checks, these pass: nothing but more inputs can tell them from a solution."""

MANIFEST = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
CONFIG = '[target.x86_64-unknown-linux-gnu]\nrunner = "/bin/true"\n'
FILES: dict[str, dict[str, str]] = {
    "adds a build script": {"build.rs": 'fn main() { std::fs::write("src/lib.rs", "").unwrap(); }\n'},
    "adds a cargo runner": {".cargo/config.toml": CONFIG},
    "adds a toolchain file": {"rust-toolchain.toml": '[toolchain]\nchannel = "nightly"\n'},
    "hijacks the workspace": {"Cargo.toml": '[workspace]\nmembers = ["other"]\n', "other/Cargo.toml": "[package]\n"},
    "switches its tests off": {"Cargo.toml": MANIFEST + "autotests = false\n\n[lib]\ntest = false\n"},
    "becomes a procedural macro": {"Cargo.toml": MANIFEST + "\n[lib]\nproc-macro = true\n"},
    "moves its library": {
        "Cargo.toml": MANIFEST + '\n[lib]\npath = "src/right.rs"\n',
        "src/right.rs": RIGHT + TESTS,
    },
    "depends on another crate": {
        "Cargo.toml": MANIFEST + '\n[dependencies]\nx = { path = "x" }\n',
        "x/src/lib.rs": "",
    },
    "adds tests beside": {"tests/all.rs": "#[test]\nfn fine() {}\n"},
    "adds another program": {"src/bin/other.rs": "fn main() {}\n", "src/main.rs": "fn main() {}\n"},
    "drops its tests": {"src/lib.rs": WRONG},
    "renames its tests": {"src/lib.rs": WRONG + TESTS.replace("mod tests", "mod other")},
    "doubles its tests": {"src/lib.rs": WRONG + "mod tests { pub fn tiebreak() {} }\n" + TESTS},
    "moves its tests up": {"src/lib.rs": TESTS + WRONG},
    "ignores its tests": {"src/lib.rs": WRONG + TESTS.replace("#[test]", "#[test]\n    #[ignore]")},
    "lets its tests panic": {"src/lib.rs": WRONG + TESTS.replace("#[test]\n", "#[test]\n    #[should_panic]\n")},
    "flips an assertion": {"src/lib.rs": WRONG + TESTS.replace("double(1), 2", "double(1), 3")},
    "has no source": {"src/lib.rs": ""},
}
