"""What a confined program may use. CPU time decides, so that load on the machine changes no verdict."""

import resource
from dataclasses import asdict, dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of one confined process (`memory`, `cpu`, `open files`, `file size`) and of its sandbox (the rest).

    cpu_seconds, wall_seconds: seconds; wall time is only the net behind CPU time (a sleeping program).
    memory_bytes: address space of each process. processes: threads and processes of the sandbox, by a cgroup or else
    counted while it runs; programs that run in the `run` box may start threads but no process at all.
    output_bytes: of stdout and of stderr, each; a program that prints more is killed and the result flagged.
    tmpfs_bytes: the one writable place, /tmp.
    """

    cpu_seconds: int = 5
    wall_seconds: int = 120
    memory_bytes: int = 1024 * MIB
    processes: int = 256
    file_bytes: int = 16 * MIB
    open_files: int = 256
    output_bytes: int = MIB // 4
    tmpfs_bytes: int = 16 * MIB

    def as_dict(self) -> dict[str, int]:
        """The limits as plain numbers, for keys and records."""
        return asdict(self)

    def rlimits(self) -> tuple[tuple[str, int, int, int], ...]:
        """The limits of a process: (name in `prlimit`, number for `resource.prlimit`, soft, hard)."""
        return (
            # SIGXCPU at the soft limit can be caught, SIGKILL a second later cannot
            ("cpu", resource.RLIMIT_CPU, self.cpu_seconds, self.cpu_seconds + 1),
            ("as", resource.RLIMIT_AS, self.memory_bytes, self.memory_bytes),
            ("fsize", resource.RLIMIT_FSIZE, self.file_bytes, self.file_bytes),
            ("nofile", resource.RLIMIT_NOFILE, self.open_files, self.open_files),
            # no core file, and one byte, unlike none, keeps the kernel from handing it to the host's crash handler
            ("core", resource.RLIMIT_CORE, 1, 1),
        )

    def apply(self, process: int) -> None:
        """Put the limits of a process on `process` (a process id); what it starts from then on inherits them."""
        for _, number, soft, hard in self.rlimits():
            resource.prlimit(process, number, (soft, hard))

    def prlimit(self) -> list[str]:
        """The `prlimit` command (util-linux) that puts the limits of a process on whatever it starts."""
        return ["prlimit", *(f"--{name}={soft}:{hard}" for name, _, soft, hard in self.rlimits())]


COMPILER = Limits(
    cpu_seconds=60,
    wall_seconds=600,
    memory_bytes=4096 * MIB,
    processes=512,
    file_bytes=512 * MIB,
    open_files=4096,
    output_bytes=64 * MIB,
    tmpfs_bytes=512 * MIB,
)
"""For rustc and the linker, which run no model code (no build script, no procedural macro is ever built)."""
