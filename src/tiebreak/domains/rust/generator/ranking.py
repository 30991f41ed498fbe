"""Templates that rank: the best of a list, a sorted list."""

from random import Random

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import some

Row = tuple[str, int]


def rows(rng: Random, low: int, high: int) -> list[Row]:
    """Rows of a name and a score, often with equal scores."""
    count, base = rng.randint(low, high), rng.randint(2, 90)
    return [(name, base + rng.choice((0, 0, 1, 3))) for name in some(rng, "people", count)]


def best_of(rng: Random) -> Sketch:
    """The name with the largest or smallest score; the first or the last of equals wins."""
    largest, first = rng.random() < 0.5, rng.random() < 0.5
    key, item = rng.choice(("score", "price", "weight", "rank")), rng.choice(("row", "item", "entry"))
    name = f"{rng.choice(('best', 'pick', 'find'))}_{key}"
    sign = (">" if largest else "<") + ("" if first else "=")
    most, rank = "largest" if largest else "smallest", "first" if first else "last"

    def twin_of(largest: bool = largest, first: bool = first, begin: int = 0) -> Twin:
        def twin(items: list[Row]) -> str:
            best = items[begin]
            for each in items:
                ahead = each[1] > best[1] if largest else each[1] < best[1]
                if ahead or (not first and each[1] == best[1]):
                    best = each
            return best[0]

        return twin

    test = f"        if {item}.1 {sign} best.1 {{"
    equal = sign[0] if len(sign) == 2 else sign + "="
    other = {">": "<", "<": ">"}[sign[0]]
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}<'a>(items: &[(&'a str, i32)]) -> &'a str {{",
            "    let mut best = items[0];",
            f"    for &{item} in items {{",
            test,
            f"            best = {item};",
            "        }",
            "    }",
            "    best.0",
            "}",
        ),
        doc=f"Names the {most} {key}. The {rank} of equals wins.",
        vague=f"Names the {most} {key}.",
        task=f"name the {most} {key}, the {rank} of equals",
        sites=(
            site(
                test,
                ("tie", f" {sign} ", f" {equal} ", twin_of(first=not first)),
                ("direction", f" {sign} ", f" {other}{sign[1:]} ", twin_of(largest=not largest)),
                ("field", "best.1", "best.0", None),
                ("field", f"{item}.1", f"{item}.0", None),
            ),
            site(
                "    let mut best = items[0];",
                ("mutability", "let mut", "let", None),
                ("index", "[0]", "[1]", twin_of(begin=1)),
                ("borrow", "items", "&items", None),
            ),
            site("    best.0", ("field", "0", "1", None), ("type", ".0", "", None)),
            site(
                f"pub fn {name}<'a>(items: &[(&'a str, i32)]) -> &'a str {{",
                ("lifetime", "-> &'a str", "-> &str", None),
                ("lifetime", "(&'a str", "(&str", None),
                ("type", "-> &'a str", "-> i32", None),
            ),
            site(
                f"            best = {item};",
                ("type", item, f"{item}.1", None),
                ("borrow", f" {item}", f" &{item}", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (rows(rng, 2, 3),),
    )


def sort_rows(rng: Random) -> Sketch:
    """Names in the order of their scores, ties by name."""
    down, key = rng.random() < 0.5, rng.choice(("score", "points", "size", "cost"))
    name = f"{rng.choice(('order', 'rank', 'sort'))}_{key}"

    def twin_of(down: bool = down, by_name: int = 1, alone: bool = False) -> Twin:
        def twin(items: list[Row]) -> list[str]:
            out = list(items) if alone else sorted(items, key=lambda row: row[0], reverse=by_name < 0)
            return [row[0] for row in sorted(out, key=lambda row: -row[1] if down else row[1])]

        return twin

    one, two = ("b", "a") if down else ("a", "b")
    order, ties = f"        let order = {one}.1.cmp(&{two}.1);", "        order.then(a.0.cmp(b.0))"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}<'a>(items: &[(&'a str, i32)]) -> Vec<&'a str> {{",
            "    let mut list = items.to_vec();",
            "    list.sort_by(|a, b| {",
            order,
            ties,
            "    });",
            "    list.iter().map(|row| row.0).collect()",
            "}",
        ),
        doc=f"Sorts by {key}, {'largest' if down else 'smallest'} first. Equal ones go by name, a to z.",
        vague=f"Sorts by {key}, then by name.",
        task=f"sort by {key}, {'largest' if down else 'smallest'} first, then by name",
        sites=(
            site(
                order,
                ("direction", f"{one}.1.cmp(&{two}.1)", f"{two}.1.cmp(&{one}.1)", twin_of(down=not down)),
                ("field", f"(&{two}.1)", f"(&{two}.0)", None),
                ("borrow", "&", "", None),
                (
                    "field",
                    f"{one}.1.cmp(&{two}.1)",
                    f"{one}.0.cmp({two}.0)",
                    lambda items: sorted((row[0] for row in items), reverse=down),
                ),
            ),
            site(
                ties,
                ("tie", "a.0.cmp(b.0)", "b.0.cmp(a.0)", twin_of(by_name=-1)),
                ("field", "b.0", "b.1", None),
                ("tie", "order.then(a.0.cmp(b.0))", "order", twin_of(alone=True)),
                (
                    "swapped",
                    "order.then(a.0.cmp(b.0))",
                    "a.0.cmp(b.0).then(order)",
                    lambda items: sorted(row[0] for row in items),
                ),
            ),
            site(
                "    let mut list = items.to_vec();",
                ("mutability", "let mut", "let", None),
                ("type", ".to_vec()", "", None),
            ),
            site(
                "    list.iter().map(|row| row.0).collect()",
                ("field", "0", "1", None),
                ("type", "row.0", "row", None),
                ("method", "iter()", "iter().rev()", lambda items: twin_of()(items)[::-1]),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (rows(rng, 2, 3),),
    )


TEMPLATES = (
    Template("best_of", "sorting_ranking_tiebreaks", best_of),
    Template("sort_rows", "sorting_ranking_tiebreaks", sort_rows),
)
