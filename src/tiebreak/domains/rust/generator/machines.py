"""A template of a machine whose state events change."""

from collections.abc import Sequence
from random import Random

from tiebreak.domains.rust.generator.sketch import Change, Site, Sketch, Template, Twin, lines, site
from tiebreak.domains.rust.generator.values import Raw
from tiebreak.domains.words import some

Arm = tuple[str | None, str | None, str | None]
"""From a state on an event to a state; None stands for any, and for the state as it is."""


def workflow(rng: Random) -> Sketch:
    """The state after some events; each state knows some of them."""
    (machine, step), (name_part, now) = (word.capitalize() for word in some(rng, "nouns", 2)), some(rng, "keys", 2)
    states = [word.capitalize() for word in some(rng, "states", 3)]
    go, back = (word.capitalize() for word in some(rng, "verbs", 2))
    a, b, c = states
    arms: list[Arm] = [
        (a, go, b),
        (b, go, c),
        rng.choice(((None, back, a), (b, back, a), (c, back, b), (c, back, a))),
    ]
    if rng.random() < 0.5:
        arms.insert(rng.randrange(3), rng.choice(((a, back, c), (c, go, a))))
    if (arms[-1][0], arms[-1][1]) == (None, None) or any(arm[0] is None for arm in arms[:-1]):
        arms.sort(key=lambda arm: arm[0] is None)
    rest: Arm = (None, None, rng.choice((None, None, a)))
    name = f"{rng.choice(('run', 'walk', 'follow'))}_{name_part}"

    def twin_of(plan: Sequence[Arm], begin: str = a, skip: int = 0) -> Twin:
        def twin(events: list[Raw]) -> Raw:
            state = begin
            for event in events[skip:]:
                word = event.text.rpartition("::")[2]
                state = next(to or state for source, on, to in plan if source in (None, state) and on in (None, word))
            return Raw(f"{machine}::{state}")

        return twin

    plan = [*arms, rest]
    texts = [_arm(machine, step, arm) for arm in plan]

    def changed(place: int, arm: Arm) -> Twin:
        return twin_of([*plan[:place], arm, *plan[place + 1 :]])

    def arm_site(place: int) -> Site:
        source, on, to = plan[place]
        line, old = texts[place], f"=> {f'{machine}::{to}' if to else 'same'},"
        changes: list[Change] = [
            ("branch", old, f"=> {machine}::{other},", changed(place, (source, on, other)))
            for other in states
            if other != to
        ]
        if source is not None and on is not None:
            flip = back if on == go else go
            changes += [
                ("condition", f"{step}::{on})", f"{step}::{flip})", changed(place, (source, flip, to))),
                ("condition", f"({machine}::{source},", "(_,", changed(place, (None, on, to))),
                ("condition", f"{step}::{on})", "_)", changed(place, (source, None, to))),
                *(
                    ("condition", f"({machine}::{source},", f"({machine}::{other},", changed(place, (other, on, to)))
                    for other in states
                    if other != source
                ),
            ]
        changes.append(("type", old, "=> event,", None))
        return site(line, *changes)

    begin, loop = f"    let mut {now} = {machine}::{a};", "    for event in steps {"
    arm_sites = [arm_site(place) for place in range(len(plan))]
    known = ", ".join(f"{on} leads from {source or 'any'} to {to}".lower() for source, on, to in arms)
    other = "else it stays" if rest[2] is None else f"else it is {a}".lower()
    return Sketch(
        name=name,
        code=lines(
            "#[derive(Clone, Copy, Debug, PartialEq)]",
            f"pub enum {machine} {{",
            f"    {', '.join(states)},",
            "}",
            f"pub enum {step} {{",
            f"    {go}, {back},",
            "}",
            "DOC",
            f"pub fn {name}(steps: &[{step}]) -> {machine} {{",
            begin,
            loop,
            f"        {now} = match ({now}, event) {{",
            *texts,
            "        };",
            "    }",
            f"    {now}",
            "}",
        ),
        doc=f"Starts {a.lower()}: {known}, {other}.",
        vague=f"Starts {a.lower()} and takes steps.",
        task=f"start {a.lower()}: {known}, {other}",
        sites=(
            *arm_sites,
            *arm_sites[:-1],
            site(
                begin,
                ("start", f"::{a};", f"::{b};", twin_of(plan, b)),
                ("start", f"::{a};", f"::{c};", twin_of(plan, c)),
                ("mutability", "let mut", "let", None),
            ),
            site(
                loop,
                ("range", "steps", "&steps[1..]", twin_of(plan, skip=1)),
                ("borrow", "steps", "*steps", None),
            ),
        ),
        twin=twin_of(plan),
        sample=lambda rng: ([Raw(f"{step}::{rng.choice((go, go, back))}") for _ in range(rng.randint(1, 3))],),
    )


def _arm(machine: str, step: str, arm: Arm) -> str:
    source, on, to = arm
    left = f"{machine}::{source}" if source else ("_" if to else "same")
    return f"            ({left}, {f'{step}::{on}' if on else '_'}) => {f'{machine}::{to}' if to else 'same'},"


TEMPLATES = (Template("workflow", "state_transitions", workflow),)
