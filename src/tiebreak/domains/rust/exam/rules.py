"""What the text of a solution may not hold, judged by its words alone.

Some words reach outside the program or around the compiler's guarantees. A crate without hidden checks has its visible
tests as its only witnesses, so there what those tests look at keeps its form as well.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from tiebreak.domains.rust.exam.harness import MARK
from tiebreak.domains.rust.exam.tests_part import STANDARD
from tiebreak.domains.rust.lexer import tokens

LONGEST = 50_000  # characters; a crate of this domain has some hundreds to some thousands
REACHING = frozenset("unsafe extern no_mangle link_section export_name proc_macro".split())
MACROS = frozenset("include include_str include_bytes env option_env asm global_asm naked_asm".split())
ATTRIBUTES = frozenset("path link".split())
SHEBANG = re.compile(r"\ufeff?#!(?!\s*\[)")
COMPARING = frozenset("PartialEq Eq PartialOrd Ord".split())
PRELUDE = frozenset(
    "std core alloc Option Some None Result Ok Err String Vec Box ToString ToOwned Clone Copy Iterator IntoIterator "
    "Extend DoubleEndedIterator ExactSizeIterator Default From Into TryFrom TryInto FromIterator AsRef AsMut Drop Fn "
    "FnMut FnOnce Debug Display bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64".split()
)
DEFINING = frozenset("struct enum union trait type mod const static as".split())

Finder = Callable[[list[str]], Iterator[str]]


def refusals(code: str, allowed: Sequence[str], *, hidden: bool) -> list[str]:
    """Why a solution's non-test code is refused unseen.

    allowed: the sources whose words and forms it may use (pristine and reference). hidden: whether hidden checks exist.
    """
    if len(code) > LONGEST:
        return [f"its code has {len(code):,} characters, at most {LONGEST:,} are examined"]
    if SHEBANG.match(code):
        return ["its first line is an interpreter line, which the compiler drops and a reader does not"]
    if MARK in code:
        return [f"an identifier holds {MARK!r}, which is the examiner's"]
    words, known = list(tokens(code)), [list(tokens(text)) for text in allowed]
    found = [f"it uses `{word}`, which the crate does not" for word in sorted(_new(_reaching, words, known))]
    if not hidden:
        found += [f"it writes {name} by hand" for name in sorted(_new(_comparisons, words, known))]
        found += [f"it adds the trait {name}" for name in sorted(_new(_traits, words, known))]
        found += [f"it gives {name} another meaning" for name in sorted(_new(_shadows, words, known))]
        found += [f"fn {name} returns another type" for name in sorted(_retyped(words, known))]
    return found


def _new(what: Finder, words: list[str], known: Sequence[list[str]]) -> set[str]:
    return set(what(words)).difference(*(what(other) for other in known))


def _reaching(words: list[str]) -> Iterator[str]:
    inside = False  # an attribute, also one in a macro's body
    for index, word in enumerate(words):
        plain, following = word.removeprefix("r#"), words[index + 1 : index + 2]
        opens = word == "[" and (words[index - 1 : index] == ["#"] or words[max(0, index - 2) : index] == ["#", "!"])
        inside = opens or (inside and word != "]")
        if plain in REACHING or (plain in MACROS and following == ["!"]) or (plain in ATTRIBUTES and inside):
            yield plain


def _comparisons(words: list[str]) -> Iterator[str]:
    """`PartialEq for Type`, as in an `impl` header; derives have no `for`."""
    pending = False
    for index, word in enumerate(words[:-1]):
        pending = word == "impl" or (pending and word not in ("{", "}", ";"))
        if word == "for" and pending and (name := _before(words, index)) in COMPARING:
            yield f"{name} for {words[index + 1]}"


def _before(words: list[str], index: int) -> str:
    """The last name of the path before a place, its generic arguments left out."""
    depth, at = 0, index - 1
    while at >= 0 and (depth or words[at] == ">"):
        depth += {">": 1, "<": -1}.get(words[at], 0)
        at -= 1
    return words[at] if at >= 0 else ""


def _traits(words: list[str]) -> Iterator[str]:
    return (words[index + 1] for index, word in enumerate(words[:-1]) if word == "trait")


def _shadows(words: list[str]) -> Iterator[str]:
    importing = False
    for index, word in enumerate(words[:-1]):
        name = words[index + 1]
        importing = word == "use" or (importing and word != ";")
        renames = word != "as" or importing  # else it converts a value
        pointer = word == "const" and words[max(0, index - 1)] == "*"
        if word in DEFINING and name in PRELUDE and renames and not pointer:
            yield name
        if word == "macro_rules" and words[index + 2 : index + 3] and words[index + 2] in STANDARD:
            yield f"{words[index + 2]}!"


def _retyped(words: list[str], known: Sequence[list[str]]) -> set[str]:
    """Functions of the crate whose return type is that of none of their forms in `known`."""
    forms: dict[str, set[tuple[str, ...]]] = {}
    for other in known:
        for name, returned in _returns(other):
            forms.setdefault(name, set()).add(returned)
    return {
        name
        for name, returned in _returns(words)
        if name in forms and returned not in forms[name] and "Self" not in returned
    }


def _returns(words: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(function, the words of its return type) of each function."""
    header: list[str] | None = None
    for word in [*words, ";"]:
        if header is not None and word in ("{", ";", "where"):
            yield from [(header[0], _returned(header))] if header else []
            header = None
        elif word == "fn" and not header:
            header = []
        elif header is not None:
            header.append(word)


def _returned(header: list[str]) -> tuple[str, ...]:
    """The type behind the arrow that stands outside the parameters (`fn(i32) -> i32` may be the type of one)."""
    depth = 0
    for at, word in enumerate(header):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and header[at : at + 2] == ["-", ">"]:
            return tuple(_plain_path(header[at + 2 :]))
    return ()


def _plain_path(words: list[str]) -> Iterator[str]:
    """Words of a type without the paths before names: `fmt::Result` is `Result` by another import."""
    for index, word in enumerate(words):
        if word != ":" and words[index + 1 : index + 3] != [":", ":"]:
            yield word
