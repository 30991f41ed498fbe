"""A sandbox holds every escape that we know. `--sandbox host` shows what the host backend does not hold."""

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox.conformance.baits import Baits, survivors
from sandbox.conformance.checks import Outcome
from sandbox.conformance.escapes import ESCAPES, Escape, Where

from tiebreak.domains.rust.compiler import rustc
from tiebreak.domains.rust.runtime import run_box
from tiebreak.sandbox import host
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.process import run

PROGRAM = "/program"
LIMITS = Limits(cpu_seconds=1, memory_bytes=256 * MIB, processes=64, file_bytes=MIB, tmpfs_bytes=4 * MIB)
CASES = [pytest.param(escape, where, id=f"{escape.name}-{where}") for escape in ESCAPES for where in escape.where]
Attempt = Callable[[Escape, Where], Outcome]


@pytest.fixture(scope="module")
def on_host(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the suite runs on the host backend; chosen for the tests of this module only."""
    chosen = request.config.getoption("--sandbox") == "host"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ((host.CHOICE, "host"), (host.OATH, "1")):
            if chosen:
                patch.setenv(name, value)
            else:
                patch.delenv(name, raising=False)
        yield chosen


@pytest.fixture(scope="module")
def program(on_host: bool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile program, compiled."""
    folder = tmp_path_factory.mktemp("hostile")
    for source in Path(__file__).with_name("hostile").glob("*.rs"):
        (folder / source.name).write_text(source.read_text())
    done, lines = rustc(folder, "-Cprefer-dynamic=no", "-Cstrip=symbols", "-o", "hostile", "main.rs")
    assert done, lines
    return folder / "hostile"


@pytest.fixture(scope="module")
def attempt(program: Path) -> Iterator[Attempt]:
    """A function that tries an escape in a box."""
    shell = Box(environment=(("PATH", "/usr/bin:/bin"),), read_only=((str(program), PROGRAM),))
    boxes: dict[Where, Box] = {
        "run": run_box(program),
        "report": run_box(program, report=True),
        "shell": shell,
        "proc": replace(shell, proc=True),
        "hidden": replace(shell, hidden=("/usr/share",)),
    }
    with Baits() as baits:

        def attempt(escape: Escape, where: Where) -> Outcome:
            mark, attack = f"{secrets.randbelow(10**15):015}", escape.attack
            for name, word in {**baits.words, "mark": mark}.items():
                attack = attack.replace(f"@{name}@", word)
            argv = ["/bin/bash", "-c", attack] if escape.bash else [PROGRAM, attack]
            limits = replace(LIMITS, wall_seconds=escape.wall)
            result = run(argv, boxes[where], limits)
            return Outcome(result, limits, baits, survivors(mark, lambda process: os.kill(process, signal.SIGKILL)))

        yield attempt


@pytest.mark.parametrize(("escape", "where"), CASES)
def test_escape(escape: Escape, where: Where, on_host: bool, attempt: Attempt) -> None:
    if on_host and escape.host == "not tried":
        pytest.skip("not tried on a host, where it could do harm")
    way_out = escape.check(attempt(escape, where))
    if on_host and is_open(escape, way_out):
        assert way_out is not None, "listed as open on the host backend, and it was held: mend the list"
        pytest.xfail(f"not held by the host backend: {way_out:.120}")
    assert way_out is None, f"{escape.by} should have stopped it: {way_out}"


def is_open(escape: Escape, way_out: str | None) -> bool:
    """Whether the host backend is expected not to hold it."""
    if escape.host == "depends":
        return way_out is not None
    return escape.host == "open" or (escape.host == "open to root" and os.geteuid() == 0)


def test_escapes_have_names_of_their_own() -> None:
    names = [escape.name for escape in ESCAPES]
    assert len(names) == len(set(names)) and len(names) >= 60
