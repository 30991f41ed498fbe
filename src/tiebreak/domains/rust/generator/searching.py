"""Templates that search a list: the longest run, the first match."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import OPERATORS, draw, join, wrong_signs
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick


def longest_run(rng: Random) -> Sketch:
    """The longest run of numbers on one side of a limit."""
    (sign, phrase), limit, key = draw(rng), rng.randint(10, 80), pick(rng, "keys")
    name = f"{rng.choice(('longest', 'best'))}_{key}"

    def twin_of(sign: str = sign, limit: int = limit, reset: int = 0, step: int = 1, choose: Any = max) -> Twin:
        def twin(items: list[int]) -> int:
            best = run = 0
            for n in items:
                run = run + step if OPERATORS[sign](n, limit) else reset
                best = choose(best, run)
            return int(best)

        return twin

    test = f"        run = if n {sign} {limit} {{ run + 1 }} else {{ 0 }};"
    keep = "        best = best.max(run);"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(items: &[i32]) -> u32 {{",
            "    let mut best = 0;",
            "    let mut run = 0;",
            "    for &n in items {",
            test,
            keep,
            "    }",
            "    best",
            "}",
        ),
        doc=f"The longest run of a {key} {phrase} {limit}.",
        vague=f"The longest run of a good {key}.",
        task=f"find the longest run of a {key} {phrase} {limit}",
        sites=(
            join(
                wrong_signs(test, sign, lambda other: twin_of(sign=other)),
                site(
                    test,
                    ("start", "{ 0 }", "{ 1 }", twin_of(reset=1)),
                    ("operator", "run + 1", "run + 2", twin_of(step=2)),
                    ("constant", f"{limit} ", f"{limit + 1} ", twin_of(limit=limit + 1)),
                    ("type", "if n", "if &n", None),
                ),
            ),
            site(
                keep,
                ("method", "max", "min", twin_of(choose=min)),
                ("method", "best.max(run)", "run", twin_of(choose=lambda _, run: run)),
                ("operator", "= best.max(run)", "+= run", twin_of(choose=lambda best, run: best + run)),
                ("type", "(run)", "(n)", None),
            ),
            site(
                "    let mut run = 0;",
                ("mutability", "let mut", "let", None),
                ("start", "0", "1", lambda items: _begun(items, sign, limit)),
            ),
            site(
                "    for &n in items {",
                ("borrow", "&n", "n", None),
                ("method", "items", "items.iter().skip(1)", lambda items: twin_of()(items[1:])),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([limit + rng.choice((-6, -1, 0, 0, 1, 6)) for _ in range(rng.randint(3, 5))],),
    )


def _begun(items: list[int], sign: str, limit: int) -> int:
    best, run = 0, 1
    for n in items:
        run = run + 1 if OPERATORS[sign](n, limit) else 0
        best = max(best, run)
    return best


def first_match(rng: Random) -> Sketch:
    """The first or last number on one side of a limit, if there is one."""
    (sign, phrase), limit, first = draw(rng), rng.randint(10, 90), rng.random() < 0.5
    name, end = f"{rng.choice(('find', 'seek', 'pick'))}_{pick(rng, 'keys')}", "find" if first else "rfind"

    def twin_of(sign: str = sign, limit: int = limit, first: bool = first) -> Twin:
        def twin(items: list[int]) -> Some | None:
            fits = [n for n in items if OPERATORS[sign](n, limit)]
            return Some(fits[0] if first else fits[-1]) if fits else None

        return twin

    search, walk = f"    all.{end}(|n| *n {sign} {limit})", "    let mut all = items.iter().copied();"
    other = "rfind" if first else "find"
    return Sketch(
        name=name,
        code=lines("DOC", f"pub fn {name}(items: &[i32]) -> Option<i32> {{", walk, search, "}"),
        doc=f"The {'first' if first else 'last'} number {phrase} {limit}, if any.",
        vague=f"The {'first' if first else 'last'} good number, if any.",
        task=f"find the {'first' if first else 'last'} number {phrase} {limit}",
        sites=(
            join(
                wrong_signs(search, sign, lambda other: twin_of(sign=other)),
                site(
                    search,
                    ("method", f".{end}", f".{other}", twin_of(first=not first)),
                    ("constant", f"{limit})", f"{limit + 1})", twin_of(limit=limit + 1)),
                    ("borrow", "*n", "n", None),
                    ("type", f".{end}", ".any", None),
                ),
            ),
            site(
                walk,
                ("mutability", "let mut", "let", None),
                ("type", ".copied()", "", None),
                ("method", ".copied()", ".copied().rev()", twin_of(first=not first)),
                (
                    "method",
                    ".copied()",
                    ".copied().skip(1)" if first else ".copied().skip(2)",
                    lambda items: twin_of()(items[1 if first else 2 :]),
                ),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([limit + rng.choice((-7, -2, -1, 0, 0, 1, 2, 7)) for _ in range(rng.randint(2, 4))],),
    )


TEMPLATES = (
    Template("longest_run", "aggregation_reporting", longest_run),
    Template("first_match", "iterator_filter_map_logic", first_match),
)
