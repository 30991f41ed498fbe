"""From a sketch to a blueprint: tests or a main, hidden checks, the family's steps, and the prose around them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random
from typing import Any, Literal

from tiebreak.domains.rust.blueprints import MANIFEST, Blueprint, Check, Family, Step
from tiebreak.domains.rust.generator import prose
from tiebreak.domains.rust.generator.sketch import COMPILER_KINDS, Site, Sketch, Template, Wrong
from tiebreak.domains.rust.generator.values import debug, display, expected, is_plain

CANDIDATES, HIDDEN = 12, 3
DIFFICULTIES: tuple[Literal["easy", "medium", "hard"], ...] = ("easy", "medium", "hard")
DIFFICULTY_WEIGHTS = (4, 4, 2)
MANIFEST_TEXT = '[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n'
QUIET = 0.6  # how often the other probes that are shown should not see the bug: shorter failures, partial credit
SECOND_LOOK = 0.12  # how often a recover plan reads the file again after its failure
COMPILER_WEIGHT = 0.35  # beside 1 for a wrong line that compiles: most lines have more ways not to compile


@dataclass(frozen=True)
class Probe:
    """Arguments of the function under repair and what the correct function gives."""

    args: tuple[Any, ...]
    value: Any


def differs(wrong: Wrong, probe: Probe) -> bool:
    """Whether the wrong line shows on this input (it always does where the crate does not compile)."""
    if wrong.twin is None:
        return True
    try:
        return bool(wrong.twin(*probe.args) != probe.value)
    except (IndexError, ZeroDivisionError, ValueError, OverflowError):
        return True


def _candidates(sketch: Sketch, rng: Random) -> list[Probe]:
    """Different inputs whose results have a plain Rust form (an empty list has no type of its own)."""
    seen: dict[str, Probe] = {}
    for _ in range(CANDIDATES):
        args = sketch.sample(rng)
        value = sketch.twin(*args)
        if value != []:
            seen.setdefault(sketch.call(args), Probe(args, value))
    return list(seen.values())


def choose_probes(
    sketch: Sketch, wrongs: Sequence[Wrong], shown: int, rng: Random
) -> tuple[list[Probe], list[Probe]] | None:
    """(shown, hidden) probes such that every wrong line shows on one that is shown; None where the draw has none."""
    pool = _candidates(sketch, rng)
    if len(pool) < shown + 2:
        return None
    telling = [probe for probe in pool if all(differs(wrong, probe) for wrong in wrongs)]
    if not telling:
        return _together(pool, wrongs) if len(wrongs) > 2 and shown == 2 else None
    first, also = telling[0], telling[1:2]
    rest = [probe for probe in pool if probe is not first and probe not in also]
    if rng.random() < QUIET:
        rest.sort(key=lambda probe: any(differs(wrong, probe) for wrong in wrongs))
    visible, hidden = [first, *rest[: shown - 1]], [*also, *rest[shown - 1 :]][:HIDDEN]
    rng.shuffle(visible)
    return visible, hidden


def _together(pool: Sequence[Probe], wrongs: Sequence[Wrong]) -> tuple[list[Probe], list[Probe]] | None:
    """A long chain's wrong lines need not all show on the same probe: each shows on one of two."""
    for pair in combinations(pool, 2):
        if all(any(differs(wrong, probe) for probe in pair) for wrong in wrongs):
            return list(pair), [probe for probe in pool if probe not in pair][:HIDDEN]
    return None


def _tests(sketch: Sketch, probes: Sequence[Probe], rng: Random) -> str:
    names = prose.test_names(rng, len(probes))
    body = "".join(
        f"\n    #[test]\n    fn {name}() {{\n"
        f"        assert_eq!({sketch.call(probe.args)}, {expected(probe.value)});\n    }}\n"
        for name, probe in zip(names, probes, strict=True)
    )
    return f"\n#[cfg(test)]\nmod tests {{\n    use super::*;\n{body}}}\n"


def _main(sketch: Sketch, probes: Sequence[Probe]) -> str:
    body = "".join(
        f'    println!("{{{"" if is_plain(probe.value) else ":?"}}}", {sketch.call(probe.args)});\n' for probe in probes
    )
    return f"\nfn main() {{\n{body}}}\n"


def _output(probes: Sequence[Probe]) -> str:
    return "\n".join(display(probe.value) if is_plain(probe.value) else debug(probe.value) for probe in probes)


def choose_wrongs(sketch: Sketch, attempts: int, rng: Random) -> tuple[Site, list[Wrong]] | None:
    """The site and as many of its wrong lines as there are attempts: the bug, then plausible wrong fixes of it."""
    if attempts == 0:
        return sketch.sites[0], []
    options = [(site, wrong) for site in sketch.sites if len(site.wrongs) >= attempts for wrong in site.wrongs]
    if not options:
        return None
    site, bug = rng.choices(options, [_weight(wrong) for _, wrong in options])[0]
    chosen = [bug]
    while len(chosen) < attempts:
        others = [wrong for wrong in site.wrongs if wrong not in chosen]
        chosen += rng.choices(others, [_weight(wrong) for wrong in others])
    return site, chosen


def _weight(wrong: Wrong) -> float:
    return COMPILER_WEIGHT if wrong.twin is None else 1.0


@dataclass(frozen=True)
class _Crate:
    """A source with its bug, the line that mends it, and the wrong versions of that line: the bug, then wrong fixes."""

    broken: str
    right: str
    wrongs: tuple[Wrong, ...]


def _crate(sketch: Sketch, comment: str, tail: str, site: Site, wrongs: Sequence[Wrong], runs: bool) -> _Crate | None:
    """The source of a case; None where the line to mend is not unique in it."""
    code = sketch.code.replace("DOC\n", f"/// {comment}\n", 1)
    right = site.right
    if runs:  # nothing is public in a program
        code = re.sub(r"(?m)^pub ", "", code)
        right = right.removeprefix("pub ")
        wrongs = [Wrong(wrong.kind, wrong.line.removeprefix("pub "), wrong.twin) for wrong in wrongs]
    text = code + tail
    states = [text.replace(right, wrong.line) for wrong in wrongs]
    if text.count(right) != 1 or any(state.count(wrong.line) != 1 for state, wrong in zip(states, wrongs, strict=True)):
        return None
    return _Crate(states[0] if states else text, right, tuple(wrongs))


def _steps(
    family: Family, source: str, cargo: Literal["cargo_test", "cargo_run"], crate: _Crate, rng: Random
) -> list[Step]:
    if not crate.wrongs:
        return [Step(tool=cargo, expect_status="success")]
    read = Step(tool="read_file", file_path=source)
    steps = [read]
    for number, (old, new) in enumerate(pairwise([*(wrong.line for wrong in crate.wrongs), crate.right])):
        if number and rng.random() < SECOND_LOOK:
            steps.append(read)
        steps.append(Step(tool="apply_patch", file_path=source, find=old, replace=new))
        steps.append(Step(tool=cargo, expect_status="success" if new == crate.right else "failed"))
    return steps


def build(
    template: Template, family: Family, case_id: str, seed: int, rng: Random, version: str, attempts: int
) -> Blueprint | None:
    """One blueprint, or None where this draw cannot make one (the caller draws again).

    attempts: the patches of its plan, the last of them right; 0 where there is nothing to repair.
    """
    sketch, runs = template.draw(rng), "run" in family
    difficulty = rng.choices(DIFFICULTIES, DIFFICULTY_WEIGHTS)[0]
    chosen = choose_wrongs(sketch, attempts, rng)
    probes = chosen and choose_probes(sketch, chosen[1], rng.choice((1, 2)) if runs else 2, rng)
    if chosen is None or probes is None:
        return None
    visible, hidden = probes
    comment = sketch.vague if difficulty == "hard" else sketch.doc
    crate = _crate(sketch, comment, _main(sketch, visible) if runs else _tests(sketch, visible, rng), *chosen, runs)
    if crate is None:
        return None
    output, kind = _output(visible) if runs else None, crate.wrongs[0].kind if crate.wrongs else ""
    source = "src/main.rs" if runs else "src/lib.rs"
    steps = _steps(family, source, "cargo_run" if runs else "cargo_test", crate, rng)
    return Blueprint(
        family=family,
        case_id=case_id,
        bug_category=f"compiler_{kind}" if kind in COMPILER_KINDS else template.category,
        difficulty=difficulty,
        user=prose.user(rng, family, difficulty, sketch.task, output),
        expected_tool_sequence=[step.tool for step in steps],
        expected_output=output,
        files={MANIFEST: MANIFEST_TEXT.format(name=case_id), source: crate.broken},
        steps=steps,
        final=prose.final(rng, family, kind, output),
        template=template.name,
        generator=version,
        seed=seed,
        bug_kind=kind,
        hidden_checks=[Check(expr=sketch.call(probe.args), expect=debug(probe.value)) for probe in hidden],
    )
