"""A template of the bookings that meet a window, lie inside it or cover it."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.bookings import EDGES, Slot, slots
from tiebreak.domains.rust.generator.compare import OPERATORS
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick

# Relations of a row (a, b) to a window (c, d): what the left and the right part compare, in Rust's names and as places.
RELATIONS: dict[str, tuple[tuple[int, int], tuple[int, int], str]] = {
    "meets": ((0, 3), (2, 1), "share time with"),
    "inside": ((2, 0), (1, 3), "lie inside"),
    "covers": ((0, 2), (3, 1), "cover"),
}


def bookings_in(rng: Random) -> Sketch:
    """How many bookings meet a window, lie inside it or cover it, or the first that does; edges count or not."""
    (one, two), (left, right) = rng.sample(EDGES, 2)
    relation, thing, word = rng.choice(list(RELATIONS)), pick(rng, "things"), pick(rng, "keys")
    first, second, says = RELATIONS[relation]
    edges = [one, two, left, right]
    signs = [rng.choice(("<", "<=")), rng.choice(("<", "<="))]
    near, size, counting, loop = rng.randint(12, 80), rng.randint(2, 6), rng.random() < 0.6, rng.random() < 0.5
    name = f"{thing}_{rng.choice(('in', 'at', 'within'))}_{word}"

    def twin_of(
        signs: list[str] = signs,
        first: tuple[int, int] = first,
        second: tuple[int, int] = second,
        either: bool = False,
        last: bool = False,
        only: int | None = None,
        begun: int = 0,
        step: int = 1,
        give: int = 0,
    ) -> Twin:
        def twin(rows: list[Slot], window: Slot) -> Any:
            fits = []
            for row in rows:
                places = (*row, *window)
                tests = [
                    OPERATORS[sign](places[x], places[y]) for sign, (x, y) in zip(signs, (first, second), strict=True)
                ]
                tests = tests if only is None else [tests[only]]
                fits += [row] if (any(tests) if either else all(tests)) else []
            if counting:
                return begun + step * len(fits)
            return Some(fits[-1 if last else 0][give]) if fits else None

        return twin

    parts = [f"{edges[x]} {sign} {edges[y]}" for sign, (x, y) in zip(signs, (first, second), strict=True)]
    flips = {"<": "<=", "<=": "<"}

    def changed(place: int, sign: str) -> list[str]:
        return [sign if at == place else old for at, old in enumerate(signs)]

    test = (
        f"        if {parts[0]} && {parts[1]} {{"
        if loop
        else f"    let fits = |{one}: i32, {two}: i32| {parts[0]} && {parts[1]};"
    )
    changes: list[Change] = []
    for at, (part, (x, y)) in enumerate(zip(parts, (first, second), strict=True)):
        changes += [
            ("strictness", part, f"{edges[x]} {flips[signs[at]]} {edges[y]}", twin_of(changed(at, flips[signs[at]]))),
            ("direction", part, f"{edges[x]} > {edges[y]}", twin_of(changed(at, ">"))),
        ]
    changes += [
        ("operator", "&&", "||", twin_of(either=True)),
        ("operator", f"{parts[0]} && {parts[1]}", parts[0], twin_of(only=0)),
        ("operator", f"{parts[0]} && {parts[1]}", parts[1], twin_of(only=1)),
        ("type", "&&", "+", None),
    ]
    head = f"pub fn {name}(rows: &[(i32, i32)], window: (i32, i32)) -> {'usize' if counting else 'Option<i32>'} {{"
    sites = [site(test, *changes)]
    if loop and counting:
        begin, add = f"    let mut {word} = 0;", f"            {word} += 1;"
        body = [begin, f"    for &({one}, {two}) in rows {{", test, add, "        }", "    }", f"    {word}"]
        sites += [
            site(
                begin,
                ("start", "0", "1", twin_of(begun=1)),
                ("start", "0", "2", twin_of(begun=2)),
                ("mutability", "let mut", "let", None),
            ),
            site(add, ("operator", "1", "2", twin_of(step=2)), ("type", "1", one, None)),
        ]
    elif loop:
        give = f"            return Some({one});"
        body = [f"    for &({one}, {two}) in rows {{", test, give, "        }", "    }", "    None"]
        sites += [
            site(
                give,
                ("field", one, two, twin_of(give=1)),
                ("type", f"Some({one})", one, None),
            ),
            site(
                f"    for &({one}, {two}) in rows {{",
                ("method", "rows", "rows.iter().rev()", twin_of(last=True)),
                ("borrow", "&(", "&mut (", None),
                ("borrow", "rows", "*rows", None),
            ),
        ]
    else:
        pairs = f"rows.iter().filter(|{word}| fits({word}.0, {word}.1))"
        give = (
            f"    {pairs}.count()"
            if counting
            else f"    rows.iter().find(|{word}| fits({word}.0, {word}.1)).map(|{word}| {word}.0)"
        )
        body = [test, give]
        ends: list[Change] = (
            [("operator", ".count()", ".count() + 1", twin_of(begun=1)), ("type", ".count()", "", None)]
            if counting
            else [
                ("method", "iter()", "iter().rev()", twin_of(last=True)),
                ("type", f"| {word}.0)", f"| {word})", None),
            ]
        )
        swapped: Twin = lambda rows, window: twin_of(give=1)([row[::-1] for row in rows], window)  # noqa: E731
        sites.append(
            site(
                give,
                *ends,
                ("swapped", f"fits({word}.0, {word}.1)", f"fits({word}.1, {word}.0)", swapped),
                ("type", f"fits({word}.0,", f"fits({word},", None),
            )
        )
    edge = {"<": "without", "<=": "with"}
    does = f"{'Counts' if counting else 'The start of the first of'} the {thing} that {says} a window"
    ends_say = (
        f"{edge[signs[0]]} equal ones on the left, {edge[signs[1]]} equal ones on the right"
        if relation != "meets"
        else f"{edge[signs[0]]} a touch at the window's end, {edge[signs[1]]} one at its start"
    )
    return Sketch(
        name=name,
        code=lines("DOC", head, f"    let ({left}, {right}) = window;", *body, "}"),
        doc=f"{does}, {ends_say}.",
        vague=f"{does}.",
        task=f"{'count' if counting else 'give the first start of'} the {thing} that {says} a window, {ends_say}",
        sites=(
            *sites,
            site(
                f"    let ({left}, {right}) = window;",
                (
                    "swapped",
                    f"({left}, {right})",
                    f"({right}, {left})",
                    lambda rows, window: twin_of()(rows, window[::-1]),
                ),
                ("type", "= window", "= rows", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (slots(rng, rng.choice((near, near + size)), 2, 3), (near, near + size)),
    )


TEMPLATES = (Template("bookings_in", "interval_overlap_booking", bookings_in),)
