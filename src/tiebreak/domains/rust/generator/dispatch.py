"""Templates that dispatch on enums: operations with payloads, fees by kind and weight."""

from collections.abc import Callable
from random import Random

from tiebreak.domains.rust.generator.compare import EQUALS, OPERATORS, PHRASES, TURNED
from tiebreak.domains.rust.generator.sketch import Change, Site, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Raw
from tiebreak.domains.words import pick, some

# Each operation: what it does to `now` with its number n in Rust and in Python, and in words.
WAYS: dict[str, tuple[str, Callable[[int, int], int], str]] = {
    "add": ("{now} + n", lambda now, n: now + n, "adds its number"),
    "less": ("{now} - n", lambda now, n: now - n, "takes its number off"),
    "times": ("{now} * n", lambda now, n: now * n, "multiplies by its number"),
    "least": ("{now}.max(*n)", max, "goes up to its number"),
    "most": ("{now}.min(*n)", min, "goes down to its number"),
    "set": ("*n", lambda now, n: n, "becomes its number"),
    "back": ("n - {now}", lambda now, n: n - now, "becomes its number less what it was"),
}


def operations(rng: Random) -> Sketch:
    """A number after a list of operations."""
    kind, now = pick(rng, "nouns").capitalize(), pick(rng, "keys")
    names = [word.capitalize() for word in some(rng, "verbs", 4)]
    ways, begin = rng.sample(list(WAYS), 3), rng.randint(2, 7)
    clear = rng.choice((0, 1, begin))
    name = f"{rng.choice(('apply', 'play', 'work'))}_{pick(rng, 'things')}"

    def twin_of(ways: list[str] = ways, begin: int = begin, clear: int | None = clear, skip: int = 0) -> Twin:
        def twin(steps: list[Raw]) -> int:
            value = begin
            for step in steps[skip:]:
                word, _, number = step.text.rpartition("::")[2].rstrip(")").partition("(")
                place = names.index(word)
                if place < 3:
                    value = WAYS[ways[place]][1](value, int(number))
                elif clear is not None:
                    value = clear
            return value

        return twin

    def arm(place: int, way: str) -> str:
        return f"            {kind}::{names[place]}(n) => {WAYS[way][0].format(now=now)},"

    def arm_site(place: int) -> Site:
        have = WAYS[ways[place]][0].format(now=now)
        changes: list[Change] = []
        for way in WAYS:
            if way != ways[place]:
                other = [*ways[:place], way, *ways[place + 1 :]]
                changes.append(("operator", f"=> {have},", f"=> {WAYS[way][0].format(now=now)},", twin_of(other)))
        changes += [("borrow", f"=> {have},", "=> n,", None), ("type", f"=> {have},", "=> {},", None)]
        return site(arm(place, ways[place]), *rng.sample(changes[:6], 5), *changes[6:])

    last = f"            {kind}::{names[3]} => {clear},"
    start, loop = f"    let mut {now} = {begin};", f"    for {kind.lower()} in list {{"
    match, sites = f"        {now} = match {kind.lower()} {{", [arm_site(place) for place in range(3)]
    says = ", ".join(f"{names[place].lower()} {WAYS[ways[place]][2]}" for place in range(3))
    return Sketch(
        name=name,
        code=lines(
            f"pub enum {kind} {{",
            *(f"    {word}(i32)," for word in names[:3]),
            f"    {names[3]},",
            "}",
            "DOC",
            f"pub fn {name}(list: &[{kind}]) -> i32 {{",
            start,
            loop,
            match,
            *(arm(place, ways[place]) for place in range(3)),
            last,
            "        };",
            "    }",
            f"    {now}",
            "}",
        ),
        doc=f"From {begin}: {says}; {names[3].lower()} makes it {clear}.",
        vague=f"A {now} from {begin} on after some steps.",
        task=f"start at {begin}: {says}",
        sites=(
            *sites,
            site(
                last,
                ("constant", f"=> {clear},", f"=> {clear + 1},", twin_of(clear=clear + 1)),
                ("branch", f"=> {clear},", f"=> {now},", twin_of(clear=None)),
                ("type", f"=> {clear},", "=> None,", None),
                ("type", f"{names[3]} ", f"{names[3]}(_) ", None),
            ),
            site(
                start,
                ("start", f"= {begin}", f"= {begin + 1}", twin_of(begin=begin + 1)),
                ("start", f"= {begin}", "= 0", twin_of(begin=0)),
                ("mutability", "let mut", "let", None),
            ),
            site(loop, ("index", "in list", "in &list[1..]", twin_of(skip=1)), ("borrow", "in list", "in *list", None)),
            site(
                match,
                ("type", f"match {kind.lower()}", "match list", None),
                ("type", f"match {kind.lower()}", f"match {now}", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([_step(rng, kind, names) for _ in range(rng.randint(1, 3))],),
    )


def _step(rng: Random, kind: str, names: list[str]) -> Raw:
    place = rng.choice((0, 0, 1, 1, 2, 2, 3))
    return Raw(f"{kind}::{names[place]}" + (f"({rng.randint(2, 5)})" if place < 3 else ""))


def fees(rng: Random) -> Sketch:
    """A fee by kind and weight: light and heavy of one kind, a flat one, the rest."""
    kind, (a, b, c) = pick(rng, "nouns").capitalize(), (word.capitalize() for word in some(rng, "places", 3))
    weight, sign = pick(rng, "keys"), rng.choice(list(OPERATORS))
    name = f"{rng.choice(('fee', 'price', 'toll'))}_for_{pick(rng, 'things')}"
    limit, add, times, flat = rng.randint(8, 30), rng.randint(2, 9), rng.randint(2, 5), rng.randint(10, 60)
    rest = rng.choice((0, 1))
    flip = EQUALS[sign]
    turned = TURNED[sign]

    def twin_of(
        sign: str = sign,
        limit: int = limit,
        plain: str = f"*{times}",
        guarded: str = f"+{add}",
        flat: str = f"={flat}",
        rest: str = f"*{rest}",
        kinds: tuple[str, str, str] = (a, a, b),
    ) -> Twin:
        def twin(which: Raw, n: int) -> int:
            word = which.text.rpartition("::")[2]
            if word == kinds[0] and OPERATORS[sign](n, limit):
                return _paid(guarded, n)
            return _paid(plain if word == kinds[1] else flat if word == kinds[2] else rest, n)

        return twin

    first = f"        ({kind}::{a}, n) if n {sign} {limit} => n + {add},"
    second, third = f"        ({kind}::{a}, n) => n * {times},", f"        ({kind}::{b}, _) => {flat},"
    last = "        (_, n) => n," if rest else "        _ => 0,"
    says = PHRASES[sign][0]
    other = f"other {a} {times} times its {weight}"
    others = f"the rest its {weight}" if rest else "the rest nothing"
    return Sketch(
        name=name,
        code=lines(
            "#[derive(Clone, Copy)]" if rng.random() < 0.5 else "#[derive(Debug)]",
            f"pub enum {kind} {{",
            *(f"    {word}," for word in rng.sample((a, b, c), 3)),
            "}",
            "",
            "DOC",
            f"pub fn {name}(which: {kind}, {weight}: i32) -> i32 {{",
            f"    match (which, {weight}) {{",
            first,
            second,
            third,
            last,
            "    }",
            "}",
        ),
        doc=f"{a} of {says} {limit} pays its {weight} and {add}, {other}, {b} {flat}, {others}.",
        vague=f"What {a}, {b} and the rest pay for their {weight}.",
        task=f"charge {a} of {says} {limit} {add} more, other {a} {times} times as much, {b} {flat}",
        sites=(
            site(
                first,
                ("strictness", f" {sign} ", f" {flip} ", twin_of(flip)),
                ("direction", f" {sign} ", f" {turned} ", twin_of(turned)),
                ("constant", f" {limit} ", f" {limit + 1} ", twin_of(limit=limit + 1)),
                ("operator", f"n + {add}", f"n - {add}", twin_of(guarded=f"+{-add}")),
                ("constant", f"n + {add}", f"n + {add + 1}", twin_of(guarded=f"+{add + 1}")),
                ("operator", f"n + {add}", f"{add}", twin_of(guarded=f"={add}")),
                ("branch", f"::{a}", f"::{b}", twin_of(kinds=(b, a, b))),
                ("type", "if n ", "if &n ", None),
                ("type", f"{limit} =>", f"{limit} &&", None),
            ),
            site(
                second,
                ("operator", "*", "+", twin_of(plain=f"+{times}")),
                ("constant", f"* {times}", f"* {times + 1}", twin_of(plain=f"*{times + 1}")),
                ("branch", f"::{a}", f"::{c}", twin_of(kinds=(a, c, b))),
                ("type", f"* {times}", "* which", None),
            ),
            site(
                third,
                ("constant", f"=> {flat}", f"=> {flat + 1}", twin_of(flat=f"={flat + 1}")),
                ("branch", f"::{b}", f"::{c}", twin_of(kinds=(a, a, c))),
                ("branch", f"=> {flat}", f"=> {weight}", twin_of(flat="*1")),
                ("type", f"=> {flat}", f'=> "{flat}"', None),
                ("type", "_) ", "_, _) ", None),
            ),
            site(
                last,
                (
                    "branch",
                    "=> n" if rest else "=> 0",
                    "=> 0" if rest else f"=> {weight}",
                    twin_of(rest=f"*{1 - rest}"),
                ),
                ("constant", "=> n" if rest else "=> 0", "=> 1", twin_of(rest="=1")),
                ("type", "=> n" if rest else "=> 0", "=> which", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (Raw(f"{kind}::{rng.choice((a, a, a, b, c))}"), limit + rng.choice((-5, -1, 0, 0, 1, 6))),
    )


def _paid(rule: str, n: int) -> int:
    number = int(rule[1:])
    return {"+": n + number, "*": n * number, "=": number}[rule[0]]


TEMPLATES = (
    Template("operations", "match_enum_branch_logic", operations),
    Template("fees", "match_enum_branch_logic", fees),
)
