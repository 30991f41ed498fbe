"""Running prime-rl's `rl`, reading along, and stopping it where nothing will come any more.

Nothing of this has been run with the real prime-rl here: it needs GPUs. A test runs it with a program that writes the
same logs.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tiebreak.devices import HELD, VISIBLE
from tiebreak.errors import TiedError, TrainingError
from tiebreak.sections.prime_rl import PrimeRl
from tiebreak.training.prime_rl.logs import Line, Tail
from tiebreak.training.prime_rl.records import Records
from tiebreak.training.prime_rl.stall import Watch

POLL = 2.0
LEAVE = 120.0
"""Seconds that prime-rl has to end its servers before it is killed; it allows each of them 60."""
SHOWN = 5
PARENT_DIED = 1  # PR_SET_PDEATHSIG


def environment(tool: Path) -> dict[str, str]:
    """The environment of prime-rl's processes: its own programs first, as `rl` starts the others by name."""
    programs = tool / ".venv" / "bin"
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    left_out = ("PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"PATH": path, "VIRTUAL_ENV": str(tool / ".venv"), "WANDB_MODE": "offline", "UV_NO_SYNC": "1"}


def check(tool: Path, part: PrimeRl, devices: int) -> None:
    """Raise TrainingError, before anything starts, where prime-rl is not installed or GPUs are missing."""
    if not (tool / ".venv" / "bin" / "rl").is_file():
        raise TrainingError(f"{tool}: prime-rl is not installed there; run: ./dev snakemake --cores 1 prime_rl")
    if devices < part.gpus:
        raise TrainingError(
            f"prime-rl takes {part.gpus} GPUs ({part.rollout_gpus} for rollouts, {part.train_gpus} to train, "
            f"{part.teacher_gpus} for the teacher), here are {devices}; run this job on such a machine"
        )

    odd = [name for name in os.environ.get(VISIBLE, "").split(",") if name.strip() and not name.strip().isdecimal()]
    if odd:
        raise TrainingError(f"{VISIBLE} names {odd[0]}; prime-rl reads nothing but numbers: name whole GPUs by theirs")


def visible_devices() -> int:
    """How many GPUs this process may use."""
    import torch

    return torch.cuda.device_count()


def run(tool: Path, config: Path, out: Path, records: Records, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Run `rl @ config` to its end, its logs read into `records`.

    Raises TiedError with the diagnosis where its groups all tie, TrainingError where it stalls otherwise or fails.
    Whatever ends this function ends prime-rl's processes.
    """
    logs = {name: Tail(out / "logs" / f"{name}.log") for name in ("orchestrator", "trainer")}
    for tail in logs.values():
        tail.path.unlink(missing_ok=True)
    launcher = out.parent / "prime-rl.log"
    with launcher.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [str(tool / ".venv" / "bin" / "rl"), "@", str(config)],
            env=environment(tool),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=dies_with_us,
            pass_fds=HELD,
        )
    watch, errors = Watch(clock()), list[Line]()
    try:
        while process.poll() is None:
            read(logs, records, watch, errors, clock())
            if (diagnosis := watch.diagnosis(clock())) is not None:
                raise (TiedError if watch.tied else TrainingError)(f"{out}: the training was stopped: {diagnosis}")
            time.sleep(POLL)
        read(logs, records, watch, errors, clock())
    finally:
        end(process)
    if process.returncode != 0:
        if watch.ended is not None:
            raise TiedError(f"{out}: prime-rl gave the training up: {watch.ended}")
        last = "; ".join(line.message for line in errors[-SHOWN:]) or f"see {launcher}"
        raise TrainingError(f"{out}: prime-rl ended with status {process.returncode}: {last}")


def read(logs: dict[str, Tail], records: Records, watch: Watch, errors: list[Line], now: float) -> None:
    """Read what came since the last time."""
    for line in logs["orchestrator"].read():
        watch.see(line, now)
        records.collected(line)
        errors += [line] if line.level == "ERROR" else []
    for line in logs["trainer"].read():
        records.trained(line)
        errors += [line] if line.level == "ERROR" else []


def end(process: subprocess.Popen[bytes]) -> None:
    """End the launcher and all that it started: politely, as it ends its servers by itself, and then by force."""
    for sign, patience in ((signal.SIGTERM, LEAVE), (signal.SIGKILL, LEAVE)):
        if process.poll() is None:
            process.send_signal(sign)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what the launcher left behind


def dies_with_us() -> None:
    """In the launcher, before it starts: a SIGTERM when we die, on which it ends all that it started (Linux)."""
    ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGTERM)
