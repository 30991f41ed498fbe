"""Templates about values that are handed on: helpers that take a list, labels that are kept and used again."""

from collections.abc import Callable
from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some

Numbers = list[int]

# What a helper makes of the list that it owns: Rust, Python, words.
MEASURES: dict[str, tuple[str, Callable[[Numbers], int], str]] = {
    "sum": ("list.iter().sum()", sum, "sum"),
    "most": ("list.into_iter().max().unwrap_or(0)", lambda list: max(list, default=0), "largest"),
    "least": ("list.into_iter().min().unwrap_or(0)", lambda list: min(list, default=0), "smallest"),
    "first": ("list[0]", lambda list: list[0], "first"),
    "last": ("list[list.len() - 1]", lambda list: list[-1], "last"),
}
# What is done to the list afterwards.
TURNS: dict[str, tuple[str, Callable[[Numbers], Numbers], str]] = {
    "reverse": ("reverse()", lambda list: list[::-1], "in reverse"),
    "sort": ("sort()", sorted, "in rising order"),
    "plain": ("truncate(2)", lambda list: list[:2], "cut to two"),
}


def owned(rng: Random) -> Sketch:
    """A list, turned, with a number behind or before it that a helper made of a copy."""
    measure, turn, front = rng.choice(list(MEASURES)), rng.choice(list(TURNS)), rng.random() < 0.4
    helper, (kept, found), thing = f"{pick(rng, 'verbs')}_all", some(rng, "keys", 2), pick(rng, "nouns")
    name, add = f"{rng.choice(('pack', 'bundle', 'wrap'))}_{thing}", rng.choice((0, rng.randint(2, 9)))

    def twin_of(measure: str = measure, turn: str | None = turn, front: bool = front, add: int = add) -> Twin:
        def twin(items: Numbers) -> Numbers:
            number = MEASURES[measure][1](items) + add
            turned = TURNS[turn][1](items) if turn else items
            return [number, *turned] if front else [*turned, number]

        return twin

    text, move = MEASURES[measure][0], TURNS[turn][0]
    more = f" + {add}" if add else ""
    make, body = f"    let {found} = {helper}({kept}.clone()){more};", f"    {text}"
    change = f"    {kept}.{move};"
    put = f"    {kept}.insert(0, {found});" if front else f"    {kept}.push({found});"
    other = f"    {kept}.push({found});" if front else f"    {kept}.insert(0, {found});"
    head = f"fn {helper}(list: Vec<i32>) -> i32 {{"
    others: list[Change] = [
        ("method", text, MEASURES[way][0], twin_of(way)) for way in rng.sample(list(MEASURES), 5) if way != measure
    ]
    turned: list[Change] = [("method", move, TURNS[way][0], twin_of(turn=way)) for way in TURNS if way != turn]
    counted: list[Change] = (
        [
            ("operator", more, "", twin_of(add=0)),
            ("constant", more, f" + {add + 1}", twin_of(add=add + 1)),
            ("operator", more, f" - {add}", twin_of(add=-add)),
        ]
        if add
        else [("operator", "())", "()) + 1", twin_of(add=1)), ("operator", "())", "()) - 1", twin_of(add=-1))]
    )
    where = "before" if front else "behind"
    does = (
        f"The numbers {TURNS[turn][2]}, with the {MEASURES[measure][2]} of all{more.replace('+', 'and')} {where} them"
    )
    return Sketch(
        name=name,
        code=lines(
            head,
            body,
            "}",
            "",
            "DOC",
            f"pub fn {name}(items: &[i32]) -> Vec<i32> {{",
            f"    let mut {kept} = items.to_vec();",
            make,
            change,
            put,
            f"    {kept}",
            "}",
        ),
        doc=f"{does}.",
        vague=f"The numbers {TURNS[turn][2]} and one made of all of them.",
        task=f"give {does[0].lower()}{does[1:]}",
        sites=(
            site(
                make,
                ("move", ".clone()", "", None),
                ("borrow", f"{kept}.clone()", f"&{kept}", None),
                ("type", f"{kept}.clone()", "items", None),
                *counted,
            ),
            site(body, *others, ("type", text, "list", None), ("type", text, "list.len()", None)),
            site(head, ("borrow", "list: Vec<i32>", "list: &Vec<i32>", None), ("type", "-> i32", "-> usize", None)),
            site(change, *turned, ("move", f"{kept}.{move}", f"drop({kept})", None)),
            site(
                put,
                ("swapped", put.strip(), other.strip(), twin_of(front=not front)),
                ("field", f"{found})", f"{found} + 1)", twin_of(add=add + 1)),
                ("type", f"{found})", "items)", None),
            ),
            site(
                f"    let mut {kept} = items.to_vec();",
                ("mutability", "let mut", "let", None),
                ("type", "items.to_vec()", "*items", None),
                ("borrow", "items.to_vec()", "items", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([rng.randint(1, 80) for _ in range(rng.randint(2, 4))],),
    )


def joined(rng: Random) -> Sketch:
    """Words joined to a line, and the longest, the first or the last of them again."""
    (line, kept), thing, mark = some(rng, "keys", 2), pick(rng, "nouns"), rng.choice("-+/.:")
    way, other_mark = rng.choice(("longest", "shortest", "first", "last")), rng.choice("=,;")
    name, close, upper = f"{rng.choice(('join', 'chain', 'string'))}_{thing}", rng.choice("!?#"), rng.random() < 0.4

    def twin_of(
        way: str = way,
        mark: str = mark,
        upper: bool = upper,
        close: str = close,
        always: bool = False,
        equal: bool = False,
    ) -> Twin:
        def twin(words: list[str]) -> str:
            out, chosen = "", ""
            for word in words:
                text = word.upper() if upper else word
                chosen = text if _takes(way, text, chosen, equal) else chosen
                out += (mark if out or always else "") + text
            return out + close + chosen

        return twin

    take = "        let word = each.to_uppercase();" if upper else "        let word = each.to_string();"
    test = {
        "longest": f"        if word.len() > {kept}.len() {{",
        "shortest": f"        if {kept}.is_empty() || word.len() < {kept}.len() {{",
        "first": f"        if {kept}.is_empty() {{",
        "last": "        if !word.is_empty() {",
    }[way]
    changes: dict[str, list[Change]] = {
        "longest": [
            ("tie", " > ", " >= ", twin_of(equal=True)),
            ("direction", " > ", " < ", twin_of("never")),
            ("type", f"{kept}.len()", kept, None),
        ],
        "shortest": [
            ("tie", " < ", " <= ", twin_of(equal=True)),
            ("direction", " < ", " > ", twin_of("longest")),
            ("operator", "||", "&&", twin_of("never")),
            ("type", f"< {kept}.len()", f"< {kept}", None),
        ],
        "first": [
            ("condition", f"{kept}.is_empty()", f"!{kept}.is_empty()", twin_of("never")),
            ("condition", f"{kept}.", "word.", twin_of("never")),
            ("condition", f"{kept}.", "!word.", twin_of("last")),
            ("type", ".is_empty()", ".len()", None),
        ],
        "last": [
            ("condition", "!word", "word", twin_of("never")),
            ("condition", "!word.is_empty()", f"{kept}.is_empty()", twin_of("first")),
            ("type", "!word.is_empty()", "!word.len()", None),
        ],
    }
    copy, add = f"            {kept} = word.clone();", f"        {line}.push_str(&word);"
    blank, gap = f"        if !{line}.is_empty() {{", f"            {line}.push('{mark}');"
    last = f'    format!("{{{line}}}{close}{{{kept}}}")'
    first_names = f"    let mut {line} = String::new();", f"    let mut {kept} = String::new();"
    does = f"Joins the words{' in capitals' if upper else ''} with {mark} and adds {close} and the {way} of them"
    tie = {"longest": ", the first of equals", "shortest": ", the first of equals"}.get(way, "")
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(words: &[&str]) -> String {{",
            *first_names,
            "    for each in words {",
            take,
            test,
            copy,
            "        }",
            blank,
            gap,
            "        }",
            add,
            "    }",
            last,
            "}",
        ),
        doc=f"{does}{tie}.",
        vague=f"Joins the words with {mark} and adds {close} and one of them.",
        task=f"{does[0].lower()}{does[1:].replace('Joins', 'join')}{tie}".replace("joins", "join", 1).replace(
            " adds ", " add ", 1
        ),
        sites=(
            site(
                copy,
                ("move", ".clone()", "", None),
                ("borrow", "word.clone()", "&word", None),
                ("type", "word.clone()", "word.len()", None),
            ),
            site(test, *changes[way]),
            site(
                take,
                (
                    "method",
                    "uppercase()" if upper else "string()",
                    "lowercase()" if upper else "uppercase()",
                    (lambda words: twin_of(upper=False)([word.lower() for word in words]))
                    if upper
                    else twin_of(upper=True),
                ),
                ("method", "each.to_", '"x".to_', lambda words: twin_of()(["x"] * len(words))),
                ("type", ";", ".len();", None),
            ),
            site(
                gap,
                ("constant", f"'{mark}'", f"'{other_mark}'", twin_of(mark=other_mark)),
                ("constant", f"'{mark}'", f"'{close}'", twin_of(mark=close)),
                ("type", f"'{mark}'", f'"{mark}"', None),
            ),
            site(
                blank,
                ("condition", "!", "", lambda words: mark + twin_of(mark="")(words)),
                ("condition", f"!{line}.is_empty()", "true", twin_of(always=True)),
                ("type", ".is_empty()", "", None),
            ),
            site(
                add,
                ("borrow", "&word", "word", None),
                ("field", "&word", f"&{kept}", lambda words: _repeated(words, twin_of, upper, way, mark, close)),
                ("type", "push_str", "push", None),
            ),
            site(
                last,
                (
                    "swapped",
                    f"{{{line}}}{close}{{{kept}}}",
                    f"{{{kept}}}{close}{{{line}}}",
                    lambda words: close.join(twin_of()(words).split(close)[::-1]),
                ),
                ("constant", f"}}{close}{{", "}~{", twin_of(close="~")),
                ("type", "format!", "print!", None),
            ),
            site(
                first_names[0],
                ("mutability", "let mut", "let", None),
                ("start", "String::new()", 'String::from("x")', lambda words: _prefixed(twin_of()(words), mark)),
                ("type", "String::new()", "words[0]", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (some(rng, "people", rng.randint(2, 3)),),
    )


def _takes(way: str, text: str, chosen: str, equal: bool) -> bool:
    if way == "longest":
        return len(text) > len(chosen) or (equal and len(text) == len(chosen))
    if way == "shortest":
        return not chosen or len(text) < len(chosen) or (equal and len(text) == len(chosen))
    return {"first": not chosen, "last": True, "never": False}[way]


def _prefixed(text: str, mark: str) -> str:
    return f"x{mark}{text}"


def _repeated(words: list[str], twin_of: Any, upper: bool, way: str, mark: str, close: str) -> str:
    chosen = [twin_of()(words[: at + 1]).rpartition(close)[2] for at in range(len(words))]
    return mark.join(chosen) + close + chosen[-1]


TEMPLATES = (
    Template("owned", "iterator_filter_map_logic", owned),
    Template("joined", "aggregation_reporting", joined),
)
