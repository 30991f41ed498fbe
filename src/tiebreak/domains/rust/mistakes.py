"""Mistakes that an agent makes in a patch: a find that misses, a fix that does not help, a fix that does not compile.

All are texts made from a line; whether they fail as meant is for the tools to say.
"""

import re
from collections.abc import Callable
from random import Random

_NUMBER = re.compile(r"(?<![A-Za-z0-9_])\d+(?![A-Za-z_])")
_SIGN = re.compile(r" (<=|>=|==|!=|<|>) ")
_WORD = re.compile(r"[a-z_]{2,}")
_CALCULATION = re.compile(r" (\+=|-=|\+|-|&&|\|\|) ")
_METHOD = re.compile(r"\.(min|max|any|all|find|rfind)\(")
SIGNS = ("<=", ">=", "==", "!=", "<", ">")
OTHER_WAY = {"+=": "-=", "-=": "+=", "+": "-", "-": "+", "&&": "||", "||": "&&"}
OTHER_METHOD = {"min": "max", "max": "min", "any": "all", "all": "any", "find": "rfind", "rfind": "find"}
KEYWORDS = frozenset({"let", "mut", "if", "for", "in", "pub", "fn", "return", "else", "match", "as", "str", "bool"})


def _spliced(line: str, match: re.Match[str], group: int, text: str) -> str:
    return line[: match.start(group)] + text + line[match.end(group) :]


def _other_number(line: str, rng: Random) -> str | None:
    found = list(_NUMBER.finditer(line))
    if not found:
        return None
    match = rng.choice(found)
    value = int(match[0]) + rng.choice((-1, 1, 1, 2))
    return _spliced(line, match, 0, str(max(value, 0)))


def _other_sign(line: str, rng: Random) -> str | None:
    match = _SIGN.search(line)
    return match and _spliced(line, match, 1, rng.choice([sign for sign in SIGNS if sign != match[1]]))


def _other_calculation(line: str, rng: Random) -> str | None:
    match = _CALCULATION.search(line)
    return match and _spliced(line, match, 1, OTHER_WAY[match[1]])


def _other_method(line: str, rng: Random) -> str | None:
    match = _METHOD.search(line)
    return match and _spliced(line, match, 1, OTHER_METHOD[match[1]])


def _other_word(line: str, rng: Random) -> str | None:
    words = [match for match in _WORD.finditer(line) if match[0] not in KEYWORDS]
    if len({match[0] for match in words}) < 2:
        return None
    match = rng.choice(words)
    return _spliced(line, match, 0, rng.choice([word[0] for word in words if word[0] != match[0]]))


def _deeper(line: str, rng: Random) -> str:
    return "    " + line


def _without_a_sign(line: str, rng: Random) -> str | None:
    found = [place for place, sign in enumerate(line) if sign in ";(){}[]"]
    if not found:
        return None
    place = rng.choice(found)
    return line[:place] + line[place + 1 :]


def _misspelt(line: str, rng: Random) -> str | None:
    found = [match for match in _WORD.finditer(line) if match[0] not in KEYWORDS and len(match[0]) > 3]
    if not found:
        return None
    match = rng.choice(found)
    return _spliced(line, match, 0, match[0][:-1])


Change = Callable[[str, Random], str | None]
_WAYS: tuple[Change, ...] = (_other_number, _other_sign, _other_calculation, _other_method)
_MISSES: tuple[Change, ...] = (*_WAYS, _other_word, _deeper)
_BREAKS: tuple[Change, ...] = (_without_a_sign, _misspelt)


def _first(changes: tuple[Change, ...], line: str, rng: Random) -> str | None:
    """The line after the first change, in a drawn order, that applies and changes it."""
    for change in rng.sample(changes, len(changes)):
        changed = change(line, rng)
        if changed is not None and changed != line:
            return changed
    return None


def near_miss(line: str, right: str, text: str, rng: Random) -> str:
    """A `find` close to `line` that does not stand in `text`: some slip, or the line as it ought to be."""
    tries = [right, *(_first(_MISSES, line, rng) for _ in range(4))]
    rng.shuffle(tries)
    misses = [found for found in tries if found and found not in text]
    return misses[0] if misses else "    " + line


def wrong_fix(line: str, right: str, rng: Random) -> str | None:
    """A replacement close to `right` that is neither it nor `line`, None where no change applies."""
    tries = [_first(_WAYS, base, rng) for base in (right, line, right)]
    return next((found for found in tries if found and found not in (line, right)), None)


def broken_fix(line: str, right: str, rng: Random) -> str | None:
    """A slip in `right` that should not compile, None where no change applies."""
    found = _first(_BREAKS, right, rng)
    return None if found == line else found
