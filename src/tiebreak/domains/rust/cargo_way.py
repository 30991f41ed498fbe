"""Verdicts by real cargo, offline, in a fresh crate under bubblewrap: the reference for the other ways.

cargo builds (its own profile, its own test target) in one sandbox; what it built runs in another, where no source, no
toolchain and no other program is, exactly as in the other ways.
"""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from tiebreak.domains.rust import canonical
from tiebreak.domains.rust.asks import Ask, Diagnostics, Verdict
from tiebreak.domains.rust.diagnostics import problems
from tiebreak.domains.rust.direct import run_program
from tiebreak.domains.rust.scratch import scratch, write_files
from tiebreak.domains.rust.toolchain import CRATE, Toolchain, compile_box, toolchain
from tiebreak.errors import SandboxError
from tiebreak.sandbox.limits import COMPILER, Limits
from tiebreak.sandbox.process import Result, run

_STATUS = re.compile(r"^ +(Compiling|Finished|Locking|Updating|Blocking|Executable) .*\n", re.MULTILINE)


def cargo(ask: Ask, limits: Limits, style: Diagnostics) -> Verdict:
    """The verdict on one crate by `cargo test` (the library's tests where there is a library) or `cargo run`."""
    if ask.source is None:
        return canonical.no_target(ask)
    with scratch() as work:
        write_files(work, dict(ask.files))
        result = _build(ask, work)
        messages, built = _messages(result.stdout)
        if built:
            program = work / os.path.relpath(_executable(messages), CRATE)
            return canonical.ran(ask, run_program(program, ask, limits), style)
    return _failed(ask, result, messages, built, style)


def _build(ask: Ask, folder: Path) -> Result:
    tools = toolchain()
    box = compile_box(tools, folder, proc=True)
    box = replace(box, environment=(*box.environment, *_environment(tools)))
    target = ["--lib"] if ask.source == "src/lib.rs" else ["--bins"]
    command = ["test", "--no-run", *target] if ask.tool == "cargo_test" else ["build", "--bins"]
    return run([tools.cargo, *command, "--offline", "--message-format=json"], box, COMPILER)


def _environment(tools: Toolchain) -> tuple[tuple[str, str], ...]:
    return (
        ("CARGO_TERM_COLOR", "never"),
        ("CARGO_INCREMENTAL", "0"),
        ("RUSTFLAGS", f"-Awarnings -Clinker={tools.linker}"),
        ("RUSTC", tools.rustc),
    )


def _messages(stdout: bytes) -> tuple[list[str], bool | None]:
    """cargo's JSON lines, and whether the build succeeded (None: it never came to that)."""
    lines = [line for line in stdout.decode("utf-8", errors="replace").split("\n") if line]
    for line in lines:
        entry = json.loads(line)
        if entry["reason"] == "build-finished":
            return lines, bool(entry["success"])
    return lines, None


def _executable(messages: list[str]) -> str:
    """The path, inside the box, of the one program that cargo built."""
    built = [entry["executable"] for entry in map(json.loads, messages) if entry.get("executable")]
    if len(built) != 1:
        raise SandboxError(f"cargo built {len(built)} programs ({', '.join(built)}); a crate with one is expected")
    return str(built[0])


def _failed(ask: Ask, result: Result, messages: list[str], built: bool | None, style: Diagnostics) -> Verdict:
    """The verdict where nothing was built: the crate's errors, or cargo's refusal of the manifest."""
    stderr = result.stderr.decode("utf-8", errors="replace")
    if result.timed_out:
        return canonical.compiler_failed(result)
    if built is None:
        return Verdict(False, False, "", _STATUS.sub("", stderr), compiled=False, phase=0)
    errors = problems(messages, "message")
    if not errors and "could not compile" in stderr:
        return canonical.compiler_failed(result)
    if not errors:
        raise SandboxError(f"cargo failed without an error of the crate: {stderr.strip().splitlines()[-1:]}")
    return canonical.build_failed(ask, errors, style)
