"""Templates of configuration: which of several values wins."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick, some

SOURCES = (("user", "file"), ("flag", "env"), ("local", "shared"), ("team", "site"), ("env", "file"))


def setting(rng: Random) -> Sketch:
    """The value of two sources and a default, at most a top."""
    key, (strong, weak) = pick(rng, "keys"), rng.choice(SOURCES)
    default, top = rng.randint(5, 40), rng.randint(50, 99)
    name, order = f"{rng.choice(('choose', 'merge', 'resolve'))}_{key}", rng.sample((strong, weak), 2)

    def twin_of(strong: str = strong, weak: str = weak, default: int = default, top: int = top, cap: Any = min) -> Twin:
        def twin(*args: Some | None) -> int:
            given = dict(zip(order, args, strict=True))
            value = given[strong] or given[weak]
            return int(cap(value.value if value else default, top))

        return twin

    def both(*args: Some | None) -> int:
        given = dict(zip(order, args, strict=True))
        value = given[strong] and given[weak]
        return min(value.value if value else default, top)

    line, last = f"    let value = {strong}.or({weak}).unwrap_or({default});", f"    value.min({top})"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}({order[0]}: Option<i32>, {order[1]}: Option<i32>) -> i32 {{",
            line,
            last,
            "}",
        ),
        doc=f"The {strong} {key} wins over the {weak} one, else {default}. It is at most {top}.",
        vague=f"Takes the {key} from {strong} or {weak}, else {default}.",
        task=f"let the {strong} {key} win over the {weak} one, else {default}, at most {top}",
        sites=(
            site(
                line,
                ("swapped", f"{strong}.or({weak})", f"{weak}.or({strong})", twin_of(weak, strong)),
                ("method", f".or({weak})", f".and({weak})", both),
                ("constant", f"{default}", f"{default + 1}", twin_of(default=default + 1)),
                ("field", f"{strong}.or({weak})", strong, twin_of(weak=strong)),
                ("field", f"{strong}.or({weak})", weak, twin_of(strong=weak)),
                ("type", f".unwrap_or({default})", "", None),
            ),
            site(
                last,
                ("method", "min", "max", twin_of(cap=max)),
                ("constant", f"{top}", f"{top - 1}", twin_of(top=top - 1)),
                ("method", f".min({top})", "", twin_of(top=999)),
                ("type", "value", "Some(value)", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: tuple(
            rng.choice(
                (None, Some(rng.randint(2, 49)), Some(rng.randint(2, 49)), Some(top + rng.choice((-1, 0, 1, 9))))
            )
            for _ in range(2)
        ),
    )


def lookup(rng: Random) -> Sketch:
    """The value of a key in a list of entries; the first or the last entry wins."""
    first, default = rng.random() < 0.5, rng.randint(1, 60)
    item, name = rng.choice(("entry", "rule", "line")), f"{rng.choice(('look', 'find', 'get'))}_{pick(rng, 'keys')}"

    def twin_of(first: bool = first, default: int = default, same: bool = True) -> Twin:
        def twin(entries: list[tuple[str, int]], key: str) -> int:
            found = [value for name, value in entries if (name == key) == same]
            return (found[0] if first else found[-1]) if found else default

        return twin

    keep = f"            return {item}.1;" if first else f"            found = {item}.1;"
    begin, test = f"    let {'' if first else 'mut '}found = {default};", f"        if {item}.0 == key {{"
    names = some(rng, "keys", 3)
    flow: list[Change] = [] if first else [("flow", "found =", "return", twin_of(first=True))]
    fixed: list[Change] = [] if first else [("mutability", "let mut", "let", None)]
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(list: &[(&str, i32)], key: &str) -> i32 {{",
            begin,
            f"    for {item} in list {{",
            test,
            keep,
            "        }",
            "    }",
            "    found",
            "}",
        ),
        doc=f"Looks a key up. The {'first' if first else 'last'} {item} of the key wins, else {default}.",
        vague=f"Looks a key up, else {default}.",
        task=f"let the {'first' if first else 'last'} {item} of a key win, else {default}",
        sites=(
            site(
                test,
                ("condition", "==", "!=", twin_of(same=False)),
                ("field", f"{item}.0", f"{item}.1", None),
                ("borrow", " key", " *key", None),
            ),
            site(
                begin,
                ("start", f"{default};", f"{default + 1};", twin_of(default=default + 1)),
                ("start", f"{default};", f"{default - 1};", twin_of(default=default - 1)),
                *fixed,
            ),
            site(
                f"    for {item} in list {{",
                ("method", "list", "list.iter().rev()", twin_of(first=not first)),
                ("index", "list", "&list[1..]", lambda entries, key: twin_of()(entries[1:], key)),
                ("borrow", "list", "*list", None),
            ),
            site(
                keep,
                *flow,
                ("field", f"{item}.1", f"{item}.0", None),
                ("borrow", f" {item}", f" &{item}", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (
            [(rng.choice(names[:2]), rng.randint(1, 60)) for _ in range(rng.randint(2, 3))],
            rng.choice((names[0], names[0], names[1], names[2])),
        ),
    )


TEMPLATES = (
    Template("setting", "config_merge_precedence", setting),
    Template("lookup", "config_merge_precedence", lookup),
)
