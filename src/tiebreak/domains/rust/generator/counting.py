"""Templates that walk over numbers: counting, adding, runs."""

from random import Random

from tiebreak.domains.rust.generator.compare import OPERATORS, draw, wrong_signs
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, broken, lines, site
from tiebreak.domains.words import pick


def near(rng: Random, limit: int, low: int = 0) -> int:
    """A number that often is `limit` or next to it."""
    return max(low, limit + rng.choice((-9, -4, -2, -1, -1, 0, 0, 0, 1, 1, 2, 5, 8)))


def count_limit(rng: Random) -> Sketch:
    """Count the values on one side of a limit."""
    thing, (sign, phrase), limit = pick(rng, "things"), draw(rng), rng.randint(10, 99)
    verb, value = rng.choice(("count", "tally")), rng.choice(("value", "size", "weight"))
    name = f"{verb}_{thing}"

    def twin_of(sign: str = sign, limit: int = limit, start: int = 0, step: int = 1) -> Twin:
        return lambda values: start + step * sum(OPERATORS[sign](each, limit) for each in values)

    test = f"        if *{value} {sign} LIMIT {{"
    constant = f"pub const LIMIT: i32 = {limit};"
    return Sketch(
        name=name,
        code=lines(
            constant,
            "",
            "DOC",
            f"pub fn {name}({value}s: &[i32]) -> usize {{",
            "    let mut count = 0;",
            f"    for {value} in {value}s {{",
            test,
            "            count += 1;",
            "        }",
            "    }",
            "    count",
            "}",
        ),
        doc=f"Counts the {thing} with a {value} {phrase} {limit}.",
        vague=f"Counts the {thing} with a good {value}.",
        task=f"count the {thing} with a {value} {phrase} {limit}",
        sites=(
            wrong_signs(test, sign, lambda other: twin_of(sign=other)),
            site(
                constant,
                ("constant", f"{limit};", f"{limit + 1};", twin_of(limit=limit + 1)),
                ("constant", f"{limit};", f"{limit - 1};", twin_of(limit=limit - 1)),
                ("type", "i32", "usize", None),
            ),
            site(
                "    let mut count = 0;",
                ("start", "0", "1", twin_of(start=1)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                "            count += 1;",
                ("operator", "1", "2", twin_of(step=2)),
                ("type", "1", value, None),
            ),
            broken(
                "type",
                f"pub fn {name}({value}s: &[i32]) -> usize {{",
                f"pub fn {name}({value}s: &[i32]) -> String {{",
                f"pub fn {name}({value}s: &[i32]) -> bool {{",
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([near(rng, limit) for _ in range(rng.randint(2, 4))],),
    )


def sum_skip(rng: Random) -> Sketch:
    """Add values, skipping those on one side of a limit."""
    thing, (sign, phrase), limit = pick(rng, "things"), draw(rng), rng.randint(3, 60)
    name, start = f"{rng.choice(('total', 'sum'))}_{thing}", rng.choice((0, 0, rng.randint(2, 9)))
    result = rng.choice(("total", "sum"))

    def twin_of(sign: str = sign, limit: int = limit, start: int = start, add: int = 1, stop: bool = False) -> Twin:
        def twin(values: list[int]) -> int:
            out = start
            for value in values:
                if OPERATORS[sign](value, limit):
                    if stop:
                        break
                    continue
                out += add * value
            return out

        return twin

    test, begin = f"        if n {sign} {limit} {{", f"    let mut {result} = {start};"
    first = "" if start == 0 else f" Starts at {start}."
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(items: &[i32]) -> i32 {{",
            begin,
            "    for &n in items {",
            test,
            "            continue;",
            "        }",
            f"        {result} += n;",
            "    }",
            f"    {result}",
            "}",
        ),
        doc=f"Adds the {thing}, but skips a number {phrase} {limit}.{first}",
        vague=f"Adds the {thing}, but skips the odd ones out.{first}",
        task=f"add the {thing} but skip a number {phrase} {limit}",
        sites=(
            wrong_signs(test, sign, lambda other: twin_of(sign=other)),
            site(
                "            continue;",
                ("flow", "continue", "break", twin_of(stop=True)),
                ("type", "continue", "return", None),
            ),
            site(
                begin,
                ("start", f"{start};", f"{start + 1};", twin_of(start=start + 1)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                f"        {result} += n;", ("operator", "+=", "-=", twin_of(add=-1)), ("type", "n;", "&n as i32;", None)
            ),
            broken("borrow", "    for &n in items {", "    for n in items {", "    for &n in *items {"),
        ),
        twin=twin_of(),
        sample=lambda rng: ([near(rng, limit) for _ in range(rng.randint(2, 4))],),
    )


def sum_range(rng: Random) -> Sketch:
    """Add the multiples of a step from a first to a last number."""
    key, step, closed = pick(rng, "keys"), rng.randint(2, 9), rng.random() < 0.5
    name = f"sum_{key}"

    def twin_of(closed: bool = closed, first: int = 1, step: int = step, negate: bool = False) -> Twin:
        def twin(end: int) -> int:
            return sum(i for i in range(first, end + closed) if (i % step == 0) != negate)

        return twin

    dots = "..=" if closed else ".."
    loop, test = f"    for i in 1{dots}end {{", f"        if i % {step} == 0 {{"
    words = "up to and with end" if closed else "before end"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(end: u32) -> u32 {{",
            "    let mut sum = 0;",
            loop,
            test,
            "            sum += i;",
            "        }",
            "    }",
            "    sum",
            "}",
        ),
        doc=f"Adds each {key} from 1 {words} that {step} divides.",
        vague=f"Adds the {key} steps that {step} divides.",
        task=f"add each {key} from 1 {words} that {step} divides",
        sites=(
            site(
                loop,
                ("range", dots, ".." if closed else "..=", twin_of(closed=not closed)),
                ("type", "end", "&end", None),
            ),
            site(
                test,
                ("constant", f"{step} ", f"{step + 1} ", twin_of(step=step + 1)),
                ("condition", "==", "!=", twin_of(negate=True)),
                ("operator", "%", "/", lambda end: sum(range(1, min(step, end + closed)))),
            ),
            site(
                "            sum += i;",
                ("operator", "+= i", "+= 1", lambda end: (end - 1 + closed) // step),
                ("operator", "+= i", "= i", lambda end: (end - 1 + closed) // step * step),
            ),
            site(
                "    let mut sum = 0;",
                ("start", "0", "1", lambda end: twin_of()(end) + 1),
                ("mutability", "let mut", "let", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (step * rng.randint(1, 5) + rng.choice((0, 0, 1)),),
    )


TEMPLATES = (
    Template("count_limit", "iterator_filter_map_logic", count_limit),
    Template("sum_skip", "aggregation_reporting", sum_skip),
    Template("sum_range", "iterator_filter_map_logic", sum_range),
)
