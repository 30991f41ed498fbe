"""Templates of intervals: do two overlap, by how much, how many hold a moment."""

from random import Random

from tiebreak.domains.rust.generator.compare import OPERATORS
from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site

Slot = tuple[int, int]


def slot(rng: Random, near: int) -> Slot:
    """An interval that often begins or ends at `near`."""
    begin = near + rng.choice((-4, -2, -1, 0, 0, 1))
    return (begin, max(begin + 1, near + rng.choice((0, 0, 1, 2, 5))))


def overlap(rng: Random) -> Sketch:
    """Whether two intervals share time; ends are part of them or not."""
    closed = rng.random() < 0.5
    word = rng.choice(("booking", "meeting", "visit", "shift", "stay"))
    name, sign = f"{word}s_{rng.choice(('clash', 'overlap', 'meet'))}", "<=" if closed else "<"
    other = "<" if closed else "<="
    near = rng.randint(8, 80)

    def twin_of(one: str = sign, two: str = sign, either: bool = False, ends: tuple[int, int] = (1, 1)) -> Twin:
        def twin(a: Slot, b: Slot) -> bool:
            early, late = OPERATORS[one](a[0], b[ends[0]]), OPERATORS[two](b[0], a[ends[1]])
            return (early or late) if either else (early and late)

        return twin

    early, late = f"    let early = a.0 {sign} b.1;", f"    let late = b.0 {sign} a.1;"
    turned = ">=" if closed else ">"
    return Sketch(
        name=name,
        code=lines(
            "DOC", f"pub fn {name}(a: (u32, u32), b: (u32, u32)) -> bool {{", early, late, "    early && late", "}"
        ),
        doc=f"Do two {word}s share time? The end is {'still' if closed else 'not'} part of a {word}.",
        vague=f"Do two {word}s share time?",
        task=f"see whether two {word}s share time, {'with' if closed else 'without'} their ends",
        sites=(
            site(
                early,
                ("strictness", sign, other, twin_of(one=other)),
                ("direction", sign, turned, twin_of(one=turned)),
                ("field", "b.1", "b.0", twin_of(ends=(0, 1))),
                ("type", "b.1", "b", None),
            ),
            site(
                late,
                ("strictness", sign, other, twin_of(two=other)),
                ("direction", sign, turned, twin_of(two=turned)),
                ("field", "a.1", "a.0", twin_of(ends=(1, 0))),
                ("type", "a.1", "a", None),
            ),
            site(
                "    early && late",
                ("operator", "&&", "||", twin_of(either=True)),
                ("operator", "early && late", "early", lambda a, b: OPERATORS[sign](a[0], b[1])),
                ("operator", "early && late", "late", lambda a, b: OPERATORS[sign](b[0], a[1])),
                ("type", "&&", "+", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (
            (slot(rng, near), slot(rng, near)) if rng.random() < 0.7 else (slot(rng, near), slot(rng, near + 3))
        ),
    )


def shared_length(rng: Random) -> Sketch:
    """The length of the time that two intervals share."""
    unit, word = rng.choice(("minutes", "hours", "days")), rng.choice(("talk", "class", "rental", "trip", "lease"))
    name, near = f"shared_{unit}", rng.randint(8, 80)

    def twin_of(start: str = "max", end: str = "min", fields: tuple[int, int] = (0, 1), extra: int = 0) -> Twin:
        pickers = {"max": max, "min": min}

        def twin(a: Slot, b: Slot) -> int:
            return max(0, pickers[end](a[1], b[fields[1]]) + extra - pickers[start](a[0], b[fields[0]]))

        return twin

    start, end, last = "    let start = a.0.max(b.0);", "    let end = a.1.min(b.1);", "    end.saturating_sub(start)"
    return Sketch(
        name=name,
        code=lines("DOC", f"pub fn {name}(a: (u32, u32), b: (u32, u32)) -> u32 {{", start, end, last, "}"),
        doc=f"The {unit} that two {word} times share, from the later start to the earlier end.",
        vague=f"The {unit} that two {word} times share.",
        task=f"give the {unit} from the later start to the earlier end",
        sites=(
            site(
                start,
                ("method", "max", "min", twin_of(start="min")),
                ("field", "b.0", "b.1", twin_of(fields=(1, 1))),
                ("field", "a.0.max(b.0)", "a.0", lambda a, b: max(0, min(a[1], b[1]) - a[0])),
                ("type", "b.0", "&b.0", None),
            ),
            site(
                end,
                ("method", "min", "max", twin_of(end="max")),
                ("field", "b.1", "b.0", twin_of(fields=(0, 0))),
                ("field", "a.1.min(b.1)", "b.1", lambda a, b: max(0, b[1] - max(a[0], b[0]))),
                ("type", "b.1", "b", None),
            ),
            site(
                last,
                (
                    "swapped",
                    "end.saturating_sub(start)",
                    "start.saturating_sub(end)",
                    lambda a, b: max(0, max(a[0], b[0]) - min(a[1], b[1])),
                ),
                ("operator", "sub", "add", lambda a, b: min(a[1], b[1]) + max(a[0], b[0])),
                ("type", "(start)", "(a)", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (slot(rng, near), slot(rng, near + 1)),
    )


def count_at(rng: Random) -> Sketch:
    """How many intervals hold a moment; their ends are part of them or not."""
    closed, word = rng.random() < 0.5, rng.choice(("slot", "event", "job", "room"))
    name, sign, near = f"{word}s_at", "<=" if closed else "<", rng.randint(8, 80)
    other = "<" if closed else "<="

    def twin_of(one: str = "<=", two: str = sign, either: bool = False, start: int = 0) -> Twin:
        def twin(slots: list[Slot], time: int) -> int:
            tests = [(OPERATORS[one](begin, time), OPERATORS[two](time, end)) for begin, end in slots]
            return start + sum(any(pair) if either else all(pair) for pair in tests)

        return twin

    test = f"        if {word}.0 <= time && time {sign} {word}.1 {{"
    turned = ">=" if closed else ">"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(list: &[(u32, u32)], time: u32) -> usize {{",
            "    let mut count = 0;",
            f"    for {word} in list {{",
            test,
            "            count += 1;",
            "        }",
            "    }",
            "    count",
            "}",
        ),
        doc=f"Counts the {word}s at a time. The start is part of a {word}, the end is {'too' if closed else 'not'}.",
        vague=f"Counts the {word}s that hold a time.",
        task=f"count the {word}s at a time, {'with' if closed else 'without'} their ends",
        sites=(
            site(
                test,
                ("strictness", ".0 <= ", ".0 < ", twin_of(one="<")),
                ("strictness", f"time {sign} ", f"time {other} ", twin_of(two=other)),
                ("direction", f"time {sign} ", f"time {turned} ", twin_of(two=turned)),
                ("operator", "&&", "||", twin_of(either=True)),
                ("borrow", "&& time", "&& &time", None),
            ),
            site(
                "    let mut count = 0;", ("start", "0", "1", twin_of(start=1)), ("mutability", "let mut", "let", None)
            ),
            site(
                "            count += 1;",
                ("operator", "+=", "=", lambda s, t: min(1, twin_of()(s, t))),
                ("operator", "1", "2", lambda s, t: 2 * twin_of()(s, t)),
                ("type", "1", "time", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([slot(rng, near) for _ in range(2)], near + rng.choice((-1, 0, 0, 0, 1))),
    )


TEMPLATES = (
    Template("overlap", "interval_overlap_booking", overlap),
    Template("shared_length", "interval_overlap_booking", shared_length),
    Template("count_at", "interval_overlap_booking", count_at),
)
