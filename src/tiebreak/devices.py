"""GPUs on one machine: a job leases as many as it asked for, and no other job gets them until it ends or dies.

A lease is a lock on a file, which the kernel gives back with the process that held it, however that one ended. What
else uses a GPU (another user, a program that is no job of ours) is not seen here, nor that a MIG device is part of a
GPU: a machine that is divided so names its MIG devices in CUDA_VISIBLE_DEVICES.
"""

import contextlib
import fcntl
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TextIO

from tiebreak.errors import DeviceError

SIMULATED = "TIEBREAK_DEVICES"
VISIBLE = "CUDA_VISIBLE_DEVICES"
ALLOCATION = "SLURM_JOB_ID"
DEVICE = re.compile(r"\d+|(GPU|MIG)-[\w/-]+")
ORDER = "CUDA_DEVICE_ORDER"
LOOK_SECONDS = 0.2
HELD: list[int] = []
"""Descriptors of this process's locks: a program that inherits them (`pass_fds`) keeps the lease until it ends as well,
also where this process is killed before it."""


def devices() -> list[str]:
    """The GPUs that this process may use: simulated ones, those that a scheduler or the user named, or all.

    A GPU has its number in nvidia-smi as its name, also where it was named by UUID: two jobs that name it differently
    then wait for the same lock, and prime-rl reads nothing but numbers.
    """
    if SIMULATED in os.environ:
        return listed(os.environ[SIMULATED])
    numbers = installed()
    if VISIBLE not in os.environ:
        return list(numbers.values())
    named = [numbered(name, numbers) for name in listed(os.environ[VISIBLE])]
    return list(dict.fromkeys(named))


def numbered(name: str, numbers: dict[str, str]) -> str:
    """A device's number, where it is a GPU's UUID or, as CUDA allows, the beginning of just one."""
    found = [number for uuid, number in numbers.items() if name.startswith("GPU-") and uuid.startswith(name)]
    return found[0] if len(found) == 1 else name


def listed(value: str) -> list[str]:
    """The devices of such a variable, each once; like CUDA, no further than the first entry that names none (-1)."""
    names = [part.strip() for part in value.split(",")]
    return list(dict.fromkeys(takewhile(DEVICE.fullmatch, names)))


def installed() -> dict[str, str]:
    """The machine's GPUs, UUID and number; none where NVIDIA's driver does not answer."""
    if shutil.which("nvidia-smi") is None:
        return {}
    command = ["nvidia-smi", "--query-gpu=uuid,index", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split(", ") for line in done.stdout.splitlines()] if done.returncode == 0 else []
    return {row[0]: row[1] for row in rows if len(row) == 2}


def lock_folder() -> Path:
    """Where this machine's leases of this user are. Not under TMPDIR, which `nix develop` and schedulers set anew."""
    return Path("/tmp") / f"tiebreak-devices-{os.getuid()}"


@contextlib.contextmanager
def lease(count: int, *, wait_seconds: float = math.inf, folder: Path | None = None) -> Iterator[list[str]]:
    """Hold `count` GPUs and show no others to CUDA, in this process and in those that it starts.

    All are taken or none: a job that waits holds nothing that another could use. Raises DeviceError where there are
    not so many at all, or none come free within `wait_seconds`.
    """
    if count < 1:
        yield []
        return
    known = devices()
    if len(known) < count:
        raise DeviceError(
            f"{count} GPUs are needed, {len(known)} are here ({', '.join(known) or 'none'}); run this job on a machine "
            f"or cluster that has them, or lower `gpus` in the study file"
        )
    with contextlib.ExitStack() as held:
        found = _wait(known, count, folder or lock_folder(), wait_seconds, held)
        held.enter_context(_shown({VISIBLE: ",".join(found), ORDER: os.environ.get(ORDER, "PCI_BUS_ID")}))
        yield found


@contextlib.contextmanager
def _shown(settings: dict[str, str]) -> Iterator[None]:
    """These environment variables, and what they were before again at the end."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _wait(known: Sequence[str], count: int, folder: Path, seconds: float, held: contextlib.ExitStack) -> list[str]:
    """The devices that were taken; `held` then holds their locks."""
    end, told = time.monotonic() + seconds, False
    while True:
        free = _looked(known, count, folder)
        if len(free) == count:
            for lock in free.values():
                descriptor = held.enter_context(lock).fileno()
                HELD.append(descriptor)
                held.callback(HELD.remove, descriptor)
            return list(free)
        if time.monotonic() > end:
            raise DeviceError(
                f"{count} of the GPUs {', '.join(known)} did not come free in {seconds:.0f} s, other jobs hold them; "
                f"give Snakemake --resources gpu={len(known)}, so that it starts no more jobs than there is room for"
            )
        if not told:
            print(f"waiting for {count} of the GPUs {', '.join(known)}", file=sys.stderr)
            told = True
        time.sleep(LOOK_SECONDS)


def _looked(known: Sequence[str], count: int, folder: Path) -> dict[str, TextIO]:
    """`_take`, in a folder that is ours. Raises DeviceError where files cannot be made there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid():
            raise PermissionError(0, "it is another user's", str(folder))
        return _take(known, count, folder)
    except OSError as problem:
        place = problem.filename or folder
        raise DeviceError(
            f"{place}: leases of GPUs cannot be kept there ({problem.strerror}); make room, or remove it"
        ) from None


def _take(known: Sequence[str], count: int, folder: Path) -> dict[str, TextIO]:
    """The locks of `count` free devices, or none. Two jobs never look at once, so none takes half of what it needs.

    In an allocation of a scheduler the locks are the allocation's own: it lends the devices, and may number them from
    0 in every one; what runs inside one and the same allocation still shares none.
    """
    lent = f"{os.environ[ALLOCATION]}-" if os.environ.get(ALLOCATION) else ""
    with open(folder / "taking", "w") as looking:
        fcntl.flock(looking, fcntl.LOCK_EX)
        taken: dict[str, TextIO] = {}
        for name in known:
            if len(taken) < count and (lock := _try(folder / f"{lent}gpu-{name.replace('/', '-')}")) is not None:
                taken[name] = lock
        if len(taken) < count:
            for lock in taken.values():
                lock.close()
            return {}
        return taken


def _try(path: Path) -> TextIO | None:
    """The lock of a device, if nobody holds it; the file says who took it last, unless the disk is full."""
    lock = open(path, "a+")  # noqa: SIM115  (held as long as the lease)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    with contextlib.suppress(OSError):
        os.truncate(lock.fileno(), 0)
        os.write(lock.fileno(), f"{os.getpid()}\n".encode())
    return lock
