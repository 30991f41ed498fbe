"""Templates of matches: bands of a number, prices by kind."""

from random import Random

from tiebreak.domains.rust.generator.compare import OPERATORS, PHRASES, join, wrong_signs
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick

LABELS = (("low", "mid", "high"), ("cold", "mild", "hot"), ("small", "medium", "large"), ("slow", "fair", "fast"))


def bands(rng: Random) -> Sketch:
    """A label for a number, by two limits."""
    key, labels = pick(rng, "keys"), rng.choice(LABELS)
    one, two = rng.choice(("<", "<=")), rng.choice(("<", "<="))
    low, high = rng.randint(5, 40), rng.randint(45, 99)
    name, says = f"{rng.choice(('grade', 'label', 'name'))}_{key}", [rng.choice(PHRASES[sign]) for sign in (one, two)]

    def twin_of(
        one: str = one, two: str = two, low: int = low, high: int = high, labels: tuple[str, ...] = labels
    ) -> Twin:
        def twin(n: int) -> str:
            if OPERATORS[one](n, low):
                return labels[0]
            return labels[1] if OPERATORS[two](n, high) else labels[2]

        return twin

    first, second = f'        n if n {one} {low} => "{labels[0]}",', f'        n if n {two} {high} => "{labels[1]}",'
    a, b, c = labels
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}({key}: i32) -> &'static str {{",
            f"    match {key} {{",
            first,
            second,
            f'        _ => "{c}",',
            "    }",
            "}",
        ),
        doc=f"A {key} {says[0]} {low} is {a}, {says[1]} {high} is {b}, else {c}.",
        vague=f"A {key} is {a}, {b} or {c}.",
        task=f"call a {key} {says[0]} {low} {a} and {says[1]} {high} {b}",
        sites=(
            join(
                wrong_signs(first, one, lambda sign: twin_of(one=sign)),
                site(
                    first,
                    ("constant", str(low), str(low + 1), twin_of(low=low + 1)),
                    ("branch", a, b, twin_of(labels=(b, b, c))),
                ),
            ),
            join(
                wrong_signs(second, two, lambda sign: twin_of(two=sign)),
                site(
                    second,
                    ("constant", str(high), str(high - 1), twin_of(high=high - 1)),
                    ("branch", b, c, twin_of(labels=(a, c, c))),
                    ("type", f'"{b}"', "n", None),
                ),
            ),
            site(
                f'        _ => "{c}",',
                ("branch", c, a, twin_of(labels=(a, b, a))),
                ("branch", c, b, twin_of(labels=(a, b, b))),
            ),
            site(f"    match {key} {{", ("borrow", key, f"&{key}", None), ("type", key, f"Some({key})", None)),
        ),
        twin=twin_of(),
        sample=lambda rng: (rng.choice((low, high)) + rng.choice((-9, -1, 0, 0, 0, 1, 9)),),
    )


def price_by_kind(rng: Random) -> Sketch:
    """A price that depends on a letter."""
    name, word = (
        f"{rng.choice(('price', 'cost', 'fee'))}_{pick(rng, 'things')}",
        rng.choice(("base", "amount", "price")),
    )
    (x, y, z), add, cut = rng.sample("abcdfghkmprst", 3), rng.randint(2, 20), rng.randint(2, 9)

    def twin_of(add: int = add, cut: int = cut, other: int = 0) -> Twin:
        def twin(kind: str, amount: int) -> int:
            return {x: amount + add, y: amount * cut}.get(kind, other)

        return twin

    plus, times, rest = f"        '{x}' => {word} + {add},", f"        '{y}' => {word} * {cut},", "        _ => 0,"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(kind: char, {word}: i32) -> i32 {{",
            "    match kind {",
            plus,
            times,
            rest,
            "    }",
            "}",
        ),
        doc=f"Kind {x} pays {add} more, kind {y} pays {cut} times as much, any other nothing.",
        vague=f"Kind {x} pays more, kind {y} pays a multiple, any other nothing.",
        task=f"charge {add} more for kind {x} and {cut} times as much for kind {y}",
        sites=(
            site(
                plus,
                ("operator", "+", "-", twin_of(add=-add)),
                ("constant", f"{add}", f"{add + 1}", twin_of(add=add + 1)),
                ("operator", "+", "*", lambda k, n: n * add if k == x else twin_of()(k, n)),
                ("branch", f"'{x}'", f"'{z}'", lambda k, n: n + add if k == z else 0 if k == x else twin_of()(k, n)),
                ("type", f"'{x}'", f'"{x}"', None),
            ),
            site(
                times,
                ("operator", "*", "+", lambda k, n: n + cut if k == y else twin_of()(k, n)),
                ("constant", f"{cut}", f"{cut + 1}", twin_of(cut=cut + 1)),
                ("branch", f"'{y}'", f"'{z}'", lambda k, n: n * cut if k == z else 0 if k == y else twin_of()(k, n)),
                ("type", f"{cut}", "kind", None),
            ),
            site(
                rest,
                ("branch", "0", word, lambda k, n: twin_of(other=n)(k, n)),
                ("constant", "0", "1", twin_of(other=1)),
                ("type", "0", "None", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (rng.choice((x, y, z)), rng.randint(2, 50)),
        show=lambda args: f"'{args[0]}', {args[1]}",
    )


TEMPLATES = (
    Template("bands", "match_enum_branch_logic", bands),
    Template("price_by_kind", "match_enum_branch_logic", price_by_kind),
)
