"""Verdicts by rustc itself: one compilation and one confined run a crate, without cargo."""

import os
from pathlib import Path

from tiebreak.domains.rust import canonical
from tiebreak.domains.rust.asks import Ask, Diagnostics, Verdict
from tiebreak.domains.rust.compiler import CompilerFailure, rustc
from tiebreak.domains.rust.crate import crate_name
from tiebreak.domains.rust.diagnostics import Problem, problems
from tiebreak.domains.rust.exam.harness import ENTRY, exam_main
from tiebreak.domains.rust.exam.library import link_harness
from tiebreak.domains.rust.runtime import PROGRAM as INSIDE
from tiebreak.domains.rust.runtime import run_box
from tiebreak.domains.rust.scratch import scratch, write_files
from tiebreak.sandbox.limits import Limits
from tiebreak.sandbox.process import Result, run

TEST_ARGUMENTS = ("--test-threads=1",)
PROGRAM = "program"
SUBJECT = "tb_subject"


def direct(ask: Ask, limits: Limits, style: Diagnostics) -> Verdict:
    """The verdict on one crate by rustc and a confined run."""
    if ask.source is None:
        return canonical.no_target(ask)
    with scratch() as work:
        folder = work / "crate"
        write_files(folder, dict(ask.files))
        try:
            errors = build(ask, folder)
        except CompilerFailure as failure:
            return canonical.compiler_failed(failure.result)
        if errors is not None:
            return canonical.build_failed(ask, errors, style)
        os.rename(folder / PROGRAM, work / PROGRAM)
        return canonical.ran(ask, run_program(work / PROGRAM, ask, limits), style)


def build(ask: Ask, folder: Path, *, check: bool = False) -> list[Problem] | None:
    """Compile the crate in `folder` to `PROGRAM` there; its errors, or None where it compiled.

    check: stop before code generation (for crates that are known to fail).
    """
    name, source = crate_name(ask.files), ask.source
    assert source is not None
    if ask.tool == "exam":
        return _build_exam(folder, source, check=check)
    extern: list[str] = []
    if source == "src/main.rs" and "src/lib.rs" in dict(ask.files):
        done, lines = rustc(folder, "--crate-type=lib", f"--crate-name={name}", "-o", f"lib{name}.rlib", "src/lib.rs")
        if not done:
            return problems(lines)
        extern = ["--extern", f"{name}=lib{name}.rlib"]
    kind = ["--test"] if ask.tool == "cargo_test" else []
    kind += ["--emit=metadata"] if check else []
    done, lines = rustc(folder, *kind, f"--crate-name={name}", *extern, "-o", PROGRAM, source)
    return None if done else problems(lines)


def _build_exam(folder: Path, source: str, *, check: bool) -> list[Problem] | None:
    """Build the crate as a library without its tests' configuration, and a program that opens its door."""
    harness = link_harness(folder)
    kind = ["--crate-type=lib", *(["--emit=metadata"] if check else [])]
    done, lines = rustc(folder, *kind, f"--crate-name={SUBJECT}", *harness, "-o", f"lib{SUBJECT}.rlib", source)
    if not done:
        return problems(lines)
    if check:
        return None
    (folder / "door.rs").write_text(exam_main(f"        None => {SUBJECT}::{ENTRY}(),"))
    subject = ("--extern", f"{SUBJECT}=lib{SUBJECT}.rlib")
    done, lines = rustc(folder, f"--crate-name={PROGRAM}", *harness, *subject, "-o", PROGRAM, "door.rs")
    return None if done else problems(lines)


def run_program(program: Path, ask: Ask, limits: Limits, *arguments: str) -> Result:
    """Run a compiled test binary or program, confined: no sources, no /proc, no new process."""
    tail = TEST_ARGUMENTS if ask.tool == "cargo_test" else ()
    return run([INSIDE, *arguments, *tail], run_box(program, report=ask.tool == "exam"), limits)
