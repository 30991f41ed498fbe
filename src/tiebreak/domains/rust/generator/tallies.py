"""Templates of totals: one for each name, a bill with its discount."""

from random import Random

from tiebreak.domains.rust.generator.compare import EQUALS, OPERATORS, PHRASES, draw, join, wrong_signs
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some

Pair = tuple[str, int]


def tally(rng: Random) -> Sketch:
    """The total, count or largest number of each name, in the order of names; small totals may be left out."""
    way, total, item = rng.choice(("sum", "count", "most")), pick(rng, "keys"), pick(rng, "nouns")
    name, (sign, phrase), limit = f"{total}_by_{item}", draw(rng), rng.randint(3, 40)
    if way == "count":
        sign, phrase, limit = ">", "more than", 1
    kept = rng.random() < 0.5

    def twin_of(way: str = way, begin: int = 0, sign: str = sign, limit: int = limit, times: int = 1) -> Twin:
        def twin(rows: list[Pair]) -> list[Pair]:
            found: dict[str, int] = {}
            for who, n in rows:
                old = found.get(who)
                found[who] = _joined(way, begin if old is None else old, n, old is None, times)
            return [row for row in sorted(found.items()) if not kept or OPERATORS[sign](row[1], limit)]

        return twin

    def doubled(rows: list[Pair]) -> list[Pair]:
        return twin_of()([row for at, row in enumerate(rows) if row[0] not in {who for who, _ in rows[:at]}] + rows)

    entry = {
        "sum": f"        *{total}.entry(name).or_insert(0) += n;",
        "count": f"        *{total}.entry(name).or_insert(0) += 1;",
        "most": f"        {total}.entry(name).and_modify(|old| *old = n.max(*old)).or_insert(n);",
    }[way]
    changes: list[Change] = {
        "sum": [
            ("operator", "+= n", "-= n", twin_of(times=-1)),
            ("operator", "+= n", "= n", twin_of("last")),
            ("operator", "+= n", "+= 1", twin_of("count")),
            ("start", "or_insert(0)", "or_insert(1)", twin_of(begin=1)),
            ("start", "or_insert(0)", "or_insert(n)", doubled),
            ("borrow", "*", "", None),
            ("type", "(name)", "(n)", None),
        ],
        "count": [
            ("operator", "+= 1", "+= 2", twin_of(times=2)),
            ("operator", "+= 1", "= 1", lambda rows: [] if kept else [(who, 1) for who in sorted(dict(rows))]),
            ("operator", "+= 1", "+= n", twin_of("sum")),
            ("start", "or_insert(0)", "or_insert(1)", twin_of(begin=1)),
            ("start", "or_insert(0)", "or_insert(n)", lambda rows: _begun(rows, kept)),
            ("borrow", "*", "", None),
        ],
        "most": [
            ("method", "n.max(*old)", "n.min(*old)", twin_of("least")),
            ("method", "n.max(*old)", "n", twin_of("last")),
            ("operator", "n.max(*old)", "n + *old", twin_of("sum")),
            ("start", "or_insert(n)", "or_insert(0)", twin_of("zero")),
            ("borrow", "max(*old)", "max(old)", None),
            ("borrow", "*old =", "old =", None),
        ],
    }[way]
    begin = f"    let mut {total} = BTreeMap::new();"
    loop = "    for &(name, n) in rows {"
    last = (
        f"    {total}.into_iter().filter(|{item}| {item}.1 {sign} {limit}).collect()"
        if kept
        else f"    {total}.into_iter().collect()"
    )
    does = {
        "sum": "Adds the numbers of each name",
        "count": "Counts the rows of each name",
        "most": "Takes the largest number of each name",
    }[way]
    rest = f"; only a {total} {phrase} {limit} is kept" if kept else ""
    signs = (
        [
            join(
                wrong_signs(last, sign, lambda other: twin_of(sign=other)),
                site(
                    last,
                    ("constant", f" {limit})", f" {limit + 1})", twin_of(limit=limit + 1)),
                    ("field", f"{item}.1", f"{item}.0", None),
                    ("type", f" {limit})", f" &{limit})", None),
                ),
            )
        ]
        if kept
        else [site(last, ("type", ".into_iter()", "", None), ("borrow", ".into_iter()", ".iter()", None))]
    )
    return Sketch(
        name=name,
        code=lines(
            "use std::collections::BTreeMap;",
            "",
            "DOC",
            f"pub fn {name}<'a>(rows: &[(&'a str, i32)]) -> Vec<(&'a str, i32)> {{",
            begin,
            loop,
            entry,
            "    }",
            last,
            "}",
        ),
        doc=f"{does}, a to z{rest}.",
        vague=f"{does}, a to z.",
        task=f"{does[0].lower()}{does[1:].replace('s ', ' ', 1)}, a to z{rest}",
        sites=(
            site(entry, *changes),
            *signs,
            site(begin, ("mutability", "let mut", "let", None), ("type", "BTreeMap::new()", "Vec::new()", None)),
            site(
                loop,
                ("index", "rows", "&rows[1..]", lambda rows: twin_of()(rows[1:])),
                ("method", "rows", "rows.iter().take(2)", lambda rows: twin_of()(rows[:2])),
                ("type", "(name, n)", "(n, name)", None),
            ),
            site(
                f"pub fn {name}<'a>(rows: &[(&'a str, i32)]) -> Vec<(&'a str, i32)> {{",
                ("lifetime", "&[(&'a str", "&[(&str", None),
                ("lifetime", "Vec<(&'a str", "Vec<(&str", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (_rows(rng, limit if kept and way != "count" else 20),),
    )


def _joined(way: str, old: int, n: int, new: bool, times: int) -> int:
    if way in ("most", "least", "zero") and new:
        return 0 if way == "zero" else n
    return {
        "sum": old + times * n,
        "count": old + times,
        "most": max(old, n),
        "zero": max(old, n),
        "least": min(old, n),
        "last": n,
    }[way]


def _begun(rows: list[Pair], kept: bool) -> list[Pair]:
    found: dict[str, int] = {}
    for who, n in rows:
        found[who] = found.get(who, n) + 1
    return [row for row in sorted(found.items()) if not kept or row[1] > 1]


def _rows(rng: Random, near: int) -> list[Pair]:
    names = some(rng, "people", 2)
    names.sort(reverse=rng.random() < 0.5)
    return [(rng.choice(names), max(1, near + rng.choice((-9, -2, -1, 0, 0, 1, 5)))) for _ in range(rng.randint(2, 4))]


def bill(rng: Random) -> Sketch:
    """A bill of counts and prices: a discount on large lines, a fee or a cut on the sum."""
    (sum_, line), thing = some(rng, "keys", 2), pick(rng, "things")
    name, bulk, part = (
        f"{rng.choice(('bill', 'charge', 'invoice'))}_{thing}",
        rng.randint(3, 8),
        rng.choice((2, 4, 5, 10)),
    )
    sign, other = rng.choice((">=", ">")), rng.randint(5, 20)
    enough, last_sign = rng.randint(30, 90), rng.choice((">=", ">"))
    fee = rng.random() < 0.5

    def twin_of(
        bulk: int = bulk,
        part: int = part,
        sign: str = sign,
        enough: int = enough,
        last_sign: str = last_sign,
        other: int = other,
        way: str = "",
        begin: int = 0,
    ) -> Twin:
        def twin(rows: list[tuple[int, int]]) -> int:
            total = begin
            for count, price in rows:
                cost = count + price if way == "add" else count * price
                cut = OPERATORS[sign](price if way == "price" else count, bulk)
                cost = cost - cost // part if cut != (way == "swap") else cost
                total = cost if way == "only" else total + cost
            if fee:
                return total if OPERATORS[last_sign](total, enough) else total + other
            return total - other if OPERATORS[last_sign](total, enough) else total

        return twin

    cost = f"        let {line} = pieces * each;"
    add = f"        {sum_} += if pieces {sign} {bulk} {{ {line} - {line} / {part} }} else {{ {line} }};"
    last = (
        f"    if {sum_} {last_sign} {enough} {{ {sum_} }} else {{ {sum_} + {other} }}"
        if fee
        else f"    if {sum_} {last_sign} {enough} {{ {sum_} - {other} }} else {{ {sum_} }}"
    )
    end = (
        f"a bill of not {PHRASES[last_sign][0]} {enough} pays {other} more"
        if fee
        else f"a bill of {PHRASES[last_sign][0]} {enough} pays {other} less"
    )
    change = (
        [
            ("operator", f"{sum_} + {other}", f"{sum_} - {other}", twin_of(other=-other)),
            (
                "operator",
                f"{sum_} + {other}",
                f"{other}",
                lambda rows: (lambda n: n if OPERATORS[last_sign](n, enough) else other)(twin_of(other=0)(rows)),
            ),
        ]
        if fee
        else [
            ("operator", f"{sum_} - {other}", f"{sum_} + {other}", twin_of(other=-other)),
            (
                "operator",
                f"{sum_} - {other}",
                f"{other}",
                lambda rows: (lambda n: other if OPERATORS[last_sign](n, enough) else n)(twin_of(other=0)(rows)),
            ),
        ]
    )
    ends: list[Change] = [*change]
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(rows: &[(i32, i32)]) -> i32 {{",
            f"    let mut {sum_} = 0;",
            "    for &(pieces, each) in rows {",
            cost,
            add,
            "    }",
            last,
            "}",
        ),
        doc=f"Adds count times price; {PHRASES[sign][0]} {bulk} of a kind cost 1/{part} less, and {end}.",
        vague=f"Adds count times price; many of a kind cost 1/{part} less, and {end}.",
        task=f"take 1/{part} off for {PHRASES[sign][0]} {bulk} of a kind",
        sites=(
            site(
                add,
                ("strictness", f"pieces {sign} ", f"pieces {EQUALS[sign]} ", twin_of(sign=EQUALS[sign])),
                ("direction", f"pieces {sign} ", "pieces < ", twin_of(sign="<")),
                ("constant", f" {bulk} {{", f" {bulk + 1} {{", twin_of(bulk=bulk + 1)),
                ("constant", f"/ {part} ", f"/ {part + 1} ", twin_of(part=part + 1)),
                ("field", "if pieces", "if each", twin_of(way="price")),
                ("operator", "+= if", "= if", twin_of(way="only")),
                ("borrow", "if pieces", "if *pieces", None),
            ),
            site(
                last,
                (
                    "strictness",
                    f"{sum_} {last_sign} ",
                    f"{sum_} {EQUALS[last_sign]} ",
                    twin_of(last_sign=EQUALS[last_sign]),
                ),
                ("direction", f"{sum_} {last_sign} ", f"{sum_} < ", twin_of(last_sign="<")),
                ("constant", f" {enough} ", f" {enough + 1} ", twin_of(enough=enough + 1)),
                *ends,
                ("type", f"if {sum_} ", f"if &{sum_} ", None),
            ),
            site(cost, ("operator", "*", "+", twin_of(way="add")), ("type", "each", "rows", None)),
            site(
                f"    let mut {sum_} = 0;",
                ("start", "0", "1", twin_of(begin=1)),
                ("start", "0", f"{other}", twin_of(begin=other)),
                ("mutability", "let mut", "let", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (_lines(rng, bulk, enough),),
    )


def _lines(rng: Random, bulk: int, enough: int) -> list[tuple[int, int]]:
    if rng.random() < 0.3:
        return [(1, enough + rng.choice((-1, 0, 0, 1)))]
    return [(bulk + rng.choice((-2, -1, 0, 0, 1)), rng.randint(2, 20)) for _ in range(rng.randint(1, 3))]


TEMPLATES = (
    Template("tally", "aggregation_reporting", tally),
    Template("bill", "aggregation_reporting", bill),
)
