"""Templates of places among rows: the place of one, where a new one goes."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import OPERATORS, join, wrong_signs
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick, some

Pair = tuple[str, int]


def pairs(rng: Random, low: int, high: int) -> list[Pair]:
    """Rows of a name and a number, often with equal numbers."""
    base = rng.randint(2, 90)
    return [(name, base + rng.choice((0, 0, 1, 3))) for name in some(rng, "people", rng.randint(low, high))]


def place_of(rng: Random) -> Sketch:
    """The place of one name among scores; equals share their best or their worst place."""
    (own, ahead), key, low = some(rng, "keys", 2), pick(rng, "nouns"), rng.random() < 0.5
    best = rng.random() < 0.5
    sign = ("<" if low else ">") + ("" if best else "=")
    name, add = f"{rng.choice(('place', 'rank'))}_of_{key}", 1 if best else 0

    def twin_of(sign: str = sign, add: int = add, same: bool = True) -> Twin:
        def twin(rows: list[Pair], who: str) -> Some | None:
            found = [n for name, n in rows if (name == who) == same]
            return Some(sum(OPERATORS[sign](n, found[0]) for _, n in rows) + add) if found else None

        return twin

    find = f"    let {own} = rows.iter().find(|{key}| {key}.0 == who)?.1;"
    loop = rng.random() < 0.5
    test = (
        f"        if {key}.1 {sign} {own} {{"
        if loop
        else f"    let {ahead} = rows.iter().filter(|{key}| {key}.1 {sign} {own}).count();"
    )
    begin = f"    let mut {ahead} = {add};"
    last = f"    Some({ahead})" if loop or not add else f"    Some({ahead} + 1)"
    walk = (begin, f"    for {key} in rows {{", test, f"            {ahead} += 1;", "        }", "    }")
    ends = (
        [("operator", f"({ahead}", f"({ahead} + 2", twin_of(add=add + 2))]
        if loop or not add
        else [
            ("operator", f"{ahead} + 1", ahead, twin_of(add=0)),
            ("operator", f"{ahead} + 1", f"{ahead} + 2", twin_of(add=2)),
        ]
    )
    starts = (
        [
            site(
                begin,
                ("start", f"= {add}", f"= {1 - add}", twin_of(add=1 - add)),
                ("start", f"= {add}", "= 2", twin_of(add=2)),
                ("mutability", "let mut", "let", None),
            )
        ]
        if loop
        else []
    )
    most, share = "smallest" if low else "largest", "best" if best else "worst"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(rows: &[(&str, i32)], who: &str) -> Option<usize> {{",
            find,
            *(walk if loop else (test,)),
            last,
            "}",
        ),
        doc=f"The place of a name, the {most} first; equals share the {share} of their places.",
        vague=f"The place of a name, the {most} first.",
        task=f"give the place of a name, the {most} first, where equals share the {share} place",
        sites=(
            join(
                wrong_signs(test, sign, lambda other: twin_of(sign=other)),
                site(
                    test,
                    ("condition", f" {sign} ", " == ", lambda rows, who: _equals(rows, who, add)),
                    ("field", f"{key}.1", f"{key}.0", None),
                    ("type", f" {own}", f" &{own}", None),
                ),
            ),
            site(
                find,
                ("condition", "==", "!=", twin_of(same=False)),
                ("field", f"{key}.0", f"{key}.1", None),
                ("type", "?", "", None),
                ("borrow", "== who", "== *who", None),
            ),
            site(last, *ends, ("type", "Some(", "Ok(", None)),
            *starts,
        ),
        twin=twin_of(),
        sample=lambda rng: _with_one(rng),
    )


def _equals(rows: list[Pair], who: str, add: int) -> Some | None:
    own = dict(rows).get(who)
    return None if own is None else Some(sum(n == own for _, n in rows) + add)


def _with_one(rng: Random) -> tuple[list[Pair], str]:
    rows = pairs(rng, 3, 4)
    return rows, rng.choice([*(row[0] for row in rows), *some(rng, "people", 1)])


def insertion(rng: Random) -> Sketch:
    """A sorted list with one row more, before or after its equals."""
    (place, list_), key, thing = some(rng, "keys", 2), pick(rng, "nouns"), pick(rng, "things")
    low, after = rng.random() < 0.5, rng.random() < 0.5
    name = f"{rng.choice(('insert', 'enter', 'place'))}_{thing}"

    def twin_of(low: bool = low, after: bool = after, shift: int = 0) -> Twin:
        def twin(rows: list[Pair], new: Pair) -> list[str]:
            stop = {(True, True): ">", (True, False): ">=", (False, True): "<", (False, False): "<="}[low, after]
            found = next((i for i, row in enumerate(rows) if OPERATORS[stop](row[1], new[1])), len(rows))
            names = [row[0] for row in rows]
            if found + shift > len(rows):
                raise IndexError
            return [*names[: found + shift], new[0], *names[found + shift :]]

        return twin

    stop = (">" if low else "<") + ("" if after else "=")
    turned = {"<": ">", ">": "<"}
    if rng.random() < 0.5:
        test = f"    let {place} = rows.iter().position(|{key}| {key}.1 {stop} new.1).unwrap_or(rows.len());"
        body: tuple[str, ...] = (test,)
        shown = stop
    else:
        shown = ("<" if low else ">") + ("=" if after else "")
        test = f"    while {place} < rows.len() && rows[{place}].1 {shown} new.1 {{"
        body = (f"    let mut {place} = 0;", test, f"        {place} += 1;", "    }")
    equal = shown[0] if len(shown) == 2 else shown + "="
    put, copy = (
        f"    {list_}.insert({place}, new.0);",
        f"    let mut {list_}: Vec<&str> = rows.iter().map(|{key}| {key}.0).collect();",
    )
    head = f"pub fn {name}<'a>(rows: &[(&'a str, i32)], new: (&'a str, i32)) -> Vec<&'a str> {{"
    end: list[Any] = [
        (
            "swapped",
            f"({place}, new.0)",
            f"(rows.len() - {place}, new.0)",
            lambda rows, new: _from_end(rows, new, twin_of),
        )
    ]
    return Sketch(
        name=name,
        code=lines("DOC", head, copy, *body, put, f"    {list_}", "}"),
        doc=f"Puts a row into {'rising' if low else 'falling'} rows, {'after' if after else 'before'} its equals.",
        vague=f"Puts a row into {'rising' if low else 'falling'} rows.",
        task=f"put a row into {'rising' if low else 'falling'} rows, {'after' if after else 'before'} its equals",
        sites=(
            site(
                test,
                ("tie", f".1 {shown} ", f".1 {equal} ", twin_of(after=not after)),
                ("direction", f".1 {shown} ", f".1 {turned[shown[0]]}{shown[1:]} ", twin_of(low=not low)),
                ("direction", f".1 {shown} ", f".1 {turned[shown[0]]}{equal[1:]} ", twin_of(not low, not after)),
                ("field", "new.1", "new.0", None),
                ("type", "new.1", "new", None),
            ),
            site(
                put,
                ("constant", f"({place},", "(0,", lambda rows, new: [new[0], *(row[0] for row in rows)]),
                ("index", f"({place},", f"({place} + 1,", twin_of(shift=1)),
                ("swapped", f"{place}, new.0", f"new.0, {place}", None),
                ("type", "new.0", "new", None),
                *end,
            ),
            site(copy, ("mutability", "let mut", "let", None), ("type", f"{key}.0", key, None)),
            site(
                head,
                ("lifetime", "new: (&'a str", "new: (&str", None),
                ("lifetime", "rows: &[(&'a str", "rows: &[(&str", None),
                ("lifetime", "-> Vec<&'a str>", "-> Vec<&str>", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: _sorted_and_one(rng, low),
    )


def _from_end(rows: list[Pair], new: Pair, twin_of: Any) -> list[str]:
    place = len(rows) - twin_of()(rows, new).index(new[0])
    names = [row[0] for row in rows]
    return [*names[:place], new[0], *names[place:]]


def _sorted_and_one(rng: Random, low: bool) -> tuple[list[Pair], Pair]:
    rows = pairs(rng, 4, 4)
    return sorted(rows[1:], key=lambda row: row[1] if low else -row[1]), rows[0]


TEMPLATES = (
    Template("place_of", "sorting_ranking_tiebreaks", place_of),
    Template("insertion", "sorting_ranking_tiebreaks", insertion),
)
