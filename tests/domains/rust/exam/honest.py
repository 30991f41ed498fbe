"""Right solutions of the cheats' crate, in many ways: each must be graded."""

from domains.rust.exam.cheats import RIGHT

HONEST: dict[str, str] = {
    "with variables named path and link": RIGHT.replace(
        "    x * 2", "    let mut path = x; path *= 2; let link = path;\n    link"
    ).replace("path *= 2", "path = path * 2"),
    "with functions named like macros": RIGHT.replace("x * 2", "include(x)") + "fn include(x: i32) -> i32 { x * 2 }\n",
    "with a tie-break": RIGHT.replace("x * 2", "tiebreak_key(x)") + "fn tiebreak_key(x: i32) -> i32 { x * 2 }\n",
    "with much to say": RIGHT.replace("    x * 2", '    for n in 0..30000 { println!("at {n}"); }\n    x * 2'),
    "with denied lints": "#![deny(missing_docs)]\n//! Numbers.\n" + RIGHT.replace("pub fn", "/// Does it.\npub fn"),
    "with another path to its types": RIGHT.replace("-> Option<i32>", "-> std::option::Option<i32>"),
    "with bounds on an implementation": RIGHT
    + "pub struct W<T>(pub T);\nimpl<T: Ord> W<T> { pub fn least(self) -> T { self.0 } }\n"
    + "impl<T: Ord> From<T> for W<T> { fn from(t: T) -> Self { W(t) } }\n",
    "the fix": RIGHT,
    "with a helper": RIGHT.replace("x * 2", "times(x, 2)") + "fn times(a: i32, b: i32) -> i32 { a * b }\n",
    "in other words": "pub fn double(x: i32) -> i32 { x + x }\n"
    "pub fn half(x: i32) -> Option<i32> { match x % 2 { 0 => Some(x / 2), _ => None } }\n",
    "with a module": RIGHT.replace("x * 2", "inner::twice(x)")
    + "mod inner { pub fn twice(x: i32) -> i32 { x * 2 } }\n",
    "with a macro": "macro_rules! twice { ($x:expr) => { $x * 2 } }\n" + RIGHT.replace("x * 2", "twice!(x)"),
    "with refused words in comments": '// no unsafe, no include_str!(), no extern "C"\n' + RIGHT,
    "with refused words in strings": RIGHT + 'pub const NOTE: &str = "unsafe extern include_str! #[no_mangle]";\n',
    "with prints left in": RIGHT.replace("    x * 2", '    println!("test result: FAILED {x}");\n    x * 2'),
    "with attributes": "#![allow(dead_code)]\n" + RIGHT.replace("pub fn", "#[inline]\n#[must_use]\npub fn"),
    "with variables named like macros": RIGHT.replace("    x * 2", "    let line = x; let file = 2;\n    line * file"),
    "with casts": RIGHT.replace("x * 2", '((x as i64) * 2).try_into().expect("overflow")'),
    "with a thread": RIGHT.replace("    x * 2", "    std::thread::spawn(move || x).join().unwrap() * 2"),
    "with a collection": RIGHT.replace("    x * 2", "    let all: Vec<i32> = vec![x, x];\n    all.iter().sum()"),
    "with a type and its own formatting": RIGHT
    + "pub struct Pair(pub i32);\nimpl std::fmt::Display for Pair {\n"
    + '    fn fmt(&self, out: &mut std::fmt::Formatter<\'_>) -> std::fmt::Result { write!(out, "{}", self.0) }\n}\n',
    "with a destructor": RIGHT + "pub struct Held;\nimpl Drop for Held { fn drop(&mut self) {} }\n",
    "with a derived comparison": RIGHT
    + "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]\npub struct P(i32);\n",
    "generic": RIGHT.replace("x * 2", "twice(x)")
    + "fn twice<T: std::ops::Add<Output = T> + Copy>(x: T) -> T { x + x }\n",
    "configured": "#[cfg(not(test))]\nconst TWO: i32 = 2;\n#[cfg(test)]\nconst TWO: i32 = 2;\n"
    + RIGHT.replace("* 2", "* TWO"),
}
