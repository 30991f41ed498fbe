"""How the outcome of an escape is judged: each check returns how it got out, or None where it was held.

An escape that was never really tried (a tool is missing, the program did not start) counts as out.
"""

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.conformance.baits import Baits

from tiebreak.sandbox.limits import Limits
from tiebreak.sandbox.process import Result


@dataclass(frozen=True)
class Outcome:
    """What came of an escape: how its program ended, under which limits, what the host saw, what it left behind."""

    result: Result
    limits: Limits
    baits: Baits
    survivors: Sequence[str]

    @property
    def lines(self) -> list[str]:
        return self.result.stdout.decode(errors="replace").splitlines()

    def __str__(self) -> str:
        result = self.result
        ending = f"exit status {result.code}" if result.signal is None else f"signal {result.signal}"
        return f"{ending}, timed out {result.timed_out}, stdout {self.lines[:20]}, stderr {result.stderr[:500]!r}"


Check = Callable[[Outcome], str | None]


def refused(outcome: Outcome) -> str | None:
    """Every attempt was refused, and there was one."""
    through = [line for line in outcome.lines if line.startswith("open")]
    if through:
        return "; ".join(through)
    tried = any(line.startswith("held") for line in outcome.lines)
    return None if tried and outcome.result.ok else f"it was not tried: {outcome}"


def unseen(outcome: Outcome) -> str | None:
    """Refused, or at least nothing arrived at the host's socket."""
    arrived = outcome.baits.arrived()
    return f"it arrived: {arrived!r}" if arrived else refused(outcome)


def harmless(outcome: Outcome) -> str | None:
    """Whatever the program believes, the host's process lives."""
    return refused(outcome) if outcome.baits.victim.poll() is None else "it ended a process of the host"


def used_at_most(most: Callable[[Limits], int]) -> Check:
    """It reports how much it used, and that is within the limits; or it was ended."""

    def check(outcome: Outcome) -> str | None:
        used = [int(line.split()[1]) for line in outcome.lines if line.startswith("used")]
        if not used:
            return None if outcome.result.timed_out else f"it does not say how much it used: {outcome}"
        return f"it used {used[0]}, {most(outcome.limits)} are allowed" if used[0] > most(outcome.limits) else None

    return check


def out_of_cpu(outcome: Outcome) -> str | None:
    result = outcome.result
    return None if result.timed_out and not result.late else f"its CPU time was not the end: {outcome}"


def out_of_wall(outcome: Outcome) -> str | None:
    return None if outcome.result.timed_out and outcome.result.late else f"the clock was not its end: {outcome}"


def killed(outcome: Outcome) -> str | None:
    """The kernel killed it, and nobody takes that for its own ending."""
    result = outcome.result
    return None if result.signal == signal.SIGKILL and result.late else f"it was not killed: {outcome}"


def flooded(outcome: Outcome) -> str | None:
    result, most = outcome.result, outcome.limits.output_bytes
    kept = max(map(len, (result.stdout, result.stderr, result.report)))
    return None if result.truncated and not result.ok and kept == most else f"{kept} bytes were kept: {outcome}"


def crashed(outcome: Outcome) -> str | None:
    return None if outcome.result.signal in (signal.SIGSEGV, signal.SIGABRT) else f"it did not crash: {outcome}"


def exited(status: int) -> Check:
    """It went on to its own end, which was seen."""
    return lambda outcome: None if outcome.result.code == status else f"{status} was expected: {outcome}"


def gone(outcome: Outcome) -> str | None:
    """It said that it started something, and nothing of that is left."""
    if outcome.survivors:
        return f"it outlived the call: {outcome.survivors}"
    return None if "started" in outcome.lines else f"it was not tried: {outcome}"


def crowd_stopped(outcome: Outcome) -> str | None:
    """It was ended, or a process was refused to it, or no more came to be than the limit allows; and none is left."""
    if outcome.survivors:
        return f"it outlived the call: {outcome.survivors}"
    if outcome.result.timed_out or b"fork" in outcome.result.stderr:
        return None
    return used_at_most(lambda limits: limits.processes)(outcome)
