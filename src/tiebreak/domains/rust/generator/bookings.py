"""A template of the time that bookings share with a window."""

from collections.abc import Callable
from random import Random

from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick

Slot = tuple[int, int]
EDGES = (("come", "go"), ("begin", "end"), ("start", "stop"), ("enter", "leave"), ("early", "late"), ("open", "close"))


def slots(rng: Random, near: int, low: int, high: int) -> list[Slot]:
    """Intervals that often begin or end at `near`."""
    found = []
    for _ in range(rng.randint(low, high)):
        begin = near + rng.choice((-6, -3, -1, 0, 0, 1, 3, 5))
        found.append((begin, begin + rng.choice((1, 2, 3, 3, 6))))
    return found


def shared_time(rng: Random) -> Sketch:
    """The time, in all, that bookings share with a window; the last moment is part of them or not."""
    (one, two), (left, right) = rng.sample(EDGES, 2)
    total, thing, near = pick(rng, "keys"), pick(rng, "things"), rng.randint(12, 80)
    closed, size = rng.random() < 0.4, rng.randint(3, 7)
    name, longest = f"{rng.choice(('busy', 'shared', 'used'))}_{thing}", rng.random() < 0.4

    def twin_of(
        start: Callable[..., int] = max,
        end: Callable[..., int] = min,
        extra: int = closed,
        floor: int | None = 0,
        way: str = "longest" if longest else "sum",
        begun: int = 0,
        fields: tuple[int, int, int, int] = (0, 0, 1, 1),
    ) -> Twin:
        def twin(window: Slot, rows: list[Slot]) -> int:
            out = begun
            for row in rows:
                shared = end(row[fields[2]], window[fields[3]]) - start(row[fields[0]], window[fields[1]]) + extra
                shared = shared if floor is None else max(shared, floor)
                out = {
                    "sum": out + shared,
                    "longest": max(out, shared),
                    "last": shared,
                    "count": out + 1,
                    "shortest": min(out, shared),
                    "less": out - shared,
                }[way]
            return out

        return twin

    plus = " + 1" if closed else ""
    begin, finish = f"        let first = {one}.max({left});", f"        let last = {two}.min({right});"
    form = rng.random() < 0.5
    if longest:
        add = f"        {total} = {total}.max(last - first{plus});"
    elif form:
        add = f"        {total} += (last - first{plus}).max(0);"
    else:
        add = f"        {total} += 0.max(last - first{plus});"
    span, bare = f"last - first{plus}", f"first - last{plus}"
    changes: list[Change] = [
        ("swapped", span, bare, lambda window, rows: _backwards(window, rows, closed, longest)),
        ("operator", span, "last - first" if closed else "last - first + 1", twin_of(extra=not closed)),
        ("operator", span, f"last + first{plus}", lambda window, rows: _summed(window, rows, closed, longest)),
        ("type", span, f"last - &rows{plus}", None),
        ("borrow", f" {total} ", f" *{total} ", None),
    ]
    if longest:
        changes += [
            ("method", f"{total}.max(", f"{total}.min(", twin_of(way="shortest", floor=None)),
            ("method", f"{total}.max({span})", span, twin_of(way="last", floor=None)),
            ("operator", f"= {total}.max({span})", f"+= {span}", twin_of(way="sum", floor=None)),
        ]
    else:
        changes += [
            ("operator", "+=", "=", twin_of(way="last")),
            ("operator", "+=", "-=", twin_of(way="less")),
            ("method", f"({span}).max(0)" if form else f"0.max({span})", span, twin_of(floor=None)),
        ]
    says = "with its last moment" if closed else "without its end"
    what = "The longest time that a booking shares" if longest else "The time, in all, that bookings share"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(window: (i32, i32), rows: &[(i32, i32)]) -> i32 {{",
            f"    let ({left}, {right}) = window;",
            f"    let mut {total} = 0;",
            f"    for &({one}, {two}) in rows {{",
            begin,
            finish,
            add,
            "    }",
            f"    {total}",
            "}",
        ),
        doc=f"{what} with a window, each {says}.",
        vague=f"{what} with a window.",
        task=f"give {what[0].lower()}{what[1:]} with a window, each {says}",
        sites=(
            site(add, *changes),
            site(
                begin,
                ("method", "max", "min", twin_of(start=min)),
                ("field", f"{one}.max({left})", one, twin_of(start=lambda a, b: a)),
                ("field", f"{one}.max({left})", left, twin_of(start=lambda a, b: b)),
                ("swapped", f"({left})", f"({right})", twin_of(fields=(0, 1, 1, 1))),
                ("type", f"({left})", f"(&{left})", None),
            ),
            site(
                finish,
                ("method", "min", "max", twin_of(end=max)),
                ("field", f"{two}.min({right})", two, twin_of(end=lambda a, b: a)),
                ("field", f"{two}.min({right})", right, twin_of(end=lambda a, b: b)),
                ("swapped", f"({right})", f"({left})", twin_of(fields=(0, 0, 1, 0))),
                ("type", f"({right})", "(window)", None),
            ),
            site(
                f"    let mut {total} = 0;",
                ("start", "0", "1", twin_of(begun=1)),
                ("start", "0", f"{size}", twin_of(begun=size)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                f"    let ({left}, {right}) = window;",
                (
                    "swapped",
                    f"({left}, {right})",
                    f"({right}, {left})",
                    lambda window, rows: twin_of()(window[::-1], rows),
                ),
                ("type", "= window", "= &rows", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ((near, near + size), slots(rng, rng.choice((near, near + size)), 1, 3)),
    )


def _backwards(window: Slot, rows: list[Slot], closed: bool, longest: bool) -> int:
    spans = [max(0, max(row[0], window[0]) - min(row[1], window[1]) + closed) for row in rows]
    return max([0, *spans]) if longest else sum(spans)


def _summed(window: Slot, rows: list[Slot], closed: bool, longest: bool) -> int:
    spans = [max(row[0], window[0]) + min(row[1], window[1]) + closed for row in rows]
    return max([0, *spans]) if longest else sum(spans)


TEMPLATES = (Template("shared_time", "interval_overlap_booking", shared_time),)
