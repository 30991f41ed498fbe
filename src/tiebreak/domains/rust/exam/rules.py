"""What the text of a solution may not hold, judged by its words alone.

Some words reach outside the program or around the compiler's guarantees. A crate without hidden checks has its visible
tests as its only witnesses, so there what those tests look at keeps its form as well.
"""

from collections.abc import Callable, Iterator, Sequence

from tiebreak.domains.rust.exam.harness import MARK
from tiebreak.domains.rust.exam.tests_part import STANDARD
from tiebreak.domains.rust.lexer import tokens

REACHING = frozenset(
    "unsafe extern include include_str include_bytes option_env asm global_asm naked_asm no_mangle link_section "
    "export_name link proc_macro".split()
)
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
    for index, word in enumerate(words):
        plain = word.removeprefix("r#")
        following = words[index + 1 : index + 2]
        if plain in REACHING or (plain == "env" and following == ["!"]) or (plain == "path" and following == ["="]):
            yield plain


def _comparisons(words: list[str]) -> Iterator[str]:
    """`PartialEq for Type`, as in an `impl` header; derives have no `for`."""
    for index, word in enumerate(words):
        if word == "for" and index + 1 < len(words):
            header = _back_to(words, index, "impl")
            if header is not None and (names := COMPARING & set(words[header:index])):
                yield f"{min(names)} for {words[index + 1]}"


def _back_to(words: list[str], index: int, wanted: str) -> int | None:
    for at in range(index - 1, -1, -1):
        if words[at] == wanted:
            return at
        if words[at] in ("{", "}", ";"):
            return None
    return None


def _traits(words: list[str]) -> Iterator[str]:
    return (words[index + 1] for index, word in enumerate(words[:-1]) if word == "trait")


def _shadows(words: list[str]) -> Iterator[str]:
    for index, word in enumerate(words[:-1]):
        name = words[index + 1]
        if word in DEFINING and name in PRELUDE and not (word == "as" and _is_cast(words, index)):
            yield name
        if word == "macro_rules" and words[index + 2 : index + 3] and words[index + 2] in STANDARD:
            yield f"{words[index + 2]}!"


def _is_cast(words: list[str], index: int) -> bool:
    """Whether an `as` converts a value (`x as u32`) and renames nothing."""
    return _back_to(words, index, "use") is None


def _retyped(words: list[str], known: Sequence[list[str]]) -> set[str]:
    """Functions of the crate whose return type is that of none of their forms in `known`."""
    forms: dict[str, set[tuple[str, ...]]] = {}
    for other in known:
        for name, returned in _returns(other):
            forms.setdefault(name, set()).add(returned)
    return {name for name, returned in _returns(words) if name in forms and returned not in forms[name]}


def _returns(words: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(function, the words of its return type) of each function."""
    for index, word in enumerate(words[:-1]):
        if word == "fn":
            end = next((at for at in range(index, len(words)) if words[at] in ("{", ";", "where")), len(words))
            header = words[index + 1 : end]
            arrows = [at for at in range(len(header) - 1) if header[at : at + 2] == ["-", ">"]]
            depth = _outer(header, arrows)
            yield header[0], tuple(header[depth + 2 :]) if depth is not None else ()


def _outer(header: list[str], arrows: Sequence[int]) -> int | None:
    """The arrow that stands outside the parameters (`fn(i32) -> i32` may be the type of one)."""
    for at in arrows:
        before = header[:at]
        if before.count("(") == before.count(")"):
            return at
    return None
