"""What this machine can enforce, found by trying it."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tiebreak.errors import SandboxError
from tiebreak.sandbox import host, seccomp
from tiebreak.sandbox.bubblewrap import Box
from tiebreak.sandbox.limits import MIB, Limits
from tiebreak.sandbox.process import Result, run


@dataclass(frozen=True)
class Probed:
    """One thing to enforce: whether it holds here, and by what or why not."""

    name: str
    holds: bool
    note: str


SMALL = Limits(cpu_seconds=1, wall_seconds=10, memory_bytes=256 * MIB, processes=32, file_bytes=MIB, tmpfs_bytes=MIB)


def probe() -> list[Probed]:
    """Each promise of the sandbox, tried out (about a second). A first entry that fails says why nothing can run."""
    if host.allowed():
        return [Probed("confinement", False, "switched off by the user: model code runs on this host")]
    try:
        _shell("true")
    except SandboxError as problem:
        return [Probed("confinement", False, str(problem))]
    return [Probed("confinement", True, "bubblewrap, all namespaces"), *(check() for check in CHECKS)]


def _shell(script: str) -> Result:
    return run(["/bin/sh", "-c", script], Box(environment=(("PATH", "/usr/bin:/bin"),)), SMALL)


def _network() -> Probed:
    result = _shell("cat /sys/class/net/*/operstate 2>/dev/null; exec 3<>/dev/tcp/127.0.0.1/22")
    return Probed("no network", not result.ok, "an empty network namespace")


def _cpu() -> Probed:
    result = _shell("while :; do :; done")
    return Probed("CPU time", result.timed_out, "rlimit, each process")


def _files() -> Probed:
    result = _shell("head -c 4000000 /dev/zero >/tmp/large && echo written")
    return Probed("file size and tmpfs", b"written" not in result.stdout, "rlimit and a sized tmpfs")


def _output() -> Probed:
    result = _shell("yes")
    return Probed("output", result.truncated, "counted while it is read, then killed")


def _processes() -> Probed:
    filtered = seccomp.no_new_processes() is not None
    by = "seccomp filter (running programs start none)" if filtered else f"no filter for {platform.machine()}"
    rlimit = "rlimit in compilations" if os.getuid() else "no rlimit in compilations (root is exempt)"
    return Probed("processes", filtered, f"{by}; {rlimit}")


def _memory() -> Probed:
    groups = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    note = (
        "rlimit, each process; cgroup v2 is there but not used yet" if groups else "rlimit, each process; no cgroup v2"
    )
    return Probed("memory", True, note)


CHECKS: tuple[Callable[[], Probed], ...] = (_network, _cpu, _files, _output, _processes, _memory)
