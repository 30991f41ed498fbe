"""What this machine can enforce: tried out (`probe`), and in words for the record of a run (`enforcement`)."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace

from tiebreak.errors import SandboxError
from tiebreak.sandbox import cgroups, host, seccomp
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


def enforcement() -> dict[str, str]:
    """What confines model-written code on this machine, by subject; nothing is tried out for it.

    Subjects: confinement, files, network, system calls, CPU time, wall time, memory, processes, output.
    """
    if host.allowed():
        nothing = dict.fromkeys(("files", "network", "system calls"), "nothing")
        return {"confinement": "none: model code runs on this host, by the user's choice", **nothing, **_limits()}
    return {
        "confinement": "bubblewrap, all namespaces",
        "files": "mount namespace: read-only but for a sized /tmp and one folder",
        "network": "an empty network namespace",
        "system calls": _filter(),
        **_limits(),
    }


def _limits() -> dict[str, str]:
    return {
        "CPU time": "rlimit (each process)",
        "wall time": "watched, then killed",
        "memory": "; ".join(_memory_means()),
        "processes": "; ".join(_process_means()),
        "output": "counted while it is read, then killed",
    }


def _filter() -> str:
    known = seccomp.program(forks=True) is not None
    return "seccomp" if known else f"no seccomp filter for {platform.machine()}"


def _memory_means() -> list[str]:
    place = None if host.allowed() else cgroups.place()
    own = "rlimit (each process)"
    if place is None:
        return [own]
    return [own, "cgroup v2 (each sandbox)" if place.folder else f"no limit on a sandbox as a whole: {place.why}"]


def _process_means() -> list[str]:
    means = ["counted every 50 ms, then killed"]
    if not host.allowed():
        means = ["cgroup v2 (each sandbox)"] if cgroups.place().folder else means
        means += ["seccomp (a program starts threads only)"] if seccomp.program(forks=False) is not None else []
        means += ["rlimit in compilations"] if os.getuid() else []  # the kernel exempts root
    return means


def probe() -> list[Probed]:
    """Each promise of the sandbox, tried out (about two seconds). A first entry that fails says why nothing can run."""
    means = enforcement()
    if host.allowed():
        return [Probed("confinement", False, means["confinement"])]
    try:
        _shell("true")
    except SandboxError as problem:
        return [Probed("confinement", False, str(problem))]
    tried = [Probed(name, attempt(), means[name]) for name, attempt in ATTEMPTS.items()]
    return [Probed("confinement", True, means["confinement"]), *tried]


def _shell(script: str, *, seconds: int = SMALL.wall_seconds, forks: bool = True, proc: bool = False) -> Result:
    box = Box(environment=(("PATH", "/usr/bin:/bin"),), forks=forks, proc=proc)
    return run(["/bin/sh", "-c", script], box, replace(SMALL, wall_seconds=seconds))


def _no_files() -> bool:
    large = _shell("head -c 4000000 /dev/zero >/tmp/large && echo written")
    hidden = _shell("test -e /etc/passwd || test -e /home || test -e /root || touch /usr/tiebreak")
    return b"written" not in large.stdout and not hidden.ok


def _no_network() -> bool:
    interfaces = _shell("grep : /proc/net/dev", proc=True).stdout.splitlines()
    return all(line.strip().startswith(b"lo:") for line in interfaces)


def _no_such_call() -> bool:
    return not _shell("unshare --user true").ok and _filter() == "seccomp"


def _cpu_ends() -> bool:
    return _shell("while :; do :; done").timed_out


def _wall_ends() -> bool:
    return _shell("sleep 60", seconds=1).late


def _memory_ends() -> bool:
    return b"600000000" not in _shell("x=$(head -c 600000000 /dev/zero | tr '\\0' a); echo ${#x}").stdout


def _processes_end() -> bool:
    many = _shell("for i in $(seq 64); do sleep 5 & done; wait; echo all")
    return b"all" not in many.stdout and not _shell("(echo child)", forks=False).ok


def _output_ends() -> bool:
    return _shell("yes").truncated


ATTEMPTS: dict[str, Callable[[], bool]] = {
    "files": _no_files,
    "network": _no_network,
    "system calls": _no_such_call,
    "CPU time": _cpu_ends,
    "wall time": _wall_ends,
    "memory": _memory_ends,
    "processes": _processes_end,
    "output": _output_ends,
}
