"""Documents with claims in them: rendered anew, and searched for numbers that somebody typed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.errors import DataError

CLAIM = re.compile(r"<!-- claim:(?P<name>[\w.-]+) -->(?P<text>.*?)<!-- /claim -->", re.DOTALL)
BLOCK = re.compile(r"(?P<open><!-- block:(?P<name>[\w.-]+)[^>]*-->\n)(?P<text>.*?)(?P<close><!-- /block -->)", re.S)
SECTION = re.compile(r"<!-- results -->.*?<!-- /results -->", re.DOTALL)
OPENED = re.compile(r"<!-- (claim|block|results)\b")
CLOSED = re.compile(r"<!-- /(claim|block|results) -->")
LOOSE = re.compile(r"<!--\s*/?\s*(claim|block|results)\b[^>]*-->", re.IGNORECASE)
NO_PROSE = re.compile(r"<!--.*?-->|`[^`\n]*`|\]\([^)\n]*\)", re.DOTALL)
VALUE = re.compile(r"`[^`/:()\n]*`")  # no command, path or call: a value in backticks is prose
NUMBER = re.compile(r"(?<![^\W_])(?<![^\W_]_)(?<![@.,])[+−-]?[.,]?\d[\d.,]*(?<![.,])|[¼½¾⅓⅔⅛]")


@dataclass(frozen=True)
class Problem:
    """Something that is wrong in a document: where, with what, and what was found and expected."""

    line: int
    name: str
    found: str
    expected: str


def refuse_torn(text: str, document: str) -> None:
    """Raises DataError, naming the line, for marks that are not closed or not nested as they should be."""
    whole = [match.span() for pattern in (CLAIM, BLOCK, SECTION) for match in pattern.finditer(text)]
    starts, ends = {start for start, _ in whole}, {end for _, end in whole}
    torn = [match for match in OPENED.finditer(text) if match.start() not in starts]
    torn += [match for match in CLOSED.finditer(text) if match.end() not in ends]
    torn += [match for match in LOOSE.finditer(text) if not (OPENED.match(match[0]) or CLOSED.fullmatch(match[0]))]
    if torn:
        place = line_of(text, torn[0].start())
        raise DataError(
            f"{document}:{place}: {torn[0][0]}: this mark has no partner; a claim ends with <!-- /claim -->"
        )


def line_of(text: str, offset: int) -> int:
    """The number of the line at an offset."""
    return text.count("\n", 0, offset) + 1


def stale(text: str, claims: Mapping[str, str], blocks: Mapping[str, str]) -> list[Problem]:
    """The marks whose text is not what the artifacts say; a name that nobody knows has no expected text."""
    found = []
    for pattern, known, kind in ((CLAIM, claims, "claim"), (BLOCK, blocks, "block")):
        for match in pattern.finditer(text):
            expected = known.get(match["name"])
            if match["text"] != expected:
                said = "nothing: no such name in the list, or it is retired" if expected is None else expected
                found.append(Problem(line_of(text, match.start()), f"{kind} {match['name']}", match["text"], said))
    return sorted(found, key=line_of_problem)


def line_of_problem(problem: Problem) -> int:
    """For sorting."""
    return problem.line


def rendered(text: str, claims: Mapping[str, str], blocks: Mapping[str, str]) -> str:
    """The document with all known claims and blocks as the artifacts say."""

    def claim(match: re.Match[str]) -> str:
        said = claims.get(match["name"], match["text"])
        return f"<!-- claim:{match['name']} -->{said}<!-- /claim -->"

    def block(match: re.Match[str]) -> str:
        return f"{match['open']}{blocks.get(match['name'], match['text'])}{match['close']}"

    return BLOCK.sub(block, CLAIM.sub(claim, text))


def typed(text: str) -> list[Problem]:
    """Numbers by hand in the results sections: outside claims and blocks, code and the targets of links.

    A digit that belongs to a name, as in pass@8 or p95, is no number.
    """
    blank = text
    for pattern in (CLAIM, BLOCK, NO_PROSE):
        blank = pattern.sub(lambda match: match[0] if VALUE.fullmatch(match[0]) else blanked(match), blank)
    return [
        Problem(line_of(text, match.start()), "a number by hand", match[0], "a claim: <!-- claim:NAME -->")
        for section in SECTION.finditer(text)
        for match in NUMBER.finditer(blank, section.start(), section.end())
    ]


def blanked(match: re.Match[str]) -> str:
    """Spaces in place of a match, so that everything else keeps its place."""
    return re.sub(r"[^\n]", " ", match[0])


def named(text: str) -> set[str]:
    """The claims that a document makes."""
    return {match["name"] for match in CLAIM.finditer(text)}


def blocks_of(text: str) -> set[str]:
    """The blocks that a document holds."""
    return {match["name"] for match in BLOCK.finditer(text)}
