"""Bubblewrap command lines. All namespaces are unshared; only what a `Box` names is visible inside.

Covered: other processes, the network, the host's files, environment variables, System V objects, nested user
namespaces, capabilities, the terminal; with `seccomp.py` also what namespaces do not divide. Not covered: bugs of the
kernel, side channels, clocks and what the machine is, and, without cgroups, the sum of memory over many processes.
`tests/sandbox/conformance` tries each escape that we know.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tiebreak.errors import SandboxError

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
ON_THE_HOST = "set TIEBREAK_SANDBOX=host and TIEBREAK_I_KNOW_THIS_RUNS_MODEL_CODE=1 (see sandbox/host.py)"


@dataclass(frozen=True)
class Box:
    """What a confined program sees.

    read_only, writable: (host path, path inside) pairs, mounted in this order. `root`: a host folder that becomes the
    read-only `/`. `tmp`: whether /tmp is there (a sized tmpfs). `forks`: whether processes (not just threads) may be
    started. `proc`, `dev`: whether these are mounted. `environment`: all of it. `folder`: the working folder inside.
    `report`: whether a pipe is open for a report, its descriptor's number in the variable TIEBREAK_REPORT. `hidden`:
    folders inside that look empty. Only /tmp and what is `writable` can be written.
    """

    read_only: tuple[tuple[str, str], ...] = ()
    writable: tuple[tuple[str, str], ...] = ()
    root: str | None = None
    folder: str = "/"
    environment: tuple[tuple[str, str], ...] = ()
    tmp: bool = True
    forks: bool = True
    proc: bool = False
    dev: bool = True
    report: bool = False
    hidden: tuple[str, ...] = field(default=())


@cache
def system_mounts() -> tuple[str, ...]:
    """Arguments that show the system's own programs and libraries, read-only; links stay links."""
    words: list[str] = []
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    return tuple(words)


@cache
def executable() -> str:
    """The path of bubblewrap. SandboxError, with the mend, where there is none."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxError(
            "bubblewrap (bwrap) is not on PATH; model-written code never runs without it. Install it "
            f"(`apt install bubblewrap`, or enter `nix develop`), or, in a disposable container only, {ON_THE_HOST}"
        )
    return found


def command(argv: Sequence[str], box: Box, tmpfs_bytes: int, seccomp_fd: int | None = None) -> list[str]:
    """The bubblewrap command line that runs `argv` in `box`."""
    words = [executable(), "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL"]
    words += ["--clearenv", "--new-session", "--die-with-parent", "--hostname", "tiebreak"]
    words += ["--ro-bind", box.root, "/"] if box.root else list(system_mounts())
    for host, inside in box.read_only:
        words += ["--ro-bind", host, inside]
    for hidden in box.hidden:
        words += ["--tmpfs", hidden, "--remount-ro", hidden]
    if box.proc:
        words += ["--proc", "/proc", "--remount-ro", "/proc"]  # else root's sandbox can write the kernel's settings
    if box.dev:
        words += ["--dev", "/dev", "--remount-ro", "/dev"]  # else it is half of the memory to write to
    if box.tmp:
        words += ["--size", str(tmpfs_bytes), "--tmpfs", "/tmp"]
    for host, inside in box.writable:
        words += ["--bind", host, inside]
    for name, value in box.environment:
        words += ["--setenv", name, value]
    if not box.root:
        words += ["--remount-ro", "/"]
    if seccomp_fd is not None:
        words += ["--seccomp", str(seccomp_fd)]
    return [*words, "--chdir", box.folder, "--", *argv]


def refusal(stderr: str) -> str:
    """Why bubblewrap could not make its sandbox, and the mend, from what it printed."""
    last = stderr.strip().splitlines()[-1] if stderr.strip() else "it said nothing"
    for setting, bad in (
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ):
        path = Path(setting)
        if path.exists() and path.read_text().strip() == bad:
            name = setting.removeprefix("/proc/sys/").replace("/", ".")
            return (
                f"bubblewrap cannot make a user namespace ({name}={bad}; it said: {last}); allow it for bwrap "
                f"(an AppArmor profile with `userns`, or `sysctl {name}={'0' if bad == '1' else '1'}`), or, in a "
                f"disposable container only, {ON_THE_HOST}"
            )
    return (
        f"bubblewrap cannot make its sandbox (it said: {last}); inside a container, user namespaces have to be "
        f"allowed for it; in a disposable one, {ON_THE_HOST}"
    )
