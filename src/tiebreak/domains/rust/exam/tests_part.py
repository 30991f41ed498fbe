"""A crate's visible tests, rewritten to report what they see: attributes become calls, assertions the harness's.

Understood is what both studies' crates have: one `#[cfg(test)]` module at the end of the file, its `#[test]` functions
directly inside. Anything else is refused by name, never skipped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tiebreak.domains.rust.exam.harness import CRATE
from tiebreak.domains.rust.lexer import Token, spans
from tiebreak.errors import BlueprintError

REPORTING = frozenset("assert assert_eq assert_ne".split())
STANDARD = REPORTING | frozenset(
    "column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne eprint eprintln file format "
    "format_args line matches panic print println stringify thread_local todo unimplemented unreachable vec write "
    "writeln".split()
)


@dataclass(frozen=True)
class Test:
    """A visible test. `panics`: the Rust expression for whether, and with which message, it has to panic."""

    __test__ = False  # pytest would take it for one of its own

    name: str
    panics: str


@dataclass(frozen=True)
class Visible:
    """The tests module of a crate: its name, its rewritten text, and the tests that run."""

    module: str
    text: str
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class _Attribute:
    words: tuple[str, ...]
    first: int  # indices of its first and last token
    last: int


def rewrite(source: str) -> Visible:
    """The tests part of a source (from its `#[cfg(test)]` on), as a module that can be examined.

    BlueprintError where it is not one module with its tests directly inside.
    """
    words = list(spans(source))
    attributes = list(_attributes(words))
    module, opening, closing = _module(words)
    tests = list(_tests(source, words, attributes, opening, closing))
    calls = "".join(f'        ::{CRATE}::test("{test.name}", {test.panics}, {test.name});\n' for test in tests)
    door = f"\n    pub fn {CRATE}_tests() {{\n{calls}    }}\n"
    gone = [item for item in attributes if item.words[0] in ("test", "ignore", "should_panic") or _is_cfg_test(item)]
    edits = [(words[item.first].start, words[item.last].end, "") for item in gone]
    edits += _qualified(words)
    edits.append((words[closing].start, words[closing].start, door))
    return Visible(module, apply(source, edits), tuple(tests))


def qualify(expression: str) -> str:
    """An expression with the standard macros named from the root."""
    return apply(expression, _qualified(list(spans(expression))))


def apply(source: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The source with each (start, end, text) replaced; edits do not overlap."""
    parts, position = [], 0
    for start, end, text in sorted(edits):
        parts += [source[position:start], text]
        position = end
    return "".join([*parts, source[position:]])


def _attributes(words: Sequence[Token]) -> Iterable[_Attribute]:
    index = 0
    while index < len(words):
        if [token.word for token in words[index : index + 2]] == ["#", "["]:
            depth, last = 1, index + 1
            while depth and last + 1 < len(words):
                last += 1
                depth += {"[": 1, "]": -1}.get(words[last].word, 0)
            yield _Attribute(tuple(token.word for token in words[index + 2 : last]) or ("",), index, last)
            index = last
        index += 1


def _is_cfg_test(attribute: _Attribute) -> bool:
    return attribute.words == ("cfg", "(", "test", ")")


def _module(words: Sequence[Token]) -> tuple[str, int, int]:
    """(name, index of its opening brace, index of its closing one) of the one module."""
    texts = [token.word for token in words]
    at = texts.index("mod") if "mod" in texts else len(texts)
    opening = at + 2
    if texts[opening : opening + 1] != ["{"]:
        raise BlueprintError("the tests part is no module with a body; `#[cfg(test)] mod tests { … }` is expected")
    depth = 0
    for index in range(opening, len(texts)):
        depth += {"{": 1, "}": -1}.get(texts[index], 0)
        if depth == 0:
            if index != len(texts) - 1:
                raise BlueprintError(f"`{texts[index + 1]}` follows the tests module; it must be the last in its file")
            return texts[at + 1], opening, index
    raise BlueprintError("the tests module is not closed")


def _tests(
    source: str, words: Sequence[Token], attributes: Sequence[_Attribute], opening: int, closing: int
) -> Iterable[Test]:
    """The tests that run, in order."""
    groups = _groups(words, attributes)
    for group, after in groups:
        if ("test",) not in {item.words for item in group}:
            continue
        texts = [token.word for token in words[after:]]
        at = after + texts.index("fn")
        depth = sum({"{": 1, "}": -1}.get(token.word, 0) for token in words[opening:at])
        if depth != 1 or at > closing:
            raise BlueprintError(f"test {words[at + 1].word} stands deeper than its module; move it directly inside")
        if not any(item.words[0] == "ignore" for item in group):
            yield Test(words[at + 1].word, _panics(source, words, group))


def _groups(words: Sequence[Token], attributes: Sequence[_Attribute]) -> list[tuple[list[_Attribute], int]]:
    """The attributes of each item, with the index of the token after them."""
    groups: list[tuple[list[_Attribute], int]] = []
    for item in attributes:
        if groups and groups[-1][1] == item.first:
            groups[-1] = ([*groups[-1][0], item], item.last + 1)
        else:
            groups.append(([item], item.last + 1))
    return groups


def _panics(source: str, words: Sequence[Token], group: Sequence[_Attribute]) -> str:
    for item in group:
        if item.words[0] == "should_panic":
            texts = [token for token in words[item.first : item.last] if token.word == '""']
            literal = source[texts[0].start : texts[0].end] if texts else ""
            return f"::std::option::Option::Some({_some(literal)})"
    return "::std::option::Option::None"


def _some(literal: str) -> str:
    return f"::std::option::Option::Some({literal})" if literal else "::std::option::Option::None"


def _qualified(words: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Edits that put the root in front of each call of a standard macro that has no path yet."""
    own = {words[index + 2].word for index in range(len(words) - 2) if words[index].word == "macro_rules"}
    edits = []
    for index, token in enumerate(words[:-1]):
        bare = index == 0 or words[index - 1].word != ":"
        if token.word in STANDARD - own and words[index + 1].word == "!" and bare and not _unequal(words, index):
            edits.append((token.start, token.start, f"::{CRATE if token.word in REPORTING else 'std'}::"))
    return edits


def _unequal(words: Sequence[Token], index: int) -> bool:
    """Whether the `!` behind a word belongs to `!=` (`line != 3`)."""
    following = words[index + 2 : index + 3]
    return bool(following) and following[0].word == "=" and following[0].start == words[index + 1].end
