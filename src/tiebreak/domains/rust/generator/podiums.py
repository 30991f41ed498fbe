"""A template of a podium: the first few rows by two numbers."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Site, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some

Row = tuple[str, int, int]


def podium(rng: Random) -> Sketch:
    """The names of the first rows by one number, ties by another."""
    (one, two), item, things = some(rng, "keys", 2), pick(rng, "nouns"), pick(rng, "things")
    first, second, most, name = *(rng.choice((1, -1)) for _ in range(2)), rng.randint(2, 3), f"top_{things}"
    minus = {1: "", -1: "-"}

    def twin_of(first: int = first, second: int = second, most: int | None = most, skip: int = 0) -> Twin:
        def twin(items: list[Row]) -> list[str]:
            ordered = sorted(items, key=lambda row: (first * row[1], second * row[2]))
            return [row[0] for row in ordered][skip : None if most is None else skip + most]

        return twin

    def other_first(items: list[Row]) -> list[str]:
        return [row[0] for row in sorted(items, key=lambda row: (second * row[2], first * row[1]))][:most]

    def by_name(items: list[Row]) -> list[str]:
        return [row[0] for row in sorted(items, key=lambda row: (row[0], second * row[2]))][:most]

    copy, last = (
        f"    let mut {things} = items.to_vec();",
        f"    {things}.iter().take({most}).map(|{item}| {item}.0).collect()",
    )
    if rng.random() < 0.5:
        key = f"    {things}.sort_by_key(|&(_, {one}, {two})| ({minus[first]}{one}, {minus[second]}{two}));"
        have = f"({minus[first]}{one}, {minus[second]}{two})"
        body: tuple[str, ...] = (key,)
        orders = [
            site(
                key,
                ("direction", have, f"({minus[-first]}{one}, {minus[second]}{two})", twin_of(first=-first)),
                ("tie", have, f"({minus[first]}{one}, {minus[-second]}{two})", twin_of(second=-second)),
                ("swapped", have, f"({minus[second]}{two}, {minus[first]}{one})", other_first),
                ("tie", have, f"{minus[first]}{one}", twin_of(second=0)),
                ("field", have, f"{minus[second]}{two}", twin_of(first=0)),
                ("swapped", f"(_, {one}, {two})", f"({one}, _, {two})", by_name if first == 1 else None),
                ("direction", have, f"({minus[-first]}{one}, {minus[-second]}{two})", twin_of(-first, -second)),
            )
        ]
    else:
        body, orders = _by_comparison(things, (one, two), (first, second), twin_of, other_first)
    head = f"pub fn {name}<'a>(items: &[(&'a str, i32, i32)]) -> Vec<&'a str> {{"
    sides = {1: "least", -1: "most"}
    return Sketch(
        name=name,
        code=lines("DOC", head, copy, *body, last, "}"),
        doc=f"Names {most} {things}: the {sides[first]} {one} first, and of equals the {sides[second]} {two}.",
        vague=f"Names {most} {things} by {one}, then by {two}.",
        task=f"name {most} {things} by the {sides[first]} {one}, and of equals by the {sides[second]} {two}",
        sites=(
            *orders,
            site(
                last,
                ("constant", f"take({most})", f"take({most - 1})", twin_of(most=most - 1)),
                ("method", f".take({most})", "", twin_of(most=None)),
                ("method", f"take({most})", "skip(1)", twin_of(most=None, skip=1)),
                ("type", f"{item}.0", item, None),
            ),
            site(copy, ("mutability", "let mut", "let", None), ("borrow", "items.to_vec()", "items", None)),
            site(
                head,
                ("lifetime", "(&'a str", "(&str", None),
                ("lifetime", "Vec<&'a str>", "Vec<&str>", None),
                ("lifetime", "<'a>(", "(", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (_rows(rng),),
    )


def _by_comparison(
    things: str, keys: tuple[str, str] | list[str], signs: tuple[int, int], twin_of: Any, other_first: Twin
) -> tuple[tuple[str, ...], list[Site]]:
    """The same order through `sort_by` and two named comparisons."""
    (one, two), (first, second) = keys, signs

    def compared(key: str, field: int, sign: int) -> str:
        left, right = ("a", "b") if sign == 1 else ("b", "a")
        return f"        let {key} = {left}.{field}.cmp(&{right}.{field});"

    by_one, by_two, then = compared(one, 1, first), compared(two, 2, second), f"        {one}.then({two})"
    left, right = ("a", "b") if first == 1 else ("b", "a")
    sites = [
        site(
            by_one,
            ("direction", f"{left}.1.cmp(&{right}.1)", f"{right}.1.cmp(&{left}.1)", twin_of(first=-first)),
            (
                "field",
                f"{left}.1.cmp(&{right}.1)",
                f"{left}.2.cmp(&{right}.2)",
                lambda items: _by_other(items, twin_of, signs),
            ),
            ("borrow", "&", "", None),
        ),
        site(
            then,
            ("swapped", f"{one}.then({two})", f"{two}.then({one})", other_first),
            ("tie", f"{one}.then({two})", one, twin_of(second=0)),
            ("field", f"{one}.then({two})", two, twin_of(first=0)),
            ("tie", f"{one}.then({two})", f"{one}.then({two}.reverse())", twin_of(second=-second)),
            ("direction", f"{one}.then({two})", f"{one}.reverse().then({two})", twin_of(first=-first)),
            ("direction", f"{one}.then({two})", f"{one}.then({two}).reverse()", twin_of(-first, -second)),
            ("type", f"{one}.then({two})", f"{one} && {two}", None),
        ),
    ]
    body = (f"    {things}.sort_by(|a, b| {{", by_one, by_two, then, "    });")
    return body, sites


def _by_other(items: list[Row], twin_of: Any, signs: tuple[int, int]) -> Any:
    """Both comparisons look at the second number, each in its own direction; the first of them decides."""
    return twin_of(0, signs[0])(items)


def _rows(rng: Random) -> list[Row]:
    base, size = rng.randint(2, 60), rng.randint(2, 30)
    some_of = some(rng, "people", rng.randint(3, 4))
    return [(name, base + rng.choice((0, 0, 1, 4)), size + rng.choice((0, 1, 2, 5))) for name in some_of]


TEMPLATES = (Template("podium", "sorting_ranking_tiebreaks", podium),)
