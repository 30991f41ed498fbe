"""The system call filter of every sandbox: doors of the kernel that nothing in there needs, and starting processes.

What namespaces do not divide is closed here: key rings, sockets to a virtual machine's host, and memory that no limit
of a process counts (shared segments, memory files). What only gives more of the kernel to find a bug in is closed too.
A box that may not fork starts threads and no process: a plain rlimit on processes does not bind root and counts the
whole user's elsewhere, and cgroups need a delegation that most machines lack. A filter needs nothing.
"""

import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in what a filter sees; arguments' low halves come first
X32 = 0x40000000  # the x32 numbers, which would slip past the list
CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020000  # mount, cgroup, uts, ipc, user, pid, net
FAMILIES = (1, 2, 10)  # unix, inet, inet6: a network namespace divides these; vsock, netlink, alg and the rest are shut

# name: (x86_64, aarch64)
REFUSED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}


@dataclass(frozen=True)
class _Machine:
    """An architecture: its audit number, its column in `REFUSED`, and the calls that are looked at closely."""

    audit: int
    column: int
    clone: int
    socket: int
    forks: tuple[int, ...]  # fork and vfork
    clone3: int = 435


MACHINES = {
    "x86_64": _Machine(0xC000003E, 0, clone=56, socket=41, forks=(57, 58)),
    "aarch64": _Machine(0xC00000B7, 1, clone=220, socket=198, forks=()),
}


def _instruction(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, k)


def _error(number: int) -> bytes:
    return _instruction(RETURN, ERRNO | number)


@cache
def program(*, forks: bool) -> bytes | None:
    """The filter as a BPF program for `bwrap --seccomp`; None on an architecture that it does not know."""
    machine = MACHINES.get(platform.machine())
    if machine is None:
        return None
    refused = [numbers[machine.column] for numbers in REFUSED.values()]
    refused += () if forks else machine.forks
    return b"".join([*_native(machine), *_list(refused), *_clone(machine, forks), *_socket(machine)])


def _native(machine: _Machine) -> list[bytes]:
    """Refuse other calling conventions, and leave the call's number loaded."""
    return [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(JUMP_EQUAL, machine.audit, 1, 0),
        _error(EPERM),
        _instruction(LOAD, NUMBER),
        _instruction(JUMP_AT_LEAST, X32, 0, 1),
        _error(EPERM),
    ]


def _list(refused: Sequence[int]) -> list[bytes]:
    """Refuse these numbers: one comparison each (the kernel runs this for every number when a filter is put on)."""
    last = len(refused) - 1
    checks = [
        _instruction(JUMP_EQUAL, number, last - place, 0 if place < last else 1) for place, number in enumerate(refused)
    ]
    return [*checks, _error(EPERM)]


def _clone(machine: _Machine, forks: bool) -> list[bytes]:
    """Refuse new namespaces, and without `forks` whatever is no thread."""
    judge = [_instruction(JUMP_ANY_BIT, CLONE_NAMESPACES, 1, 0), _instruction(RETURN, ALLOW), _error(EPERM)]
    if not forks:
        judge = [_instruction(JUMP_ANY_BIT, CLONE_THREAD, 1, 0), _error(EPERM), *judge]
    return [
        # clone3 passes its flags in memory, where a filter cannot look; libc falls back to clone
        _instruction(JUMP_EQUAL, machine.clone3, 0, 1),
        _error(ENOSYS),
        _instruction(JUMP_EQUAL, machine.clone, 0, 1 + len(judge)),
        _instruction(LOAD, FIRST_ARGUMENT),
        *judge,
    ]


def _socket(machine: _Machine) -> list[bytes]:
    """Refuse all families but `FAMILIES`, and allow everything that came so far."""
    known = [_instruction(JUMP_EQUAL, family, len(FAMILIES) - place) for place, family in enumerate(FAMILIES)]
    return [
        _instruction(JUMP_EQUAL, machine.socket, 0, 2 + len(known)),
        _instruction(LOAD, FIRST_ARGUMENT),
        *known,
        _error(EAFNOSUPPORT),
        _instruction(RETURN, ALLOW),
    ]


@cache
def filter_descriptor(*, forks: bool) -> int | None:
    """A memory file that holds the filter, made once a process; None where there is no filter."""
    content = program(forks=forks)
    if content is None:
        return None
    descriptor = os.memfd_create("tiebreak-seccomp", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    return descriptor
