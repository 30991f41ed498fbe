"""The escapes: what is tried, in which boxes, when it counts as held, what stops it, and whether a bare host does.

An attack is a word of the hostile program (`hostile/main.rs`), or a script for bash. `@name@` stands for one of the
host's baits (`baits.py`); `@mark@` for digits that tell this test's processes from all others. No attack does harm
where it gets through, for that may happen: none writes what it can open, and every bomb is a small one.
"""

from dataclasses import dataclass, field
from typing import Literal

from sandbox.conformance.checks import (
    Check,
    crashed,
    crowd_stopped,
    exited,
    flooded,
    gone,
    harmless,
    killed,
    out_of_cpu,
    out_of_wall,
    refused,
    unseen,
    used_at_most,
)

Where = Literal["run", "report", "shell", "proc", "hidden"]
"""The boxes: a compiled crate's, the same with a report pipe, a shell's, one with /proc, one with a hidden folder."""

Host = Literal["held", "open", "open to root", "depends", "not tried"]
"""On the host backend: whether it holds; `depends` on kernel and machine; `not tried` where it could do harm."""

BOTH: tuple[Where, ...] = ("run", "shell")
FORKING: tuple[Where, ...] = ("shell",)
PROC: tuple[Where, ...] = ("proc",)
RUN: tuple[Where, ...] = ("run",)


@dataclass(frozen=True)
class Escape:
    """One escape. by: what stops it. wall: its wall limit in seconds."""

    name: str
    attack: str
    by: str
    host: Host
    where: tuple[Where, ...] = BOTH
    check: Check = field(default=refused, repr=False)
    bash: bool = False
    wall: int = 20


def bash(
    name: str, script: str, by: str, host: Host, where: tuple[Where, ...] = FORKING, check: Check = refused
) -> Escape:
    return Escape(name, script, by, host, where, check, bash=True)


NAMESPACE, FILTER, LIMIT = "mount namespace", "seccomp", "rlimit"

READING = [
    Escape("read the password file", "read /etc/passwd", NAMESPACE, "open"),
    Escape("read the home folder", "read @home@", NAMESPACE, "open"),
    Escape("read the host's files", "read @files@", NAMESPACE, "open"),
    Escape("read the repository", "read @repository@", NAMESPACE, "open"),
    Escape("read another crate's scratch folder", "read @scratch@", NAMESPACE, "open"),
    Escape("read /sys", "read /sys/kernel", NAMESPACE, "open"),
    Escape("read /proc where there is none", "read /proc/self/environ", NAMESPACE, "open"),
    Escape("read a device", "read /dev/mem", NAMESPACE, "depends"),
    Escape("follow a link from /tmp to outside", "symlink /etc/passwd", NAMESPACE, "open"),
    bash(
        "read other processes in /proc",
        "for id in @victim@ $(ls /proc | grep '^[0-9]'); do [ -e /proc/$id/cmdline ] || continue\n"
        "  (( id > 9 )) && echo open process $id; done; echo held",
        "pid namespace", "open", PROC,
    ),
    bash(
        "read the environment of the first process",
        "for file in /proc/[0-9]*/environ; do grep -q @token@ $file 2>/dev/null && echo open $file; done; echo held",
        "bubblewrap is started without an environment", "open", PROC,
    ),
    Escape("find a token in the environment", "environment @token@", "--clearenv", "held"),
    Escape("find an inherited descriptor", "descriptors", "closed at exec", "held", ("run", "report", "shell")),
    bash("read the judge's input", "read -r line && echo open $line; echo held", "/dev/null as stdin", "held"),
    bash(
        "find more devices",
        "cd /dev; for name in *; do case $name in\n"
        "  null|zero|full|random|urandom|tty|console|ptmx|pts|shm|fd|core|stdin|stdout|stderr) ;;\n"
        "  *) echo open $name ;; esac; done; echo held",
        "a /dev of its own", "open",
    ),
]  # fmt: skip

WRITING = [
    Escape("write outside /tmp", "create / /usr /usr/bin /bin /lib /etc /proc /var", "read-only mounts", "not tried"),
    Escape("write in /dev", "create /dev /dev/shm", "/dev is read-only", "not tried", FORKING),
    Escape("write in a hidden folder", "create /usr/share", "hidden folders are read-only", "not tried", ("hidden",)),
    Escape("overwrite the program", "overwrite", "read-only mount", "open"),
    Escape("link to the program", "hardlink", "read-only mount", "open"),
    Escape("make a device node", "node", "no capabilities", "open to root"),
    bash(
        "write in /proc",
        "command -v find >/dev/null && echo held; find /proc -type f -writable | head -5 | sed 's/^/open /'",
        "/proc is read-only", "open", PROC,
    ),
]  # fmt: skip

REACHING = [
    Escape("connect to a port of the host", "tcp @tcp@", "network namespace", "open"),
    Escape("send a datagram to the host", "udp @udp@", "network namespace", "open", check=unseen),
    Escape("connect to an abstract socket", "abstract @abstract@", "network namespace", "open"),
    Escape("find a way out", "route", "network namespace", "depends"),
    Escape("resolve a name", "dns", "network namespace", "depends"),
    Escape("open a raw socket", "raw", "no capabilities", "open to root"),
    Escape("open a socket that no namespace divides", "families 16 17 38 40", FILTER, "open"),
    bash(
        "see the host's interfaces",
        "grep : /proc/net/dev | grep -v '^ *lo:' | sed 's/^/open /'; echo held", "network namespace", "depends", PROC,
    ),
    Escape("attach the host's shared memory", "shared-memory @memory@", "ipc namespace, seccomp", "open"),
    Escape("use the host's semaphores", "semaphores @semaphores@", "ipc namespace, seccomp", "open"),
    Escape("open the host's message queue", "queue @queue@", "ipc namespace, seccomp", "open"),
    Escape("trace a process of the host", "trace @victim@", "pid namespace, seccomp", "depends"),
    Escape("read the memory of a process of the host", "peek @victim@", "pid namespace, seccomp", "depends"),
    Escape("kill a process of the host", "signal @victim@", "pid namespace", "not tried", check=harmless),
    Escape("signal all processes", "signal-all", "pid namespace", "open", RUN),
    bash(
        "kill the first process",
        "if (( $$ < 20 )); then kill -STOP 1; kill -KILL 1; echo held; else echo open it would be the host\\'s; fi",
        "the kernel guards a namespace's first process", "open",
    ),
    Escape("type into the terminal", "terminal", "a new session without a terminal", "held"),
]  # fmt: skip

RIGHTS = [
    Escape("nest a user namespace", "user-namespace", "--disable-userns, seccomp", "depends"),
    Escape("make other namespaces", "namespaces", "no capabilities, seccomp", "depends"),
    Escape("hold a capability", "capabilities", "--cap-drop ALL", "open to root"),
    Escape("gain privileges by a program", "privileges", "no_new_privs", "depends"),
    Escape("become another user", "identity", "no capabilities", "open to root"),
    Escape("mount", "mounts", "no capabilities, seccomp", "not tried"),
    Escape("change the root", "chroot", "no capabilities, seccomp", "open to root"),
    Escape("use the kernel's key rings", "keys", FILTER, "depends"),
    Escape("load a bpf map", "bpf", FILTER, "depends"),
    Escape("open a performance counter", "perf", FILTER, "depends"),
    Escape("set up io_uring", "rings", FILTER, "depends"),
    Escape("handle page faults", "faults", FILTER, "depends"),
    Escape("learn the host's name", "hostname", "uts namespace", "open"),
    Escape("rename the host", "set-hostname", "no capabilities", "not tried"),
    Escape("set the clock", "set-clock", "no capabilities", "not tried"),
    Escape("raise its priority", "priority", "no capabilities", "depends"),
    Escape("raise its limits", "limits", "hard limits, no capabilities", "depends"),
]

MEMORY = used_at_most(lambda limits: limits.memory_bytes)
TMPFS = used_at_most(lambda limits: limits.tmpfs_bytes)
FILE = used_at_most(lambda limits: limits.file_bytes)
TASKS = used_at_most(lambda limits: limits.processes)

SPACE = [
    Escape("fill /tmp", "fill", "a sized tmpfs", "not tried", check=TMPFS),
    Escape("write a large file", "big", LIMIT, "held", check=FILE),
    Escape("make a file with a large hole", "sparse", LIMIT, "held"),
    Escape("take much memory", "memory", LIMIT, "not tried", check=MEMORY),
    Escape("take much memory in many threads", "memory-threads", LIMIT, "not tried", check=MEMORY),
    Escape("take memory that no process has", "uncounted", FILTER, "not tried"),
    Escape("recurse without end", "recursion", "the stack's limit", "held", check=crashed),
    bash(
        "leave a core file",
        "cd $(mktemp -d) && (ulimit -c unlimited; kill -ABRT $BASHPID) 2>/dev/null\n"
        "if [ -n \"$(ls)\" ]; then echo open $(ls); else echo held; fi; rm -rf $PWD",
        LIMIT, "depends",
    ),
]  # fmt: skip

TIME = [
    Escape("loop", "spin", LIMIT, "held", check=out_of_cpu),
    Escape("loop in many threads", "spin-threads", LIMIT, "held", check=out_of_cpu),
    Escape("ignore the signal for CPU time", "stubborn", "a hard limit a second later", "held", check=killed),
    Escape("sleep", "sleep", "wall limit", "held", check=out_of_wall, wall=1),
    Escape("stop itself", "stop", "wall limit", "held", check=out_of_wall, wall=1),
    Escape("close its output and go on", "silent", "its process is watched, not its pipes", "held", check=exited(5)),
]

OUTPUT = [
    Escape("flood stdout", "flood 1", "counted while it is read", "held", check=flooded),
    Escape("flood stderr", "flood 2", "counted while it is read", "held", check=flooded),
    Escape("flood the report", "flood-report", "counted while it is read", "held", ("report",), flooded),
]

DETACHED = "setsid -f sleep 30.@mark@"
CROWD = "cgroup, rlimit, or counted while it runs; then the pid namespace"
# a clock that needs no new process once all are used up, and a way to count those that came to their last step
CLOCK = "coproc sleep 30.@mark@; leaf() { echo >/tmp/leaf$BASHPID; exec sleep 5.@mark@; }\n"
COUNT = "read -t 2 -u ${COPROC[0]}; leaves=(/tmp/leaf*); echo used ${#leaves[@]}"
PROCESSES = [
    Escape("start a process", "fork", FILTER, "open", RUN),
    Escape("bomb with processes", "fork-bomb", FILTER, "not tried", RUN),
    Escape("bomb with threads", "thread-bomb", "cgroup, or counted while it runs", "not tried", check=TASKS),
    Escape("become another program", "replace", "limits and filter stay, the report closes", "open", ("report",)),
    Escape("start a daemon", "daemon @mark@", "pid namespace", "open", FORKING, gone),
    bash("start a daemon and exit", f"{DETACHED} <&- >&- 2>&-; echo started", "pid namespace", "open", check=gone),
    bash("start a daemon on its pipes", f"{DETACHED} & sleep 0.2; echo started", "pid namespace", "open", check=gone),
    bash(
        "bomb with a shell's processes",
        CLOCK + "f() { if (( $1 )); then f $(( $1 - 1 )) & f $(( $1 - 1 )) & wait; else leaf; fi; }\nf 9 &\n" + COUNT,
        CROWD, "not tried", check=crowd_stopped,
    ),
    bash(
        "start many processes", CLOCK + "for i in $(seq 400); do leaf & done\n" + COUNT,
        CROWD, "not tried", check=crowd_stopped,
    ),
]  # fmt: skip

ESCAPES = [*READING, *WRITING, *REACHING, *RIGHTS, *SPACE, *TIME, *OUTPUT, *PROCESSES]
