"""A template of configuration: the first source with a valid value, else a default."""

from random import Random

from tiebreak.domains.rust.generator.compare import EQUALS, OPERATORS, PHRASES, TURNED
from tiebreak.domains.rust.generator.layers import SOURCES
from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Some
from tiebreak.domains.words import pick


def fallback(rng: Random) -> Sketch:
    """The first of three sources that has a valid value, else a default."""
    key, names, low = pick(rng, "keys"), rng.sample(SOURCES, 3), rng.randint(5, 60)
    order, default, helper = (
        rng.sample(names, 3),
        rng.randint(2, 99),
        f"{rng.choice(('fits', 'valid', 'sound'))}_{pick(rng, 'nouns')}",
    )
    sign, name = rng.choice(list(OPERATORS)), f"{rng.choice(('choose', 'settle', 'find'))}_{key}"
    a, b, c = order
    flip = EQUALS[sign]
    turned = TURNED[sign]
    checked = rng.choice(((a, b, c), (a, b), (b, c), (a,), (b,)))

    def twin_of(
        order: list[str] = order,
        checked: tuple[str, ...] = checked,
        sign: str = sign,
        low: int = low,
        default: int = default,
        last: bool = False,
    ) -> Twin:
        def twin(*given: Some | None) -> int:
            values = dict(zip(names, given, strict=True))
            valid = [
                value.value
                for name in order
                if (value := values[name]) is not None and (name not in checked or OPERATORS[sign](value.value, low))
            ]
            return (valid[-1] if last else valid[0]) if valid else default

        return twin

    def part(name: str, checked: tuple[str, ...] = checked) -> str:
        return f"{name}.filter({helper})" if name in checked else name

    chain, rest = f"    let {key} = {part(a)}.or({part(b)}).or({part(c)});", f"    {key}.unwrap_or({default})"
    test = f"    *n {sign} {low}"
    more = tuple(name for name in order if name not in checked)
    changes: list[Change] = [
        ("swapped", f"{part(a)}.or({part(b)})", f"{part(b)}.or({part(a)})", twin_of([b, a, c])),
        ("swapped", f".or({part(b)}).or({part(c)})", f".or({part(c)}).or({part(b)})", twin_of([a, c, b])),
        ("field", f".or({part(c)})", "", twin_of([a, b])),
        ("field", f".or({part(b)}).", ".", twin_of([a, c])),
        ("field", f"= {part(a)}.or({part(b)})", f"= {part(b)}", twin_of([b, c])),
    ]
    name_checked = checked[0]
    place = {a: ("= ", ".or"), b: ("(", ")"), c: ("(", ")")}[name_checked]
    changes.append(
        (
            "condition",
            f"{place[0]}{part(name_checked)}{place[1]}",
            f"{place[0]}{name_checked}{place[1]}",
            twin_of(checked=checked[1:]),
        )
        if place[0] == "("
        else ("condition", f"= {part(a)}", f"= {a}", twin_of(checked=checked[1:]))
    )
    if more:
        old = f"({part(more[-1])})" if more[-1] != a else f"= {a}."
        new = f"({more[-1]}.filter({helper}))" if more[-1] != a else f"= {a}.filter({helper})."
        changes.append(("condition", old, new, twin_of(checked=(*checked, more[-1]))))
    changes.append(("type", f".or({part(c)})", f".or({default})", None))
    says = PHRASES[sign][0]
    who = "each" if len(checked) == 3 else " and ".join(checked)
    return Sketch(
        name=name,
        code=lines(
            f"fn {helper}(n: &i32) -> bool {{",
            test,
            "}",
            "",
            "DOC",
            f"pub fn {name}({', '.join(f'{source}: Option<i32>' for source in names)}) -> i32 {{",
            chain,
            rest,
            "}",
        ),
        doc=f"Takes {a}, {b}, {c} in this order, else {default}; {who} only counts when {says} {low}.",
        vague=f"Takes {a}, {b}, {c} in this order, if they count, else {default}.",
        task=f"take {a}, {b}, {c} in this order, else {default}, where {who} must be {says} {low}",
        sites=(
            site(chain, *changes),
            site(chain, *changes),
            site(
                test,
                ("strictness", f" {sign} ", f" {flip} ", twin_of(sign=flip)),
                ("direction", f" {sign} ", f" {turned} ", twin_of(sign=turned)),
                ("constant", f"{low}", f"{low + 1}", twin_of(low=low + 1)),
                ("constant", f"{low}", f"{low - 1}", twin_of(low=low - 1)),
                ("borrow", "*n", "n", None),
                ("type", "*n", "Some(*n)", None),
            ),
            site(
                rest,
                ("constant", f"({default})", f"({default + 1})", twin_of(default=default + 1)),
                ("constant", f"({default})", "(0)", twin_of(default=0)),
                ("type", f".unwrap_or({default})", "", None),
            ),
            site(
                f"fn {helper}(n: &i32) -> bool {{",
                ("borrow", "n: &i32", "n: i32", None),
                ("type", "n: &i32", "n: &mut i32", None),
                ("type", "-> bool", "-> i32", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: tuple(
            rng.choice((None, *(Some(low + step) for step in (-7, -1, 0, 0, 1, 8)))) for _ in names
        ),
    )


TEMPLATES = (Template("fallback", "config_merge_precedence", fallback),)
