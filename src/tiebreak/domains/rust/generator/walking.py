"""Templates that walk over neighbours: rises and falls, what is new, what two lists have in common places."""

from itertools import pairwise
from random import Random

from tiebreak.domains.rust.generator.compare import OPERATORS, draw, join, wrong_signs
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some


def neighbours(rng: Random) -> Sketch:
    """How many neighbours differ by enough, or what they differ by in all."""
    (word, pair), thing, (sign, phrase) = some(rng, "keys", 2), pick(rng, "things"), draw(rng)
    limit, near, counting = rng.randint(2, 9), rng.randint(20, 70), rng.random() < 0.5
    rising = rng.choice(("up", "down", "any"))
    verb = "count" if counting else "sum"
    name = f"{verb}_{thing}"
    step = {"up": "{p}[1] - {p}[0]", "down": "{p}[0] - {p}[1]", "any": "({p}[1] - {p}[0]).abs()"}
    form = rng.random() < 0.5

    def twin_of(
        rising: str = rising,
        sign: str = sign,
        limit: int = limit,
        counting: bool = counting,
        begun: int = 0,
        skip: int = 0,
        times: int = 1,
    ) -> Twin:
        def twin(items: list[int]) -> int:
            items = items[skip:]
            steps = [b - a for a, b in pairwise(items)]
            steps = [{"up": n, "down": -n, "any": abs(n), "back": -abs(n)}[rising] for n in steps]
            long = [n for n in steps if OPERATORS[sign](n, limit)]
            return begun + times * (len(long) if counting else sum(long))

        return twin

    have = step[rising].format(p=pair)
    if form:
        make = f"        let {word} = {have};"
        test = f"        if {word} {sign} {limit} {{"
        add = f"            all += {'1' if counting else word};"
        begin, loop = "    let mut all = 0;", f"    for {pair} in items.windows(2) {{"
        body = [begin, loop, make, test, add, "        }", "    }", "    all"]
    else:
        loop = f"    let {word} = items.windows(2).map(|{pair}| {have});"
        make = loop
        test = f"    let long = {word}.filter(|n| *n {sign} {limit});"
        add = f"    long.{'count() as i32' if counting else 'sum()'}"
        begin = ""
        body = [loop, test, add]
    other = [way for way in step if way != rising]
    turns: list[Change] = [
        ("direction" if way != "any" else "method", have, step[way].format(p=pair), twin_of(way)) for way in other
    ]
    changes = join(
        wrong_signs(test, sign, lambda other: twin_of(sign=other)),
        site(
            test,
            (
                "constant",
                f" {limit}{' {' if form else ')'}",
                f" {limit + 1}{' {' if form else ')'}",
                twin_of(limit=limit + 1),
            ),
            (
                "constant",
                f" {limit}{' {' if form else ')'}",
                f" {limit - 1}{' {' if form else ')'}",
                twin_of(limit=limit - 1),
            ),
            ("borrow", f"if {word}" if form else "*n", f"if &{word}" if form else "n", None),
        ),
    )
    operator = step[rising].format(p=pair).replace(" - ", " + ")
    sites = [
        changes,
        site(
            make,
            *turns,
            ("operator", have, operator, lambda items: _added(items, sign, limit, counting)),
            ("index", have, have.replace(f"{pair}[0]", f"{pair}[1]"), lambda items: twin_of()([0] * len(items))),
            ("type", f"{pair}[0]", pair, None),
        ),
    ]
    if form:
        sites += [
            site(
                add,
                ("operator", "+=", "=", lambda items: _final(twin_of, items)),
                ("operator", "+=", "-=", twin_of(times=-1)),
                (
                    "operator",
                    "all += 1" if counting else f"all += {word}",
                    f"all += {word}" if counting else "all += 1",
                    twin_of(counting=not counting),
                ),
                ("type", "+= ", "+= &&", None),
            ),
            site(
                begin,
                ("start", "0", "1", twin_of(begun=1)),
                ("start", "0", "2", twin_of(begun=2)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                loop,
                ("index", "items.", "items[1..].", twin_of(skip=1)),
                ("borrow", f"for {pair}", f"for &{pair}", None),
            ),
        ]
    else:
        sites.append(
            site(
                add,
                *(
                    [
                        ("type", " as i32", "", None),
                        ("operator", "as i32", "as i32 + 1", twin_of(begun=1)),
                        ("method", "count() as i32", "sum()", twin_of(counting=False)),
                    ]
                    if counting
                    else [
                        ("method", "sum()", "count() as i32", twin_of(counting=True)),
                        ("operator", "sum()", "sum::<i32>() + 1", twin_of(begun=1)),
                        ("type", "sum()", "collect()", None),
                    ]
                ),
            )
        )
    what = {"up": "rises", "down": "falls", "any": "changes either way"}[rising]
    steps = f"the {what} of {phrase} {limit} from one of the {thing} to the next"
    return Sketch(
        name=name,
        code=lines("DOC", f"pub fn {name}(items: &[i32]) -> i32 {{", *body, "}"),
        doc=f"{'Counts' if counting else 'Adds up'} {steps}.",
        vague=f"{'Counts' if counting else 'Adds up'} the {what} from one of the {thing} to the next.",
        task=f"{'count' if counting else 'add up'} {steps}",
        sites=tuple(sites),
        twin=twin_of(),
        sample=lambda rng: (_walk(rng, near, limit),),
    )


def _added(items: list[int], sign: str, limit: int, counting: bool) -> int:
    long = [n for n in (a + b for a, b in pairwise(items)) if OPERATORS[sign](n, limit)]
    return len(long) if counting else sum(long)


def _final(twin_of: object, items: list[int]) -> int:
    assert callable(twin_of)
    found = 0
    for at in range(len(items) - 1):
        if twin_of(counting=True)(items[at : at + 2]):
            found = twin_of()(items[at : at + 2])
    return found


def _walk(rng: Random, near: int, limit: int) -> list[int]:
    found = [near]
    for _ in range(rng.randint(2, 3)):
        found.append(max(1, found[-1] + rng.choice((1, -1)) * max(0, limit + rng.choice((-2, -1, 0, 0, 1, 3)))))
    return found


TEMPLATES = (Template("neighbours", "iterator_filter_map_logic", neighbours),)
