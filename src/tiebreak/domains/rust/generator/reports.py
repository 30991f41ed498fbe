"""Templates of reports: a person's total, the mean."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some

Rows = list[tuple[str, int]]


def total_for(rng: Random) -> Sketch:
    """The sum of one person's amounts, each capped."""
    key, top, low = pick(rng, "keys"), rng.randint(20, 80), rng.random() < 0.3
    cap, word = ("max", "least") if low else ("min", "most")
    name, people = f"{key}_of", some(rng, "people", 2)

    def twin_of(same: bool = True, top: int = top, cap: str | None = cap, sign: int = 1, begin: int = 0) -> Twin:
        pickers: dict[str | None, Any] = {"max": max, "min": min}

        def twin(rows: Rows, who: str) -> Any:
            picker = pickers.get(cap, lambda n, _: n)
            return begin + sum(sign * picker(n, top) for name, n in rows if (name == who) == same)

        return twin

    test, add = "        if name == who {", f"            total += n.{cap}({top});"
    other = "max" if cap == "min" else "min"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(rows: &[(&str, i32)], who: &str) -> i32 {{",
            "    let mut total = 0;",
            "    for &(name, n) in rows {",
            test,
            add,
            "        }",
            "    }",
            "    total",
            "}",
        ),
        doc=f"Adds the {key} of one person, where each row counts for at {word} {top}.",
        vague=f"Adds the {key} of one person within a bound.",
        task=f"add the {key} of one person, at {word} {top} for each row",
        sites=(
            site(test, ("condition", "==", "!=", twin_of(same=False)), ("field", "name ", "n ", None)),
            site(
                add,
                ("method", cap, other, twin_of(cap=other)),
                ("constant", f"{top}", f"{top + 1}", twin_of(top=top + 1)),
                ("operator", "+=", "-=", twin_of(sign=-1)),
                ("method", f".{cap}({top})", "", twin_of(cap=None)),
                ("type", f"{top}", f"&{top}", None),
            ),
            site(
                "    let mut total = 0;", ("start", "0", "1", twin_of(begin=1)), ("mutability", "let mut", "let", None)
            ),
            site(
                "    for &(name, n) in rows {",
                ("borrow", "rows", "*rows", None),
                ("type", "(name, n)", "(n, name)", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (
            [(rng.choice(people), top + rng.choice((-9, -1, 0, 1, 6))) for _ in range(rng.randint(2, 3))],
            people[0],
        ),
    )


def mean(rng: Random) -> Sketch:
    """The mean of a list, rounded down, with an answer for an empty list."""
    default, thing = rng.choice((0, rng.randint(2, 40))), pick(rng, "things")
    name = f"{rng.choice(('mean', 'average'))}_{thing}"

    def twin_of(default: int = default, extra: int = 0, empty: bool = True, pick_one: Any = sum) -> Twin:
        def twin(items: list[int]) -> int:
            if (not items) == empty:
                return default
            return int(pick_one(items)) // (len(items) + extra)

        return twin

    test, give = "    if items.is_empty() {", f"        return {default};"
    add, last = "    let sum: i32 = items.iter().sum();", "    sum / items.len() as i32"
    return Sketch(
        name=name,
        code=lines("DOC", f"pub fn {name}(items: &[i32]) -> i32 {{", test, give, "    }", add, last, "}"),
        doc=f"The mean of the {thing}, rounded down. It is {default} for an empty list.",
        vague=f"The mean of the {thing}, also for an empty list.",
        task=f"give the mean of the {thing}, and {default} for an empty list",
        sites=(
            site(test, ("condition", "items", "!items", twin_of(empty=False)), ("type", "is_empty()", "len()", None)),
            site(
                give,
                ("constant", f"{default}", f"{default + 1}", twin_of(default=default + 1)),
                ("constant", f"{default}", f"{default + 2}", twin_of(default=default + 2)),
                ("type", f" {default}", "", None),
            ),
            site(
                add,
                ("type", ": i32", "", None),
                ("method", "sum()", "product()", lambda items: _mean_of_product(items, default)),
                ("type", "i32", "usize", None),
            ),
            site(
                last,
                ("type", " as i32", "", None),
                ("operator", "/", "*", lambda items: sum(items) * len(items) if items else default),
                ("operator", "/", "-", lambda items: sum(items) - len(items) if items else default),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (([rng.randint(1, 40) for _ in range(rng.randint(2, 3))] if rng.random() < 0.7 else []),),
    )


def _mean_of_product(items: list[int], default: int) -> int:
    product = 1
    for item in items:
        product *= item
    return product // len(items) if items else default


TEMPLATES = (
    Template("total_for", "aggregation_reporting", total_for),
    Template("mean", "aggregation_reporting", mean),
)
