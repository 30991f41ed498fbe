"""Verdicts on many crates by one compilation: each crate is a module of one binary, and is run alone.

Crates that fail to compile are dropped and the rest built again. Their errors come from the diagnostics of the batch
where nothing of another crate can show in them, else from a check of the crate by itself.
"""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tiebreak.domains.rust import canonical
from tiebreak.domains.rust.asks import Ask, Diagnostics, Tool, Verdict
from tiebreak.domains.rust.compiler import CompilerFailure, rustc
from tiebreak.domains.rust.diagnostics import BORROW_CODES, Problem, problems
from tiebreak.domains.rust.direct import PROGRAM, build, direct, run_program
from tiebreak.domains.rust.exam.harness import ENTRY as DOOR
from tiebreak.domains.rust.exam.harness import exam_main
from tiebreak.domains.rust.exam.library import link_harness
from tiebreak.domains.rust.routes import BATCH_MARK
from tiebreak.domains.rust.scratch import scratch, write_files
from tiebreak.sandbox.limits import COMPILER, Limits
from tiebreak.sandbox.process import Result

# With the standard library inside, a program starts 0.6 ms of CPU time sooner, and linking takes 10 ms longer
WORTH_LINKING = 16
AT_ONCE = 2  # crates of a batch that run side by side: a sandbox is made and removed mostly by waiting for the kernel
ENTRY = "\npub fn {mark}entry() -> std::process::ExitCode {{ std::process::Termination::report(main()) }}\n"
MAIN = """fn main() -> std::process::ExitCode {{
    let name = std::env::args().nth(1);
    match name.as_deref() {{
{arms}
        _ => std::process::ExitCode::from(99),
    }}
}}
"""
# Errors that speak of the crate's own text only. Others may list what the rest of the batch offers: implementations,
# traits, things to import.
OWN_TEXT_CODES = BORROW_CODES | frozenset(
    "E0004 E0023 E0026 E0027 E0040 E0046 E0053 E0061 E0063 E0106 E0107 E0282 E0308 E0423 E0425 E0560 E0599 E0600 "
    "E0605 E0606 E0609 E0614 E0618".split()
)
# In the short form only the headline shows. These may be raised, or worded, because of what else is in the batch.
SHARED_CODES = frozenset("E0282 E0283 E0284 E0432 E0433".split())
# A standard type is written with its path where another crate of the batch has a type of that name
_STANDARD_PATH = re.compile(r"`[^`\n]*\b(?:std|core|alloc)::")
_OTHERS = re.compile(r"\bother candidates?\b|\bcrate::|`batch`")


@dataclass
class _Built:
    """What became of the crates of a batch: those in `program`, and the errors of those that are not.

    unsure: those whose list may be cut short. The parser gives up on some errors and recovers from others; where it
    gave up on one crate, the compiler never came to what it would say of the rest.
    """

    alive: dict[str, Ask]
    failed: dict[str, list[Problem]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)


class _Puzzle(Exception):
    """The compiler failed and nothing says because of which crate."""


def batch(asks: Sequence[Ask], limits: Limits, style: Diagnostics) -> list[Verdict]:
    """The verdicts on `asks`, which all use the same tool and may all be batched (`routes.batchable`), in order."""
    if len(asks) == 1:
        return [direct(asks[0], limits, style)]
    with scratch() as work:
        names = {f"{BATCH_MARK}{secrets.token_hex(5)}": ask for ask in asks}
        try:
            built = _build(work, names, asks[0].tool)
        except (_Puzzle, CompilerFailure):
            half = len(asks) // 2
            return batch(asks[:half], limits, style) + batch(asks[half:], limits, style)
        judge = partial(_verdict, work, built, limits, style)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(judge, names, names.values()))


def _build(work: Path, names: Mapping[str, Ask], tool: Tool) -> _Built:
    """Compile, drop what fails, and repeat until the rest compiles."""
    for name, ask in names.items():
        write_files(work / name, _module(ask))
    built = _Built(dict(names))
    kind = link_harness(work) if tool == "exam" else ["--test"] if tool == "cargo_test" else []
    while built.alive:
        (work / "root.rs").write_text(_root(built.alive, tool))
        flags, limits = _flags(len(built.alive)), patience(len(built.alive))
        done, lines = rustc(work, *kind, *flags, "--crate-name=batch", "-o", PROGRAM, "root.rs", limits=limits)
        if done:
            break
        found = _by_crate(problems(lines))
        if not found:
            raise _Puzzle
        if all(problem.phase == 1 for errors in found.values() for problem in errors):
            built.unsure |= set(found)
        built.failed |= found
        built.alive = {name: ask for name, ask in built.alive.items() if name not in found}
    return built


def _flags(crates: int) -> list[str]:
    """What makes a batch cheaper and changes nothing that a program prints."""
    linking = ["-Cprefer-dynamic=no"] if crates >= WORTH_LINKING else []
    return ["-Ccodegen-units=1", *linking]


def patience(crates: int) -> Limits:
    """What a batch may cost to compile. Honest ones take 4 to 16 ms a crate and half a second more; where one crate
    blows up, the halvings that find it must not each wait as long as that crate may take when it stands alone."""
    return replace(COMPILER, cpu_seconds=min(COMPILER.cpu_seconds, 5 + crates // 8))


def _module(ask: Ask) -> dict[str, str]:
    """The crate's source as a module; a program's main gets a public door behind its last line."""
    assert ask.source is not None
    source = dict(ask.files)[ask.source]
    return {ask.source: source + ENTRY.format(mark=BATCH_MARK) if ask.tool == "cargo_run" else source}


def _root(alive: Mapping[str, Ask], tool: Tool) -> str:
    modules = "".join(f'#[path = "{name}/{ask.source}"] mod {name};\n' for name, ask in alive.items())
    if tool == "cargo_test":
        return modules
    if tool == "exam":
        return modules + exam_main("\n".join(f'        Some("{name}") => {name}::{DOOR}(),' for name in alive))
    arms = "\n".join(f'        Some("{name}") => {name}::{BATCH_MARK}entry(),' for name in alive)
    return modules + MAIN.format(arms=arms)


def _by_crate(errors: Iterable[Problem]) -> dict[str, list[Problem]]:
    """The errors by the crate whose folder they point into, with that crate's mark taken out."""
    found: dict[str, list[Problem]] = {}
    for problem in errors:
        name, slash, path = problem.file.partition("/")
        if slash and name.startswith(BATCH_MARK):
            own = replace(
                problem,
                file=path,
                message=_unmark(problem.message, name),
                rendered=_unmark(problem.rendered, name),
            )
            found.setdefault(name, []).append(own)
    return found


def _unmark(text: str, name: str) -> str:
    return text.replace(f"{name}/", "").replace(f"{name}::", "")


def _verdict(work: Path, built: _Built, limits: Limits, style: Diagnostics, name: str, ask: Ask) -> Verdict:
    """Run a crate that compiled, alone; explain one that did not."""
    if name in built.alive:
        argument = f"{name}::" if ask.tool == "cargo_test" else name
        result = run_program(work / PROGRAM, ask, limits, argument)
        if _perhaps_anothers_doing(ask, result):
            return direct(ask, limits, style)
        return canonical.ran(ask, _unmark_result(result, name), style)
    errors = built.failed[name]
    if name not in built.unsure and all(_speaks_for_itself(problem, style) for problem in errors):
        return canonical.build_failed(ask, errors, style)
    folder = work / name
    write_files(folder, dict(ask.files))
    try:
        alone = build(ask, folder, check=True)
    except CompilerFailure as failure:
        return canonical.compiler_failed(failure.result)
    return direct(ask, limits, style) if alone is None else canonical.build_failed(ask, alone, style)


def _perhaps_anothers_doing(ask: Ask, result: Result) -> bool:
    """Whether a run ended in a way that another crate of the binary could be to blame for (a static of its size)."""
    killed = result.signal is not None and not (result.timed_out or result.truncated)
    return killed or (ask.tool == "exam" and not result.timed_out and not result.report.endswith(b"end\n"))


def _speaks_for_itself(problem: Problem, style: Diagnostics) -> bool:
    """Whether this error reads as it would if the crate had been compiled alone."""
    shown = problem.message if style == "short" else problem.message + problem.rendered
    own = problem.code not in SHARED_CODES if style == "short" else problem.code in OWN_TEXT_CODES
    known = problem.code is None or own
    return known and not (BATCH_MARK in problem.rendered or _STANDARD_PATH.search(shown) or _OTHERS.search(shown))


def _unmark_result(result: Result, name: str) -> Result:
    marks = ((f"{name}::".encode(), b""), (f"{name}/".encode(), b""))
    out, err = result.stdout, result.stderr
    for mark, nothing in marks:
        out, err = out.replace(mark, nothing), err.replace(mark, nothing)
    return replace(result, stdout=out, stderr=err)
