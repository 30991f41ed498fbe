"""Canonical bytes of what a test binary or a program prints: the same files give the same text, whatever ran them."""

import re

from tiebreak.domains.rust.asks import Ask, Diagnostics, Verdict
from tiebreak.domains.rust.crate import package_name
from tiebreak.domains.rust.diagnostics import Problem, codes, phase, render
from tiebreak.domains.rust.exam import report
from tiebreak.sandbox.process import Result

_FINISHED = re.compile(r"^(test result: .*?); finished in [\d.]+s$", re.MULTILINE)
_FILTERED = re.compile(r"^(test result: .*; )\d+( filtered out)", re.MULTILINE)
_THREAD = re.compile(r"^(thread '[^'\n]*') \(\d+\)( panicked at | has overflowed)", re.MULTILINE)
_BACKTRACE = re.compile(
    r"^note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", re.MULTILINE
)
_TEMPORARY = re.compile(r"/tmp/[A-Za-z0-9._-]*[A-Za-z0-9_-]{6,}")
_COUNTS = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_RUNNING = re.compile(r"^running (\d+) tests?$", re.MULTILINE)
_NUL = re.compile("[\x00\ud800-\udfff]")


def text(raw: bytes) -> str:
    """Program output as canonical text: UTF-8 (bad bytes replaced), times, thread ids and temporary names fixed."""
    out = _NUL.sub("\ufffd", raw.decode("utf-8", errors="replace")).replace("\r\n", "\n")
    out = _FINISHED.sub(r"\1; finished in 0.00s", out)
    out = _FILTERED.sub(r"\g<1>0\2", out)
    out = _THREAD.sub(r"\1\2", out)
    return _TEMPORARY.sub("/tmp/file", _BACKTRACE.sub("", out))


def build_failed(ask: Ask, errors: list[Problem], style: Diagnostics) -> Verdict:
    """The verdict on a crate that does not compile."""
    target = "lib test" if ask.tool == "cargo_test" else f'bin "{package_name(ask.files)}"'
    if ask.tool == "cargo_test" and ask.source == "src/main.rs":
        target = f'bin "{package_name(ask.files)}" test'
    stderr = render(errors, package_name(ask.files), target, style)
    return Verdict(False, False, "", stderr, compiled=False, phase=phase(errors) if errors else 1, codes=codes(errors))


def compiler_failed(result: Result) -> Verdict:
    """The verdict on a crate that the compiler could not deal with (out of time, stack overflow, a crash)."""
    stderr = "error: the compiler did not finish\nerror: could not compile\n"
    return Verdict(False, result.timed_out, "", stderr, compiled=False, phase=1, late=result.late)


def no_target(ask: Ask) -> Verdict:
    """The verdict on a crate without the file that the tool needs; rustc never ran, so it reached no phase."""
    if ask.tool == "cargo_run":
        stderr = "error: a bin target must be available for `cargo run`\n"
    else:
        stderr = f"error: no library targets found in package `{package_name(ask.files)}`\n"
    return Verdict(False, False, "", stderr, compiled=False, phase=0)


def ran(ask: Ask, result: Result, style: Diagnostics) -> Verdict:
    """The verdict on a crate that compiled and was run."""
    if ask.tool == "exam":
        seen = report.to_text(report.events(result.report))
        return Verdict(result.ok, result.timed_out, seen, "", True, 4, truncated=result.truncated, late=result.late)
    stdout, stderr = text(result.stdout), text(result.stderr)
    passed = total = 0
    if ask.tool == "cargo_test":
        passed, total = _counts(stdout)
        stdout = stdout.strip("\n") + "\n"
    if result.timed_out or result.late:
        # what was printed when the limit struck is a matter of luck, but for whole lines of tests
        stdout, stderr = _settled(stdout) if ask.tool == "cargo_test" else "", ""
    stderr += _ending(ask, result, style)
    ok = result.ok
    return Verdict(ok, result.timed_out, stdout, stderr, True, 4, passed, total, (), result.truncated, result.late)


def _settled(stdout: str) -> str:
    lines = stdout.splitlines()
    kept = [line for line in lines if re.fullmatch(r"running \d+ tests?|test \S+ \.\.\. \w+|", line)]
    return "\n".join(kept).strip("\n") + "\n"


def _counts(stdout: str) -> tuple[int, int]:
    """(passed, total) of libtest's report; where it was cut short, the tests that had passed, of those announced."""
    found = _COUNTS.findall(stdout)
    if found:
        passed, failed, ignored = map(int, found[-1])
        return passed, passed + failed + ignored
    running = _RUNNING.search(stdout)
    passed = len(re.findall(r"^test \S+ \.\.\. ok$", stdout, re.MULTILINE))
    return passed, int(running.group(1)) if running else passed


def _ending(ask: Ask, result: Result, style: Diagnostics) -> str:
    """What cargo adds when the program did not end well."""
    if result.ok:
        return ""
    if result.timed_out:
        return "error: the time limit was reached\n"
    if result.truncated:
        return "error: the output limit was reached\n"
    how = f"signal: {result.signal}" if result.code is None else f"exit status: {result.code}"
    if ask.tool == "cargo_run":
        return f"error: process didn't exit successfully ({how})\n"
    flag = "--lib" if ask.source == "src/lib.rs" else "--bins"
    last = "error: test failed\n" if style == "short" else f"error: test failed, to rerun pass `{flag}`\n"
    return last if result.code == 101 else last + f"\nCaused by:\n  process didn't exit successfully ({how})\n"
