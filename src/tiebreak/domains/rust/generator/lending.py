"""Templates about lending: lifetimes of references, changes in place."""

from random import Random

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some


def longer(rng: Random) -> Sketch:
    """The longer or shorter of two words; the first or the second of equals."""
    long, first = rng.random() < 0.5, rng.random() < 0.5
    one, two = rng.sample(("a", "b", "left", "right", "old", "new"), 2)
    name = f"{'longer' if long else 'shorter'}_{rng.choice(('word', 'name', 'text', 'title'))}"
    sign = (">" if long else "<") + ("=" if first else "")
    equal = sign[0] if first else sign + "="
    turned = {">": "<", "<": ">"}[sign[0]] + sign[1:]

    def twin_of(long: bool = long, first: bool = first) -> Twin:
        def twin(a: str, b: str) -> str:
            if len(a) == len(b):
                return a if first else b
            return a if (len(a) > len(b)) == long else b

        return twin

    head = f"pub fn {name}<'a>({one}: &'a str, {two}: &'a str) -> &'a str {{"
    test, rest = f"    if {one}.len() {sign} {two}.len() {{", f"    {two}"
    return Sketch(
        name=name,
        code=lines("DOC", head, test, f"        return {one};", "    }", rest, "}"),
        doc=f"The {'longer' if long else 'shorter'} of two words; the {'first' if first else 'second'} of equals.",
        vague=f"The {'longer' if long else 'shorter'} of two words.",
        task=f"give the {'longer' if long else 'shorter'} word, the {'first' if first else 'second'} of equals",
        sites=(
            site(
                head,
                ("lifetime", "-> &'a str", "-> &str", None),
                ("lifetime", f"{two}: &'a str", f"{two}: &str", None),
                ("lifetime", f"{one}: &'a str", f"{one}: &str", None),
                ("lifetime", f"{name}<'a>", name, None),
                ("type", "-> &'a str", "-> String", None),
            ),
            site(
                test,
                ("tie", f" {sign} ", f" {equal} ", twin_of(first=not first)),
                ("direction", f" {sign} ", f" {turned} ", twin_of(long=not long)),
                ("field", f" {two}.len()", f" {one}.len()", lambda a, b: a if first else b),
                ("type", f" {two}.len()", f" {two}", None),
            ),
            site(
                f"        return {one};",
                ("branch", one, two, lambda a, b: b),
                ("type", one, f"{one}.len()", None),
                ("borrow", f" {one}", f" *{one}", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: tuple(some(rng, "people", 2)),
    )


def raise_all(rng: Random) -> Sketch:
    """A helper that changes numbers in place, and its caller."""
    sign, limit, add = rng.choice((">", "<")), rng.randint(20, 70), rng.randint(2, 9)
    verb, thing = rng.choice(("raise", "lift", "grow")), pick(rng, "things")
    name, helper = f"{verb}_{thing}", rng.choice(("change", "adjust", "modify"))

    def twin_of(sign: str = sign, limit: int = limit, add: int = add) -> Twin:
        def twin(items: list[int]) -> list[int]:
            return [
                n + add if (n > limit if sign[0] == ">" else n < limit) or (len(sign) == 2 and n == limit) else n
                for n in items
            ]

        return twin

    head, test = f"fn {helper}(n: &mut i32) {{", f"    if *n {sign} {limit} {{"
    put, loop = f"        *n += {add};", "    for n in list.iter_mut() {"
    turned = {">": "<", "<": ">"}[sign]
    return Sketch(
        name=name,
        code=lines(
            head,
            test,
            put,
            "    }",
            "}",
            "",
            "DOC",
            f"pub fn {name}(items: &[i32]) -> Vec<i32> {{",
            "    let mut list = items.to_vec();",
            loop,
            f"        {helper}(n);",
            "    }",
            "    list",
            "}",
        ),
        doc=f"Adds {add} to each number {'more' if sign == '>' else 'less'} than {limit}.",
        vague=f"Adds {add} to some of the numbers.",
        task=f"add {add} to each number {'more' if sign == '>' else 'less'} than {limit}",
        sites=(
            site(head, ("mutability", "&mut i32", "&i32", None), ("borrow", "&mut i32", "i32", None)),
            site(
                test,
                ("strictness", f" {sign} ", f" {sign}= ", twin_of(sign=sign + "=")),
                ("direction", f" {sign} ", f" {turned} ", twin_of(sign=turned)),
                ("constant", f"{limit} ", f"{limit + 1} ", twin_of(limit=limit + 1)),
                ("borrow", "*n", "n", None),
            ),
            site(
                put,
                ("operator", "+=", "-=", twin_of(add=-add)),
                ("constant", f"{add};", f"{add + 1};", twin_of(add=add + 1)),
                ("borrow", "*n", "n", None),
            ),
            site(loop, ("mutability", "iter_mut", "iter", None), ("mutability", "list.iter_mut()", "&list", None)),
            site(
                "    let mut list = items.to_vec();",
                ("mutability", "let mut", "let", None),
                ("type", ".to_vec()", "", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([limit + rng.choice((-8, -1, 0, 0, 1, 7)) for _ in range(rng.randint(2, 3))],),
    )


TEMPLATES = (
    Template("longer", "sorting_ranking_tiebreaks", longer),
    Template("raise_all", "iterator_filter_map_logic", raise_all),
)
