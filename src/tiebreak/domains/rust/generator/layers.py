"""Templates of configuration in layers: ranked sources, changes over a base."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.compare import OPERATORS
from tiebreak.domains.rust.generator.sketch import Change, Site, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick, some

Pair = tuple[str, int]
SOURCES = ("flag", "env", "user", "team", "site", "file", "host", "home", "local", "remote", "shared", "cache")


def ranked(rng: Random) -> Sketch:
    """The value of the source with the highest rank; the first or the last of equals wins."""
    names, (helper, key), thing = rng.sample(SOURCES, 4), some(rng, "keys", 2), pick(rng, "nouns")
    ranks = {name: 3 - place for place, name in enumerate(names[:3])}
    first, name = rng.random() < 0.5, f"{rng.choice(('resolve', 'choose', 'settle'))}_{key}"
    sign = ">" if first else ">="

    def twin_of(sign: str = sign, ranks: dict[str, int] = ranks, rest: int = 0, skip: int = 0, least: int = 0) -> Twin:
        def twin(entries: list[Pair]) -> Some | None:
            best: tuple[int, int] | None = None
            for source, value in entries:
                rank = ranks.get(source, rest)
                if rank == skip or rank < least:
                    continue
                if best is None or _beats(sign, rank, best[0]):
                    best = (rank, value)
            return None if best is None else Some(best[1])

        return twin

    arms = [f'        "{name}" => {rank},' for name, rank in ranks.items()]

    def arm_site(place: int) -> Site:
        source, rank = names[place], 3 - place
        lower = {**ranks, source: 4} if place else {**ranks, source: 1}
        swapped = {source if at == place else known: value for at, (known, value) in enumerate(ranks.items())}
        moved = {other: value for other, value in swapped.items() if other != source}
        return site(
            arms[place],
            ("constant", f"=> {rank}", f"=> {lower[source]}", twin_of(ranks=lower)),
            ("constant", f"=> {rank}", "=> 0", twin_of(ranks={**ranks, source: 0})),
            ("branch", f'"{source}"', f'"{names[3]}"', twin_of(ranks={**moved, names[3]: rank})),
            ("type", f"=> {rank}", f'=> "{rank}"', None),
            ("type", f'"{source}"', f"'{source[0]}'", None),
        )

    test = f"        if {thing} > 0 && best.map_or(true, |(old, _)| {thing} {sign} old) {{"
    keep, last = f"            best = Some(({thing}, value));", "    best.map(|(_, value)| value)"
    equal, turned = (">=" if first else ">"), ("<" if first else "<=")
    order = ", ".join(names[:3])
    return Sketch(
        name=name,
        code=lines(
            f"fn {helper}(source: &str) -> u32 {{",
            "    match source {",
            *arms,
            "        _ => 0,",
            "    }",
            "}",
            "",
            "DOC",
            f"pub fn {name}(entries: &[(&str, i32)]) -> Option<i32> {{",
            "    let mut best: Option<(u32, i32)> = None;",
            "    for &(source, value) in entries {",
            f"        let {thing} = {helper}(source);",
            test,
            keep,
            "        }",
            "    }",
            last,
            "}",
        ),
        doc=f"The value of the strongest of {order}, no others. The {'first' if first else 'last'} of equals wins.",
        vague=f"The value of the strongest source: {order}.",
        task=f"take the strongest of {order}, and the {'first' if first else 'last'} of equals",
        sites=(
            site(
                test,
                ("tie", f"{thing} {sign} old", f"{thing} {equal} old", twin_of(sign=equal)),
                ("direction", f"{thing} {sign} old", f"{thing} {turned} old", twin_of(sign=turned)),
                ("condition", f"{thing} > 0 && ", "", twin_of(skip=-1)),
                ("constant", "> 0", "> 1", twin_of(least=2)),
                ("operator", "true", "false", lambda entries: None),
                ("direction", f"{thing} {sign} old", "true", twin_of(sign="any")),
                ("type", f"{sign} old", f"{sign} &old", None),
            ),
            *(arm_site(place) for place in range(3)),
            site(
                "        _ => 0,",
                ("constant", "0", "1", twin_of(rest=1)),
                ("constant", "0", "3", twin_of(rest=3)),
                ("type", "0", "None", None),
            ),
            site(keep, ("type", "value", "source", None), ("type", f"({thing}, value)", f"{thing}, value", None)),
            site(
                last,
                ("type", "(_, value)", "value", None),
                ("field", "(_, value)", "(value, _)", None),
                ("borrow", "| value)", "| *value)", None),
            ),
            site(
                f"        let {thing} = {helper}(source);",
                ("swapped", "source", "value", None),
                ("borrow", "(source)", "(*source)", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: ([(rng.choice(names[:3] + names), rng.randint(2, 90)) for _ in range(rng.randint(1, 3))],),
    )


def _beats(sign: str, rank: int, old: int) -> bool:
    return sign == "any" or bool(OPERATORS[sign](rank, old))


def overrides(rng: Random) -> Sketch:
    """Changes over a base, by name: what is there wins or loses, and one number removes it."""
    word, (one, two), thing = pick(rng, "keys"), some(rng, "nouns", 2), pick(rng, "things")
    strong, gone = rng.random() < 0.6, rng.choice((0, -1))
    name = f"{rng.choice(('merge', 'layer', 'blend'))}_{thing}"

    def twin_of(
        strong: bool = strong, gone: int | None = gone, turned: bool = False, removes: bool = True, add: int = 0
    ) -> Twin:
        def twin(base: list[Pair], changes: list[Pair]) -> list[Pair]:
            found = dict(base)
            for who, n in changes:
                if (n == gone) != turned:
                    if removes:
                        found.pop(who, None)
                elif strong:
                    found[who] = n + add
                else:
                    found.setdefault(who, n)
            return sorted(found.items())

        return twin

    def nothing_kept(base: list[Pair], changes: list[Pair]) -> Any:
        return twin_of()([], changes)

    start = f"    let mut {word}: BTreeMap<&str, i32> = below.iter().copied().collect();"
    test = f"        if {two} == {gone} {{"
    put = (
        f"            {word}.insert({one}, {two});" if strong else f"            {word}.entry({one}).or_insert({two});"
    )
    other = (
        f"            {word}.entry({one}).or_insert({two});" if strong else f"            {word}.insert({one}, {two});"
    )
    drop, loop, last = (
        f"            {word}.remove({one});",
        f"    for &({one}, {two}) in changes {{",
        f"    {word}.into_iter().collect()",
    )
    head = f"pub fn {name}<'a>(below: &[(&'a str, i32)], changes: &[(&'a str, i32)]) -> Vec<(&'a str, i32)> {{"
    puts: list[Change] = [
        ("swapped", f"{one}, {two}" if strong else f"({one})", f"{two}, {one}" if strong else f"({two})", None),
        ("method", put.strip(), other.strip(), twin_of(strong=not strong)),
        ("method", put.strip(), f"{word}.remove({one});", lambda base, changes: _removed(base, changes)),
    ]
    wins = "the last change wins" if strong else "what is there already wins"
    extra: list[Change] = [("operator", f", {two})", f", {two} + 1)", twin_of(add=1))] if strong else []
    return Sketch(
        name=name,
        code=lines(
            "use std::collections::BTreeMap;",
            "",
            "DOC",
            head,
            start,
            loop,
            test,
            drop,
            "        } else {",
            put,
            "        }",
            "    }",
            last,
            "}",
        ),
        doc=f"Lays changes over a base: {wins}, {gone} removes.",
        vague="Lays changes over a base.",
        task=f"lay changes over a base, where {wins} and {gone} removes",
        sites=(
            site(put, *puts, *extra),
            site(
                test,
                ("constant", f"== {gone} ", f"== {gone + 1} ", twin_of(gone=gone + 1)),
                ("condition", "==", "!=", twin_of(turned=True)),
                ("field", f"if {two}", f"if {one}", None),
                ("borrow", f"if {two}", f"if *{two}", None),
            ),
            site(
                drop,
                ("method", f"{word}.remove({one});", "continue;", twin_of(removes=False)),
                ("field", f"({one})", f"({two})", None),
                (
                    "method",
                    f"{word}.remove({one});",
                    "break;",
                    lambda base, changes: _stopped(twin_of(), base, changes, gone),
                ),
                (
                    "method",
                    f"{word}.remove({one});",
                    f"{word}.clear();",
                    lambda base, changes: _cleared(twin_of(), base, changes, gone),
                ),
            ),
            site(
                loop,
                ("swapped", "in changes", "in below", lambda base, changes: twin_of()(base, base)),
                (
                    "method",
                    "in changes",
                    "in changes.iter().rev()",
                    lambda base, changes: twin_of()(base, changes[::-1]),
                ),
                (
                    "method",
                    "in changes",
                    "in changes.iter().take(1)",
                    lambda base, changes: twin_of()(base, changes[:1]),
                ),
                ("type", f"({one}, {two})", f"({two}, {one})", None),
                ("borrow", "in changes", "in *changes", None),
            ),
            site(
                start,
                ("swapped", "below", "changes", lambda base, changes: twin_of()(changes, changes)),
                ("method", "below.iter().copied().collect()", "BTreeMap::new()", nothing_kept),
                ("mutability", "let mut", "let", None),
                ("borrow", ".copied()", "", None),
            ),
            site(last, ("borrow", ".into_iter()", ".iter()", None), ("type", ".collect()", "", None)),
            site(
                head,
                ("lifetime", "below: &[(&'a str", "below: &[(&str", None),
                ("lifetime", "changes: &[(&'a str", "changes: &[(&str", None),
                ("lifetime", "-> Vec<(&'a str", "-> Vec<(&str", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: _layers(rng, gone),
    )


def _removed(base: list[Pair], changes: list[Pair]) -> list[Pair]:
    return sorted((who, n) for who, n in base if who not in dict(changes))


def _stopped(twin: Twin, base: list[Pair], changes: list[Pair], gone: int) -> Any:
    stop = next((at for at, change in enumerate(changes) if change[1] == gone), len(changes))
    return twin(base, changes[:stop])


def _cleared(twin: Twin, base: list[Pair], changes: list[Pair], gone: int) -> Any:
    start = max((at + 1 for at, change in enumerate(changes) if change[1] == gone), default=0)
    return twin(base if start == 0 else [], changes[start:])


def _layers(rng: Random, gone: int) -> tuple[list[Pair], list[Pair]]:
    names = some(rng, "keys", 3)
    base = [(name, rng.randint(1, 90)) for name in names[: rng.randint(1, 2)]]
    return base, [(rng.choice(names), rng.choice((gone, gone, *range(1, 90, 9)))) for _ in range(rng.randint(1, 3))]


TEMPLATES = (
    Template("ranked", "config_merge_precedence", ranked),
    Template("overrides", "config_merge_precedence", overrides),
)
