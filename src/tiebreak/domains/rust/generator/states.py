"""Templates of states: a cycle of states, a level with a floor and a ceiling."""

from random import Random

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, broken, lines, site
from tiebreak.domains.rust.generator.values import Raw
from tiebreak.domains.words import pick

MACHINES = (
    ("Door", ("Open", "Shut", "Locked")),
    ("Light", ("Red", "Green", "Amber")),
    ("Task", ("New", "Busy", "Done")),
    ("Pump", ("Off", "Slow", "Fast")),
    ("Order", ("Draft", "Paid", "Sent")),
    ("Phase", ("Dawn", "Noon", "Night")),
)


def cycle(rng: Random) -> Sketch:
    """A state after some steps of a cycle (or of a path whose last state stays)."""
    kind, states = rng.choice(MACHINES)
    a, b, c = rng.sample(states, 3)
    end = rng.choice((a, c))
    name, var = f"{rng.choice(('walk', 'advance', 'move'))}_{kind.lower()}", kind.lower()

    def twin_of(after: dict[str, str] | None = None, skip: int = 0) -> Twin:
        moves = {a: b, b: c, c: end} | (after or {})

        def twin(start: Raw, steps: int) -> Raw:
            state = start.text.rpartition("::")[2]
            for _ in range(skip, steps):
                state = moves[state]
            return Raw(f"{kind}::{state}")

        return twin

    def arm(source: str, target: str) -> str:
        return f"            {kind}::{source} => {kind}::{target},"

    path = [(a, b), (b, c), (c, end)]
    sites = [
        site(
            arm(source, target),
            *(
                ("branch", f"=> {kind}::{target}", f"=> {kind}::{wrong}", twin_of({source: wrong}))
                for wrong in states
                if wrong != target
            ),
        )
        for source, target in path
    ]
    begin, loop = f"    let mut {var} = start;", "    for _ in 0..steps {"
    last = f"{c} stays" if end == c else f"{c} to {a}"
    return Sketch(
        name=name,
        code=lines(
            "#[derive(Clone, Copy, Debug, PartialEq)]",
            f"pub enum {kind} {{",
            f"    {', '.join(states)},",
            "}",
            "",
            "DOC",
            f"pub fn {name}(start: {kind}, steps: u32) -> {kind} {{",
            begin,
            loop,
            f"        {var} = match {var} {{",
            *(f"{arm(*step)}" for step in path),
            "        };",
            "    }",
            f"    {var}",
            "}",
        ),
        doc=f"Takes steps: {a} goes to {b}, {b} to {c} and {last}.",
        vague=f"Takes steps from one {var} to the next.",
        task=f"move from {a} to {b} and from {b} to {c}",
        sites=(
            *sites,
            *sites,
            site(
                loop,
                ("range", "0..steps", "1..steps", twin_of(skip=1)),
                ("range", "0..steps", "0..=steps", twin_of(skip=-1)),
                ("type", "0..steps", "steps", None),
            ),
            broken("mutability", begin, f"    let {var} = start;"),
        ),
        twin=twin_of(),
        sample=lambda rng: (Raw(f"{kind}::{rng.choice(states)}"), rng.randint(1, 3)),
    )


def level(rng: Random) -> Sketch:
    """A level that changes and stays between a floor and a ceiling."""
    key, floor, top = pick(rng, "keys"), rng.choice((0, rng.randint(2, 9))), rng.randint(20, 60)
    begin, name = rng.randint(floor, 19), f"{rng.choice(('track', 'follow', 'update'))}_{key}"

    def twin_of(begin: int = begin, sign: int = 1, floor: int = floor, top: int = top, order: str = "both") -> Twin:
        def twin(changes: list[int]) -> int:
            now = begin
            for change in changes:
                now += sign * change
                if order != "top":
                    now = max(now, floor)
                if order != "floor":
                    now = min(now, top)
            return now

        return twin

    def turned(low: str, high: str) -> Twin:
        pickers = {"max": max, "min": min}

        def twin(changes: list[int]) -> int:
            now = begin
            for change in changes:
                now = pickers[high](pickers[low](now + change, floor), top)
            return now

        return twin

    start, clamp = f"    let mut now = {begin};", f"        now = now.max({floor}).min({top});"
    add = "        now += change;"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(changes: &[i32]) -> i32 {{",
            start,
            "    for change in changes {",
            add,
            clamp,
            "    }",
            "    now",
            "}",
        ),
        doc=f"Adds changes to a {key} of {begin}. It stays at least {floor} and at most {top}.",
        vague=f"Adds changes to a {key} between a floor and a top.",
        task=f"keep the {key} at least {floor} and at most {top} from a start of {begin}",
        sites=(
            site(
                clamp,
                ("method", "max", "min", turned("min", "min")),
                ("method", "min", "max", turned("max", "max")),
                ("constant", f"max({floor})", f"max({floor + 1})", twin_of(floor=floor + 1)),
                ("constant", f"min({top})", f"min({top - 1})", twin_of(top=top - 1)),
                ("swapped", f"max({floor}).min({top})", f"min({floor}).max({top})", turned("min", "max")),
                ("method", f".max({floor})", "", twin_of(order="top")),
                ("method", f".min({top})", "", twin_of(order="floor")),
            ),
            site(
                add,
                ("operator", "+=", "-=", twin_of(sign=-1)),
                ("operator", "+=", "=", None),
                ("borrow", " change", " &change", None),
            ),
            site(
                start,
                ("start", f"{begin};", f"{begin + 1};", twin_of(begin=begin + 1)),
                ("start", f"{begin};", f"{begin + 2};", twin_of(begin=begin + 2)),
                ("mutability", "let mut", "let", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (
            [rng.choice((top - begin, floor - begin - 3, top, -top, 1, 2, -2)) for _ in range(rng.randint(1, 3))],
        ),
    )


TEMPLATES = (
    Template("cycle", "state_transitions", cycle),
    Template("level", "state_transitions", level),
)
