"""A real Slurm on this machine alone: one node, loopback only, four pretended GPUs. Needs root and Debian's slurm-wlm.

    ./dev python tests/slurm/cluster.py COMMAND …      run COMMAND with the cluster up, then take it down

The GPUs are character devices that nothing answers behind: enough for Slurm to count, give and withhold them.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

GPUS = 4
MEMORY_MB = 200_000  # said, not had: what the jobs of a large study ask for
DAEMONS = ("munged", "slurmctld", "slurmd")
PORTS = 2
SECONDS = 30  # for the node to come up

CONF = """\
ClusterName=tiebreak
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=5
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
KillWait=5
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=200
"""
SHIM = '#!/bin/sh\nSLURM_CONF="{folder}/slurm.conf" exec {program} "$@"\n'


class Missing(Exception):
    """What this machine lacks for a cluster."""


def check() -> None:
    """Raises Missing, with the mend, where a cluster cannot be set up here."""
    lacking = [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=path()) is None]
    if lacking:
        raise Missing(f"{', '.join(lacking)} not found; as root on Debian: apt-get install slurm-wlm munge")
    if os.geteuid() != 0:
        raise Missing("Slurm's daemons and the pretended GPUs need root")


def path() -> str:
    """Where Debian keeps daemons."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on."""
    with contextlib.ExitStack() as held:
        found = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


def configure(folder: Path) -> None:
    """Write what the daemons read: configurations, key, devices, and commands that know the configuration."""
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    values = {"host": host, "ports": free_ports(PORTS), "folder": folder, "memory": MEMORY_MB, "gpus": GPUS}
    (folder / "slurm.conf").write_text(CONF.format(**values, cpus=len(os.sched_getaffinity(0))))
    (folder / "gres.conf").write_text(f"AutoDetect=off\nName=gpu File={folder}/nvidia[0-{GPUS - 1}]\n")
    for number in range(GPUS):
        os.mknod(folder / f"nvidia{number}", 0o020666, os.makedev(1, 3))
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    for program in ("srun", "sbatch", "squeue", "scontrol", "scancel", "sinfo"):
        shim = folder / "bin" / program
        shim.write_text(SHIM.format(folder=folder, program=shutil.which(program, path=path())))
        shim.chmod(0o755)


def start(folder: Path) -> None:
    """Start the daemons. Raises Missing with what they said where the node does not come up."""
    files = {name: f"{folder}/munge.{name}" for name in ("socket", "pid", "log", "seed")}
    munged = ["munged", "--force", f"--key-file={folder}/munge.key", f"--socket={files['socket']}"]
    munged += [f"--pid-file={files['pid']}", f"--log-file={files['log']}", f"--seed-file={files['seed']}"]
    environment = os.environ | {"PATH": path(), "SLURM_CONF": f"{folder}/slurm.conf"}
    for command in (munged, ["slurmctld", "-c"], ["slurmd", "-c"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise Missing(f"{command[0]} does not start: {done.stderr.strip() or done.stdout.strip()}")
    until = time.monotonic() + SECONDS
    while "idle" not in (said := answer(folder, "sinfo", "-h", "-o", "%t")):
        if time.monotonic() > until:
            raise Missing(f"the node does not come up ({said.strip()}): {tail(folder / 'slurmd.log')}")
        time.sleep(0.2)


def answer(folder: Path, *command: str) -> str:
    """What one of Slurm's commands prints; nothing where it does not answer in time."""
    environment = os.environ | {"SLURM_CONF": f"{folder}/slurm.conf"}
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=5).stdout
    except subprocess.TimeoutExpired:
        return ""


def tail(log: Path) -> str:
    """The end of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-8:]) if log.exists() else "no log"


def stop(folder: Path) -> None:
    """End all jobs and daemons, the munge one last, and wait until they are gone."""
    if (folder / "slurmctld.pid").exists():
        answer(folder, "scancel", "--state=RUNNING", "--state=PENDING", "--user=root")
        time.sleep(1)
    for name in ("slurmd.pid", "slurmctld.pid", "munge.pid"):
        with contextlib.suppress(OSError, ValueError):
            process = int((folder / name).read_text())
            os.kill(process, signal.SIGTERM)
            until = time.monotonic() + 10
            while Path(f"/proc/{process}").exists() and time.monotonic() < until:
                time.sleep(0.1)
            if Path(f"/proc/{process}").exists():
                os.kill(process, signal.SIGKILL)


@contextlib.contextmanager
def cluster() -> Iterator[Path]:
    """A running cluster: the folder with its `slurm.conf`, and `bin`, which belongs at the front of PATH."""
    check()
    folder = Path(tempfile.mkdtemp(prefix="tiebreak-slurm-"))
    folder.chmod(0o755)
    try:
        configure(folder)
        start(folder)
        yield folder
    finally:
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def environment(folder: Path) -> dict[str, str]:
    """The variables with which Slurm's commands speak to this cluster."""
    own = {"SLURM_CONF": f"{folder}/slurm.conf", "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    return os.environ | own


def main() -> None:
    """Run a command with the cluster up; its exit status is ours."""
    try:
        with cluster() as folder:
            print(f"a cluster of one node with {GPUS} pretended GPUs is up in {folder}", file=sys.stderr)
            status = subprocess.run(sys.argv[1:] or ["sinfo"], env=environment(folder)).returncode
    except Missing as problem:
        sys.exit(f"no cluster: {problem}")
    sys.exit(status)


if __name__ == "__main__":
    main()
