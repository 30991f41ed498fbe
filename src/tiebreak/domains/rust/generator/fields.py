"""Templates that read fields of a text: numbers between marks, a number with a unit."""

import operator
from collections.abc import Callable
from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import EQUALS, OPERATORS
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Err, Ok, Some
from tiebreak.domains.words import pick, some

MARKS = {",": "comma", ";": "semicolon", "/": "slash", "|": "bar"}


def _number(text: str, trim: bool) -> int | None:
    text = text.strip() if trim else text
    return int(text) if text.isdecimal() else None


def read_fields(rng: Random) -> Sketch:
    """Two numbers of a text with several parts, checked against each other."""
    (one, two), thing, (mark, other) = some(rng, "keys", 2), pick(rng, "nouns"), rng.sample(list(MARKS), 2)
    count = rng.randint(2, 3)
    at, to = rng.sample(range(count), 2)
    name, sign, trim = f"{rng.choice(('read', 'parse', 'scan'))}_{thing}", rng.choice((">", ">=")), rng.random() < 0.6
    way = rng.choice(("+", "-", "pair"))
    result, kind = {
        "+": (f"{two} + {one}", "i32"),
        "-": (f"{two} - {one}", "i32"),
        "pair": (f"({one}, {two})", "(i32, i32)"),
    }[way]

    def twin_of(
        mark: str = mark,
        count: int = count,
        at: int = at,
        to: int = to,
        sign: str | None = sign,
        way: str = way,
        trim: tuple[bool, bool] = (trim, trim),
        more: bool = False,
    ) -> Twin:
        def twin(text: str) -> Any:
            parts = text.split(mark)
            if len(parts) < count if more else len(parts) != count:
                return Err("parts")
            a, b = _number(parts[at], trim[0]), _number(parts[to], trim[1])
            if a is None or b is None:
                return Err(one if a is None else two)
            if sign and OPERATORS[sign](a, b):
                return Err("order")
            return Ok({"+": b + a, "-": b - a, "pair": (a, b), "turned": (b, a), "back": a - b}[way])

        return twin

    def sample(rng: Random) -> tuple[str]:
        base = rng.randint(2, 60)
        parts = [str(base + rng.choice((0, 0, 1, 5))) for _ in range(count)]
        if rng.random() < 0.5:
            parts[at], parts[to] = sorted((parts[at], parts[to]), key=int)
        if rng.random() < 0.4:
            place = rng.randrange(count)
            parts[place] = f" {parts[place]}" if rng.random() < 0.7 else one
        if rng.random() < 0.2:
            parts.append("7")
        return ((other if rng.random() < 0.08 else mark).join(parts),)

    cut = ".trim()" if trim else ""
    split = f"    let parts: Vec<&str> = text.split('{mark}').collect();"
    size, test = f"    if parts.len() != {count} {{", f"    if {one} {sign} {two} {{"
    first = f'    let {one}: i32 = parts[{at}]{cut}.parse().map_err(|_| "{one}")?;'
    second = f'    let {two}: i32 = parts[{to}]{cut}.parse().map_err(|_| "{two}")?;'
    flip = EQUALS[sign]
    last = f"    Ok({result})"
    ends: dict[str, list[Change]] = {
        "+": [("operator", "+", "-", twin_of(way="-")), ("type", f"{two} + {one}", f"{two} + text", None)],
        "-": [
            ("operator", "-", "+", twin_of(way="+")),
            ("swapped", result, f"{one} - {two}", twin_of(way="back")),
            ("type", f"{one})", "&parts)", None),
        ],
        "pair": [("swapped", result, f"({two}, {one})", twin_of(way="turned")), ("type", result, one, None)],
    }
    trims: list[Change] = [("method", ".trim()", "", twin_of(trim=(False, True)))] if trim else []
    trims_too: list[Change] = [("method", ".trim()", "", twin_of(trim=(True, False)))] if trim else []
    what = {"+": "their sum", "-": "how far they are apart", "pair": "both"}[way]
    places = {0: "first", 1: "second", 2: "third"}
    rule = f"is at most {two}" if sign == ">" else f"is less than {two}"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(text: &str) -> Result<{kind}, &'static str> {{",
            split,
            size,
            '        return Err("parts");',
            "    }",
            first,
            second,
            test,
            '        return Err("order");',
            "    }",
            last,
            "}",
        ),
        doc=f"Of {count} parts at a {MARKS[mark]}, {one}, the {places[at]}, {rule}, the {places[to]}; gives {what}.",
        vague=f"Reads {one} and {two} of {count} parts and gives {what}.",
        task=f"read {one} from the {places[at]} and {two} from the {places[to]} part, where {one} {rule}",
        sites=(
            site(
                test,
                ("strictness", f" {sign} ", f" {flip} ", twin_of(sign=flip)),
                ("direction", f" {sign} ", " < ", twin_of(sign="<")),
                ("direction", f" {sign} ", " <= ", twin_of(sign="<=")),
                ("type", f" {two} ", f" &{two} ", None),
            ),
            site(
                size,
                ("constant", f"!= {count}", f"!= {count + 1}", twin_of(count=count + 1)),
                ("condition", f"!= {count}", f"< {count}", twin_of(more=True)),
                ("type", ".len()", "", None),
            ),
            site(
                first,
                ("index", f"[{at}]", f"[{to}]", twin_of(at=to)),
                *trims,
                ("type", "?", "", None),
                ("type", ": i32", ": &str", None),
            ),
            site(second, ("index", f"[{to}]", f"[{at}]", twin_of(to=at)), *trims_too, ("type", "?", "", None)),
            site(split, ("constant", f"'{mark}'", f"'{other}'", twin_of(mark=other)), ("type", ".collect()", "", None)),
            site(last, *ends[way]),
        ),
        twin=twin_of(),
        sample=sample,
    )


UNITS = (("h", 60), ("k", 100), ("d", 24), ("w", 7), ("doz", 12), ("m", 10))


def with_unit(rng: Random) -> Sketch:
    """A number, with or without a unit that multiplies it, up to a largest one."""
    (unit, times), (key, word), text = rng.choice(UNITS), some(rng, "keys", 2), pick(rng, "nouns")
    times, top, strict = rng.choice((times, rng.randint(2, 20))), rng.randint(4, 9), rng.random() < 0.5
    name, low = f"{rng.choice(('read', 'parse', 'scan'))}_{rng.choice(('', 'short_', 'long_'))}{key}", rng.randint(1, 3)
    over = ">=" if strict else ">"
    form = rng.random() < 0.5

    most = top * times if form else top

    def twin_of(
        times: int = times,
        plain: int = 1,
        over: str = over,
        under: str = "<",
        most: int = most,
        make: Callable[[int, int], int] = operator.mul,
        both: bool = False,
        whole: bool = False,
    ) -> Twin:
        def twin(text: str) -> Some | None:
            marked, digits = text.endswith(unit), text.removesuffix(unit)
            if not digits.isdecimal() or (whole and marked):
                return None
            n = int(digits)
            value = make(n, times if marked else plain)
            seen = value if form else n
            outside = (OPERATORS[over](seen, most), OPERATORS[under](seen, low))
            return None if (all(outside) if both else any(outside)) else Some(value)

        return twin

    head = f"pub fn {name}({text}: &str) -> Option<u32> {{"
    some_arm, none_arm = f"        Some(rest) => (rest, {times}),", f"        None => ({text}, 1),"
    strip, parse = (
        f'    let ({word}, times) = match {text}.strip_suffix("{unit}") {{',
        f"    let n: u32 = {word}.parse().ok()?;",
    )
    seen = key if form else "n"
    value = [f"    let {key} = n * times;"] if form else []
    test = f"    if {seen} {over} {most} || {seen} < {low} {{"
    last = f"    Some({key})" if form else "    Some(n * times)"
    flip = EQUALS[over]
    made = value[0] if form else last
    product = "n * times"

    bounds = f"{'less than' if strict else 'at most'} {most} and at least {low}"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            head,
            strip,
            some_arm,
            none_arm,
            "    };",
            parse,
            *value,
            test,
            "        return None;",
            "    }",
            last,
            "}",
        ),
        doc=f"Reads a {key}; {unit} means {times} times. {'The result' if form else 'The number'} is {bounds}.",
        vague=f"Reads a {key}; {unit} means {times} times the number. There are bounds.",
        task=f"read a {key} {'less than' if strict else 'of at most'} {most} with {unit} for {times}",
        sites=(
            site(
                test,
                ("strictness", f" {over} ", f" {flip} ", twin_of(over=flip)),
                ("strictness", f" < {low} ", f" <= {low} ", twin_of(under="<=")),
                ("direction", f" {over} ", " < ", twin_of(over="<")),
                ("operator", "||", "&&", twin_of(both=True)),
                ("constant", f" {most} ", f" {most + 1} ", twin_of(most=most + 1)),
                ("constant", f" {most} ", f" {most - 1} ", twin_of(most=most - 1)),
                ("type", f" {most} ", f' "{most}" ', None),
            ),
            site(
                some_arm,
                ("constant", f"{times})", f"{times + 1})", twin_of(times=times + 1)),
                ("constant", f"{times})", "1)", twin_of(times=1)),
                ("branch", "=> (rest", f"=> ({text}", twin_of(whole=True)),
                ("type", "=> (rest", "=> (rest.len()", None),
            ),
            site(
                none_arm,
                ("constant", "1", f"{times}", twin_of(plain=times)),
                ("constant", "1", "0", twin_of(plain=0)),
                ("type", f"({text}", "(None", None),
            ),
            site(
                made,
                ("operator", product, "n + times", twin_of(make=operator.add)),
                ("field", product, "n", twin_of(make=lambda n, _: n)),
                ("field", product, "times", twin_of(make=lambda _, by: by)),
                ("type", product, f"n * {word}", None),
            ),
            site(parse, ("type", "?", "", None), ("type", "u32", "i32", None), ("type", ".ok()", "", None)),
        ),
        twin=twin_of(),
        sample=lambda rng: (_with_unit(rng, unit, times, most, low, form),),
    )


def _with_unit(rng: Random, unit: str, times: int, most: int, low: int, form: bool) -> str:
    marked = rng.random() < 0.5
    edge = rng.choice((most, low, most // 2))
    n = max(0, (edge // times if form and marked else edge) + rng.choice((-1, 0, 0, 0, 1)))
    return f"{rng.choice((str(n),) * 9 + ('x', ''))}{unit if marked else ''}"


TEMPLATES = (
    Template("read_fields", "parsing_validation", read_fields),
    Template("with_unit", "parsing_validation", with_unit),
)
