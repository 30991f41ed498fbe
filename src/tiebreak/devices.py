"""GPUs on one machine: a job leases as many as it asked for, and no other job gets them until it ends or dies.

A lease is a lock on a file, which the kernel gives back with the process that held it, however that one ended. What
else uses a GPU (another user, a program that is no job of ours) is not seen here.
"""

import contextlib
import fcntl
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
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
LOOK_SECONDS = 0.2


def devices() -> list[str]:
    """The GPUs that this process may use, as CUDA names them: simulated ones, those that a scheduler gave, or all."""
    for name in (SIMULATED, VISIBLE):
        if name in os.environ:
            return listed(os.environ[name])
    return installed()


def listed(value: str) -> list[str]:
    """The devices of such a variable, each once; like CUDA, no further than the first entry that names none (-1)."""
    names = [part.strip() for part in value.split(",")]
    return list(dict.fromkeys(takewhile(DEVICE.fullmatch, names)))


def installed() -> list[str]:
    """The numbers of the machine's GPUs; none where NVIDIA's driver does not answer."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def lock_folder() -> Path:
    """Where this machine's leases of this user are."""
    return Path(tempfile.gettempdir()) / f"tiebreak-devices-{os.getuid()}"


@contextlib.contextmanager
def lease(count: int, *, wait_seconds: float = math.inf, folder: Path | None = None) -> Iterator[list[str]]:
    """Hold `count` GPUs and show no others to CUDA, in this process and in those that it starts.

    All are taken or none: a job that waits holds nothing that another could use. Raises DeviceError where there are
    not so many at all, or none come free within `wait_seconds`.
    """
    known = devices() if count else []
    if len(known) < count:
        raise DeviceError(
            f"{count} GPUs are needed, {len(known)} are here ({', '.join(known) or 'none'}); run this job on a machine "
            f"or cluster that has them, or lower `gpus` in the study file"
        )
    if count == 0 or ALLOCATION in os.environ:
        # in an allocation the scheduler lends the devices, and may number them from 0 in every job
        yield known[:count]
        return
    with contextlib.ExitStack() as held:
        found = _wait(known, count, folder or lock_folder(), wait_seconds, held)
        before = os.environ.get(VISIBLE)
        os.environ[VISIBLE] = ",".join(found)
        try:
            yield found
        finally:
            os.environ.pop(VISIBLE)
            if before is not None:
                os.environ[VISIBLE] = before


def _wait(known: Sequence[str], count: int, folder: Path, seconds: float, held: contextlib.ExitStack) -> list[str]:
    """The devices that were taken; `held` then holds their locks."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise DeviceError(f"{folder}: leases of GPUs cannot be kept there ({problem.strerror}); remove it") from None
    end, told = time.monotonic() + seconds, False
    while True:
        free = _take(known, count, folder)
        if len(free) == count:
            for lock in free.values():
                held.enter_context(lock)
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


def _take(known: Sequence[str], count: int, folder: Path) -> dict[str, TextIO]:
    """The locks of `count` free devices, or none. Two jobs never look at once, so none takes half of what it needs."""
    with open(folder / "taking", "w") as looking:
        fcntl.flock(looking, fcntl.LOCK_EX)
        taken: dict[str, TextIO] = {}
        for name in known:
            if len(taken) < count and (lock := _try(folder / f"gpu-{name.replace('/', '-')}")) is not None:
                taken[name] = lock
        if len(taken) < count:
            for lock in taken.values():
                lock.close()
            return {}
        return taken


def _try(path: Path) -> TextIO | None:
    """The lock of a device, if nobody holds it; the file says who took it last."""
    lock = open(path, "a+")  # noqa: SIM115  (held as long as the lease)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock
