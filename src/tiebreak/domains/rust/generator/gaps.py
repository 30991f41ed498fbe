"""A template of the gaps between bookings."""

from itertools import pairwise
from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import EQUALS, OPERATORS
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick

Slot = tuple[int, int]


def gaps(rng: Random) -> Sketch:
    """The longest gap between bookings, their sum, how many are long enough, or where the first one begins."""
    way, word, thing = rng.choice(("longest", "sum", "count", "first")), pick(rng, "keys"), pick(rng, "things")
    need, near, noun = rng.randint(2, 5), rng.randint(10, 80), pick(rng, "nouns")
    sign = rng.choice((">", ">="))
    name, flip = f"{rng.choice(('free', 'idle', 'open'))}_{noun}", EQUALS[sign]

    def twin_of(
        sign: str = sign,
        need: int = need,
        way: str = way,
        ordered: bool = True,
        begun: int = 0,
        fields: tuple[int, int] = (0, 1),
        floor: bool = True,
        add: int = 0,
        give: str = "end",
    ) -> Twin:
        def twin(rows: list[Slot]) -> Any:
            rows = sorted(rows) if ordered else rows
            found = [(a, b[fields[0]] - a[fields[1]] + add) for a, b in pairwise(rows)]
            long = [(row, gap) for row, gap in found if OPERATORS[sign](gap, need)]
            if way == "first":
                return Some({"end": long[0][0][1], "begin": long[0][0][0], "pause": long[0][1]}[give]) if long else None
            gaps = [gap for _, gap in found]
            positive = [max(0, gap) for gap in gaps]
            ways = {
                "longest": max([begun, *gaps]),
                "shortest": min([begun, *gaps]),
                "sum": begun + sum(positive if floor else gaps),
                "count": begun + len(long),
                "last": gaps[-1] if gaps else begun,
                "all": begun + len(found),
            }
            return ways[way]

        return twin

    copy, order = f"    let mut {thing} = rows.to_vec();", f"    {thing}.sort();"
    gap = f"        let pause = {noun}[1].0 - {noun}[0].1;"
    loop, begin = f"    for {noun} in {thing}.windows(2) {{", f"    let mut {word} = 0;"
    test = f"        if pause {sign} {need} {{"
    tests: list[Change] = [
        ("strictness", f" {sign} ", f" {flip} ", twin_of(flip)),
        ("direction", f" {sign} ", " < ", twin_of("<")),
        ("direction", f" {sign} ", " <= ", twin_of("<=")),
        ("constant", f" {need} ", f" {need + 1} ", twin_of(need=need + 1)),
        ("constant", f" {need} ", f" {need - 1} ", twin_of(need=need - 1)),
        ("type", f" {need} ", f" &{need} ", None),
    ]
    if way == "longest":
        line = f"        {word} = {word}.max(pause);"
        body, kind = [begin, loop, gap, line, "    }", f"    {word}"], "i32"
        sites = [
            site(
                line,
                ("method", "max", "min", twin_of(way="shortest")),
                ("method", f"{word}.max(pause)", "pause", twin_of(way="last")),
                ("operator", f"= {word}.max(pause)", "+= pause", twin_of(way="sum", floor=False)),
                ("type", "(pause)", f"({noun})", None),
            )
        ]
    elif way == "sum":
        line = f"        {word} += pause.max(0);"
        body, kind = [begin, loop, gap, line, "    }", f"    {word}"], "i32"
        sites = [
            site(
                line,
                ("method", ".max(0)", "", twin_of(floor=False)),
                ("operator", "+= pause.max(0)", f"= {word}.max(pause)", twin_of(way="longest")),
                ("method", "max", "min", lambda rows: _negative(rows)),
                ("type", "pause.max(0)", "pause.max()", None),
            )
        ]
    elif way == "count":
        line = f"            {word} += 1;"
        body, kind = [begin, loop, gap, test, line, "        }", "    }", f"    {word}"], "usize"
        sites = [
            site(test, *tests),
            site(
                line,
                ("operator", "+= 1", "+= 2", lambda rows: 2 * twin_of()(rows)),
                ("operator", "+= 1", "= 1", lambda rows: min(1, twin_of()(rows))),
                ("type", "1", "pause", None),
            ),
        ]
    else:
        line = f"            return Some({noun}[0].1);"
        body, kind = [loop, gap, test, line, "        }", "    }", "    None"], "Option<i32>"
        sites = [
            site(test, *tests),
            site(
                line,
                ("index", "[0].1", "[0].0", twin_of(give="begin")),
                ("field", f"{noun}[0].1", "pause", twin_of(give="pause")),
                ("type", f"Some({noun}[0].1)", f"{noun}[0].1", None),
            ),
        ]
    if way != "first":
        sites.append(
            site(
                begin,
                ("start", "0", "1", twin_of(begun=1)),
                ("start", "0", f"{need}", twin_of(begun=need)),
                ("mutability", "let mut", "let", None),
            )
        )
    long = f"{'at least' if sign == '>=' else 'more than'} {need}"
    does = {
        "longest": "The longest gap between bookings",
        "sum": "The time, in all, between bookings",
        "count": f"How many gaps between bookings are {long}",
        "first": f"The start of the first gap of {long} between bookings",
    }[way]
    short = {
        "longest": does,
        "sum": does,
        "count": "How many gaps between bookings are long",
        "first": "The start of the first long gap between bookings",
    }[way]
    return Sketch(
        name=name,
        code=lines("DOC", f"pub fn {name}(rows: &[(i32, i32)]) -> {kind} {{", copy, order, *body, "}"),
        doc=f"{does}, which come in any order.",
        vague=f"{short}, which come in any order.",
        task=f"tell {does[0].lower()}{does[1:]}",
        sites=(
            *sites,
            site(
                gap,
                ("index", "[1].0", "[1].1", twin_of(fields=(1, 1))),
                ("index", "[0].1", "[0].0", twin_of(fields=(0, 0))),
                ("operator", ";", " + 1;", twin_of(add=1)),
                ("operator", ";", " - 1;", twin_of(add=-1)),
                ("type", f"{noun}[1].0", f"{noun}[1]", None),
            ),
            site(
                order,
                ("method", ".sort()", ".reverse()", lambda rows: twin_of(ordered=False)(rows[::-1])),
                ("type", ".sort()", ".order()", None),
            ),
            site(
                copy,
                ("mutability", "let mut", "let", None),
                ("borrow", "rows.to_vec()", "rows", None),
                ("type", "rows.to_vec()", "*rows", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (_apart(rng, near, need),),
    )


def _negative(rows: list[Slot]) -> int:
    rows = sorted(rows)
    return sum(min(0, b[0] - a[1]) for a, b in pairwise(rows))


def _apart(rng: Random, near: int, need: int) -> list[Slot]:
    at, found = near, []
    for _ in range(rng.randint(2, 4)):
        end = at + rng.randint(1, 6)
        found.append((at, end))
        at = max(at + 1, end + need + rng.choice((-need, -1, 0, 0, 1, 2, -need - 1)))
    rng.shuffle(found)
    return found


TEMPLATES = (Template("gaps", "interval_overlap_booking", gaps),)
