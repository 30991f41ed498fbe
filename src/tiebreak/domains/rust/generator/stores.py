"""A template of a store with a top, which refuses to give more than it has."""

from random import Random
from typing import Any

from tiebreak.domains.rust.generator.sketch import Sketch, Template, Twin, lines, site
from tiebreak.domains.words import pick, some


def store(rng: Random) -> Sketch:
    """A store that is filled up to a top and refuses to give more than it has; how often it refused."""
    noun, (level, missed), (put, take) = pick(rng, "nouns").capitalize(), some(rng, "keys", 2), some(rng, "verbs", 2)
    begin, top = rng.randint(0, 20), rng.randint(30, 90)
    name, strict = f"use_{pick(rng, 'things')}", rng.random() < 0.3
    sign, lower = (">=", ">") if strict else (">", ">=")

    def twin_of(
        begin: int = begin,
        top: int | None = top,
        sign: str = sign,
        add: int = 1,
        cut: int = 1,
        count: int = 1,
        begun: int = 0,
        answer: tuple[bool, bool] = (False, True),
        flip: bool = False,
    ) -> Twin:
        def twin(steps: list[int]) -> tuple[int, int]:
            now, failed = begin, begun
            for n in steps:
                if (n > 0) != flip:
                    now += add * n
                    now = now if top is None else min(now, top)
                    continue
                amount = -n
                refused = {">": amount > now, ">=": amount >= now, "<": amount < now}[sign]
                now -= 0 if refused else cut * amount
                failed += count * (not answer[not refused])
            return now, failed

        return twin

    fill, test = f"        self.{level} = (self.{level} + n).min({top});", f"        if n {sign} self.{level} {{"
    drain, count = f"        self.{level} -= n;", f"            {missed} += 1;"
    heads = f"    fn {put}(&mut self, n: i32) {{", f"    fn {take}(&mut self, n: i32) -> bool {{"
    made = f"    let mut store = {noun} {{ {level}: {begin} }};"
    fork, call = "        if n > 0 {", f"        }} else if !store.{take}(-n) {{"
    return Sketch(
        name=name,
        code=lines(
            f"struct {noun} {{",
            f"    {level}: i32,",
            "}",
            "",
            f"impl {noun} {{",
            heads[0],
            fill,
            "    }",
            heads[1],
            test,
            "            return false;",
            "        }",
            drain,
            "        true",
            "    }",
            "}",
            "",
            "DOC",
            f"pub fn {name}(steps: &[i32]) -> (i32, u32) {{",
            f"    let mut {missed} = 0;",
            made,
            "    for &n in steps {",
            fork,
            f"            store.{put}(n);",
            call,
            count,
            "        }",
            "    }",
            f"    (store.{level}, {missed})",
            "}",
        ),
        doc=f"From {begin}, fills up to {top} and gives {'less than' if strict else 'all'} there is; counts refusals.",
        vague="Puts in and takes out what is there; counts refusals.",
        task=f"keep at most {top} from {begin} on and refuse to give {'all' if strict else 'more than'} there is",
        sites=(
            site(
                test,
                ("strictness", f" {sign} ", f" {lower} ", twin_of(sign=lower)),
                ("direction", f" {sign} ", " < ", twin_of(sign="<")),
                ("field", f"self.{level}", level, None),
                ("type", f"self.{level}", "self", None),
            ),
            site(
                fill,
                ("constant", f"({top})", f"({top + 1})", twin_of(top=top + 1)),
                ("constant", f"({top})", f"({top - 1})", twin_of(top=top - 1)),
                ("method", f".min({top})", "", twin_of(top=None)),
                ("operator", "+ n", "- n", twin_of(add=-1)),
                ("method", ".min(", ".max(", lambda steps: _maxed(steps, begin, top, sign)),
                ("type", "+ n", "+ &mut n", None),
            ),
            site(
                drain,
                ("operator", "-=", "+=", twin_of(cut=-1)),
                ("operator", "-= n", "-= n + 1", lambda steps: _costly(steps, begin, top, sign)),
                ("type", "n;", '"n";', None),
            ),
            site(
                "            return false;",
                ("flow", "false", "true", twin_of(answer=(True, True))),
                ("type", "return false", "return", None),
            ),
            site(
                "        true", ("flow", "true", "false", twin_of(answer=(False, False))), ("type", "true", "1", None)
            ),
            site(heads[0], ("mutability", "&mut self", "&self", None), ("move", "&mut self", "mut self", None)),
            site(heads[1], ("mutability", "&mut self", "&self", None), ("move", "&mut self", "mut self", None)),
            site(
                made,
                ("start", f": {begin} ", f": {begin + 1} ", twin_of(begin=begin + 1)),
                ("start", f": {begin} ", f": {begin + 2} ", twin_of(begin=begin + 2)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                call,
                ("condition", "!store", "store", lambda steps: _turned(twin_of, steps)),
                ("borrow", "!store", "!*store", None),
            ),
            site(
                count,
                ("operator", "1", "2", twin_of(count=2)),
                ("operator", "+= 1", "= 1", lambda steps: _once(twin_of(), steps)),
            ),
        ),
        twin=twin_of(),
        sample=lambda rng: (_steps(rng, begin, top),),
    )


def _turned(twin_of: Any, steps: list[int]) -> tuple[int, int]:
    level, failed = twin_of()(steps)
    return level, sum(n <= 0 for n in steps) - failed


def _once(twin: Twin, steps: list[int]) -> tuple[int, int]:
    level, failed = twin(steps)
    return level, min(1, failed)


def _maxed(steps: list[int], begin: int, top: int, sign: str) -> tuple[int, int]:
    now, failed = begin, 0
    for n in steps:
        if n > 0:
            now = max(now + n, top)
        elif -n > now or (sign == ">=" and -n == now):
            failed += 1
        else:
            now += n
    return now, failed


def _costly(steps: list[int], begin: int, top: int, sign: str) -> tuple[int, int]:
    now, failed = begin, 0
    for n in steps:
        if n > 0:
            now = min(now + n, top)
        elif -n > now or (sign == ">=" and -n == now):
            failed += 1
        else:
            now += n - 1
    return now, failed


def _steps(rng: Random, begin: int, top: int) -> list[int]:
    now, steps = begin, []
    for _ in range(rng.randint(2, 4)):
        if now and rng.random() < 0.55:
            steps.append(-max(1, now + rng.choice((-4, 0, 0, 0, 1, 3))))
        else:
            steps.append(max(1, rng.choice((top - now, top - now + 1, 5, 9))))
        now = max(0, min(top, now + steps[-1]))
    return steps


TEMPLATES = (Template("store", "state_transitions", store),)
