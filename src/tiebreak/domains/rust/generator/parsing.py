"""Templates that parse and validate text."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import OPERATORS
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Err, Ok
from tiebreak.domains.words import pick

SEPARATORS = {"=": "equals sign", ":": "colon", "/": "slash", "-": "dash"}


def parse_pair(rng: Random) -> Sketch:
    """The number after a separator, inside a range."""
    key, sep = pick(rng, "keys"), rng.choice(list(SEPARATORS))
    low, high = rng.randint(2, 30), rng.randint(40, 99)
    other = rng.choice([mark for mark in SEPARATORS if mark != sep])
    name = f"{rng.choice(('parse', 'read', 'load'))}_{key}"

    def twin_of(
        sep: str = sep,
        under: str = "<",
        over: str = ">",
        both: bool = False,
        part: int = 2,
        low: int = low,
        high: int = high,
    ) -> Twin:
        def twin(text: str) -> Any:
            parts = text.partition(sep)
            if not parts[1]:
                return Err("form")
            if not parts[part].isdecimal():
                return Err("number")
            n = int(parts[part])
            outside = (OPERATORS[under](n, low), OPERATORS[over](n, high))
            return Err("range") if (all(outside) if both else any(outside)) else Ok(n)

        return twin

    def sample(rng: Random) -> tuple[str]:
        n = rng.choice((low - 1, low, low, low + 1, high - 1, high, high, high + 1))
        return (rng.choice((f"{key}{sep}{n}",) * 8 + (f"{key}{n}", f"{key}{sep}{key}", f"{key}{other}{n}")),)

    split = f"    let (_, part) = text.split_once('{sep}').ok_or(\"form\")?;"
    test, number = f"    if n < {low} || n > {high} {{", '    let n: i32 = part.parse().map_err(|_| "number")?;'
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(text: &str) -> Result<i32, &'static str> {{",
            split,
            number,
            test,
            '        return Err("range");',
            "    }",
            "    Ok(n)",
            "}",
        ),
        doc=f"Reads the number after the {SEPARATORS[sep]}, at least {low} and at most {high}.",
        vague=f"Reads the number after the {SEPARATORS[sep]} and checks its range.",
        task=f"read a number of at least {low} and at most {high} after the {SEPARATORS[sep]}",
        sites=(
            site(
                test,
                ("strictness", f"n < {low}", f"n <= {low}", twin_of(under="<=")),
                ("strictness", f"n > {high}", f"n >= {high}", twin_of(over=">=")),
                ("direction", f"n < {low}", f"n > {low}", twin_of(under=">")),
                ("direction", f"n > {high}", f"n < {high}", twin_of(over="<")),
                ("operator", "||", "&&", twin_of(both=True)),
                ("constant", f"< {low} ", f"< {low + 1} ", twin_of(low=low + 1)),
                ("constant", f"> {high} ", f"> {high + 1} ", twin_of(high=high + 1)),
            ),
            site(
                split,
                ("swapped", "(_, part)", "(part, _)", twin_of(part=0)),
                ("constant", f"'{sep}'", f"'{other}'", twin_of(sep=other)),
                ("type", "?", "", None),
            ),
            site("    Ok(n)", ("type", "n", "part", None), ("type", "Ok(n)", "n", None)),
            site(number, ("type", ": i32", ": u8", None), ("type", "?", "", None)),
        ),
        twin=twin_of(),
        sample=sample,
    )


CLASSES = {"lowercase": "small letters", "uppercase": "capitals"}
SAMPLES = {"lowercase": "abcdpqrsxyz", "uppercase": "ABCDPQRSXYZ"}


def valid_code(rng: Random) -> Sketch:
    """Whether a code is long enough and made of one kind of character."""
    kind, size, sign = rng.choice(list(CLASSES)), rng.randint(3, 6), rng.choice(("<", ">"))
    word = rng.choice(("code", "label", "token", "tag"))
    wrong_kind = rng.choice([name for name in CLASSES if name != kind])
    name = f"{rng.choice(('valid', 'check', 'accept'))}_{word}"

    def twin_of(sign: str = sign, size: int = size, kind: str = kind, any_one: bool = False, bad: bool = False) -> Twin:
        def twin(text: str) -> bool:
            if OPERATORS[sign](len(text), size):
                return bad
            fits = [each.islower() == (kind == "lowercase") for each in text]
            return any(fits) if any_one else all(fits)

        return twin

    def sample(rng: Random) -> tuple[str]:
        letters = [rng.choice(SAMPLES[kind]) for _ in range(size + rng.choice((-1, 0, 0, 0, 1)))]
        if rng.random() < 0.3:
            letters[rng.randrange(len(letters))] = rng.choice(SAMPLES[wrong_kind])
        return ("".join(letters),)

    test, last = f"    if {word}.len() {sign} {size} {{", f"    {word}.chars().all(|c| c.is_ascii_{kind}())"
    rest = {"<": ">", ">": "<"}[sign]
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}({word}: &str) -> bool {{",
            test,
            "        return false;",
            "    }",
            last,
            "}",
        ),
        doc=f"A {word} has at {'least' if sign == '<' else 'most'} {size} signs, all of them {CLASSES[kind]}.",
        vague=f"A {word} has the right length and is all {CLASSES[kind]}.",
        task=f"accept a {word} of at {'least' if sign == '<' else 'most'} {size} {CLASSES[kind]}",
        sites=(
            site(
                test,
                ("strictness", sign, sign + "=", twin_of(sign=sign + "=")),
                ("direction", sign, rest, twin_of(sign=rest)),
                ("constant", f"{size} ", f"{size + 1} ", twin_of(size=size + 1)),
                ("constant", f"{size} ", f"{size - 1} ", twin_of(size=size - 1)),
                ("type", ".len()", "", None),
            ),
            site("        return false;", ("flow", "false", "true", twin_of(bad=True)), ("type", " false", "", None)),
            site(
                last,
                ("method", "all", "any", twin_of(any_one=True)),
                ("method", kind, wrong_kind, twin_of(kind=wrong_kind)),
                ("type", ".chars()", "", None),
            ),
        ),
        twin=twin_of(),
        sample=sample,
    )


TEMPLATES = (
    Template("parse_pair", "parsing_validation", parse_pair),
    Template("valid_code", "parsing_validation", valid_code),
)
