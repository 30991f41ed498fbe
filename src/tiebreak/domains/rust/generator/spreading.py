"""A template that changes a list in place by one of its own numbers, which must not stay borrowed."""

from collections.abc import Callable
from random import Random

from tiebreak.domains.rust.generator.sketch import Change, Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some

# What is done to each number n with the one that was kept, k: Rust, Python, words.
WAYS: dict[str, tuple[str, Callable[[int, int], int], str]] = {
    "add": ("*{n} += {k};", lambda n, k: n + k, "grows by"),
    "less": ("*{n} -= {k};", lambda n, k: n - k, "shrinks by"),
    "back": ("*{n} = {k} - *{n};", lambda n, k: k - n, "becomes the distance to"),
    "twice": ("*{n} += 2 * {k};", lambda n, k: n + 2 * k, "grows by twice"),
    "triple": ("*{n} = 3 * *{n} - {k};", lambda n, k: 3 * n - k, "triples and shrinks by"),
    "half": ("*{n} -= {k} / 2;", lambda n, k: n - int(k / 2), "shrinks by half of"),
}
PLACES = {0: "first", 1: "second", -1: "last"}


def spread(rng: Random) -> Sketch:
    """Each number changed by one of the old numbers, which is put behind or before them."""
    (kept, size), n, things = some(rng, "keys", 2), pick(rng, "nouns"), pick(rng, "things")
    more, way, at, front, counted = (
        rng.randint(1, 9),
        rng.choice(list(WAYS)),
        rng.choice(list(PLACES)),
        rng.random() < 0.4,
        rng.random() < 0.5,
    )
    name = f"{rng.choice(('spread', 'shift', 'level'))}_{things}"

    def twin_of(
        way: str = way, at: int = at, front: bool = front, skip: int = 0, extra: int = 0, more: int = more
    ) -> Twin:
        def twin(items: list[int]) -> list[int]:
            k = items[at]
            new = [*items[:skip], *(WAYS[way][1](each, k) for each in items[skip:])]
            out = [k + more, *new] if front else [*new, k + more]
            return [*out, len(items) + extra] if counted else out

        return twin

    def place(at: int) -> str:
        return f"{things}[{things}.len() - 1]" if at == -1 else f"{things}[{at}]"

    copy, keep = f"    let mut {things} = items.to_vec();", f"    let {kept} = {place(at)};"
    loop, act = f"    for {n} in {things}.iter_mut() {{", "        " + WAYS[way][0].format(n=n, k=kept)
    put = f"{things}.insert(0, {kept} + {more});" if front else f"{things}.push({kept} + {more});"
    other = f"{things}.push({kept} + {more});" if front else f"{things}.insert(0, {kept} + {more});"
    count, end = f"    let {size} = {things}.len() as i32;", f"    {things}.push({size});"
    ways: list[Change] = [
        ("operator", act.strip(), WAYS[each][0].format(n=n, k=kept), twin_of(each)) for each in WAYS if each != way
    ]
    side = "before" if front else "behind"
    rule = f"Each of the {things} {WAYS[way][2]} the {PLACES[at]} old one; that plus {more} stands {side} them"
    sizes = [
        site(
            count,
            ("operator", " as i32", " as i32 + 1", twin_of(extra=1)),
            ("operator", " as i32", " as i32 - 1", twin_of(extra=-1)),
            ("type", " as i32", "", None),
            ("move", ".len()", ".into_iter().count()", None),
            ("borrow", f"= {things}.len() as i32", f"= &{things}", None),
        )
    ]
    return Sketch(
        name=name,
        code=lines(
            "DOC",
            f"pub fn {name}(items: &[i32]) -> Vec<i32> {{",
            copy,
            keep,
            *([count] if counted else []),
            loop,
            act,
            "    }",
            f"    {put}",
            *([end] if counted else []),
            f"    {things}",
            "}",
        ),
        doc=f"{rule}{'; the count comes last' if counted else ''}.",
        vague=f"Changes the {things} by one of them{' and adds the count' if counted else ''}.",
        task=f"change the {things} so that {rule[0].lower()}{rule[1:]}",
        sites=(
            site(act, *ways, ("borrow", act.strip(), act.strip().replace(f"*{n}", n, 1), None)),
            site(
                keep,
                ("borrow", "= ", "= &", None),
                *(("index", place(at), place(each), twin_of(at=each)) for each in PLACES if each != at),
                ("type", place(at), things, None),
                ("move", place(at), f"{things}.into_iter().sum::<i32>()", None),
            ),
            site(
                loop,
                ("mutability", "iter_mut()", "iter()", None),
                ("method", "iter_mut()", "iter_mut().skip(1)", twin_of(skip=1)),
            ),
            site(
                f"    {put}",
                ("swapped", put, other, twin_of(front=not front)),
                ("constant", f"+ {more})", f"+ {more + 1})", twin_of(more=more + 1)),
                ("operator", f" + {more})", ")", twin_of(more=0)),
                ("type", f"{kept} +", f"{n} +", None),
            ),
            site(copy, ("mutability", "let mut", "let", None), ("borrow", "items.to_vec()", "items", None)),
            *(sizes if counted else []),
        ),
        twin=twin_of(),
        sample=lambda rng: ([rng.randint(1, 60) for _ in range(rng.randint(2, 4))],),
    )


TEMPLATES = (Template("spread", "iterator_filter_map_logic", spread),)
