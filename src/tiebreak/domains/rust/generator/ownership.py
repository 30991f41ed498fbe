"""Templates about ownership: copies, moves and borrows of a list."""

from random import Random

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick


def numbers(rng: Random, low: int, high: int) -> list[int]:
    """A few numbers under 90."""
    return [rng.randint(1, 89) for _ in range(rng.randint(low, high))]


def again(rng: Random) -> Sketch:
    """A list with a number added at the end, then its first number again."""
    add, name = rng.randint(2, 60), f"{rng.choice(('close', 'extend', 'wrap'))}_{pick(rng, 'things')}"
    first = rng.random() < 0.5
    place = "list[0]" if first else "list[list.len() - 1]"
    other = "list[1]" if first else "list[0]"

    def twin_of(add: int = add, index: int = 0 if first else -1) -> Twin:
        return lambda items: [*items, add, items[index]]

    copy, push, put = f"    let kept = {place};", f"    list.push({add});", "    list.extend([kept]);"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(items: &[i32]) -> Vec<i32> {{",
            "    let mut list = items.to_vec();",
            copy,
            push,
            put,
            "    list",
            "}",
        ),
        doc=f"Adds {add} at the end and then the {'first' if first else 'last'} old number again.",
        vague="Adds a number at the end and then an old one again.",
        task=f"add {add} and then the {'first' if first else 'last'} old number again",
        sites=(
            site(
                copy,
                ("borrow", "= ", "= &", None),
                ("index", place, other, twin_of(index=1 if first else 0)),
                ("borrow", place, "list", None),
            ),
            site(
                push,
                ("constant", f"{add}", f"{add + 1}", twin_of(add=add + 1)),
                ("method", f"push({add})", f"insert(0, {add})", lambda items: [add, *items, items[0 if first else -1]]),
                ("type", f"{add}", f"&{add}", None),
            ),
            site(
                "    let mut list = items.to_vec();",
                ("mutability", "let mut", "let", None),
                ("type", ".to_vec()", "", None),
            ),
            site(
                put,
                ("field", "kept", "list[1]", lambda items: [*items, add, items[1]]),
                ("type", "[kept]", "kept", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (numbers(rng, 2, 3),),
    )


def with_size(rng: Random) -> Sketch:
    """A sorted or reversed copy with the size of the old list behind it."""
    move, reason = rng.choice((("reverse", "in reverse"), ("sort", "in rising order")))
    name, old = f"{rng.choice(('pack', 'list', 'show'))}_{pick(rng, 'things')}", rng.choice(("old", "list", "base"))

    def twin_of(move: str | None = move, extra: int = 0) -> Twin:
        def twin(items: list[int]) -> list[int]:
            out = {"reverse": items[::-1], "sort": sorted(items)}.get(move or "", items)
            return [*out, len(items) + extra]

        return twin

    copy, turn, push = (
        f"    let mut copy = {old}.clone();",
        f"    copy.{move}();",
        f"    copy.push({old}.len() as i32);",
    )
    other = "sort" if move == "reverse" else "reverse"
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(items: &[i32]) -> Vec<i32> {{",
            f"    let {old} = items.to_vec();",
            copy,
            turn,
            push,
            "    copy",
            "}",
        ),
        doc=f"Copies the numbers {reason} and adds how many they are.",
        vague="Copies the numbers and adds how many they are.",
        task=f"copy the numbers {reason} and add how many they are",
        sites=(
            site(
                copy,
                ("borrow", ".clone()", "", None),
                ("mutability", "let mut", "let", None),
                ("borrow", f"{old}.clone()", f"&{old}", None),
            ),
            site(turn, ("method", move, other, twin_of(move=other))),
            site(
                push,
                ("type", " as i32", "", None),
                ("operator", " as i32", " as i32 + 1", twin_of(extra=1)),
                ("operator", " as i32", " as i32 - 1", twin_of(extra=-1)),
                ("type", f"{old}.len()", f"&{old}.len()", None),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (numbers(rng, 2, 3),),
    )


TEMPLATES = (
    Template("again", "iterator_filter_map_logic", again),
    Template("with_size", "iterator_filter_map_logic", with_size),
)
