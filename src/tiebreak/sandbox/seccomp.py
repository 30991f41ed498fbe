"""A system call filter for programs that have no reason to start another process.

A plain rlimit on processes does not bind root and counts the whole user's processes elsewhere; cgroups need a
delegation that most machines lack. A filter needs nothing: threads may be started, processes not.
"""

import os
import platform
import struct
from functools import cache

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
CLONE_THREAD = 0x00010000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16

# system call numbers: (audit architecture, clone, clone3, those refused outright)
# refused: fork, vfork, ptrace, process_vm_*, unshare, setns, mount, keyctl family, bpf, perf_event_open, userfaultfd
TABLES = {
    "x86_64": (0xC000003E, 56, 435, (57, 58, 101, 165, 248, 249, 250, 272, 298, 308, 310, 311, 321, 323)),
    "aarch64": (0xC00000B7, 220, 435, (40, 97, 117, 217, 218, 219, 241, 268, 270, 271, 280, 282)),
}
IO_URING = (425, 426, 427)


def _instruction(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, k)


@cache
def no_new_processes() -> bytes | None:
    """The filter as a BPF program for `bwrap --seccomp`; None on an architecture that it does not know."""
    table = TABLES.get(platform.machine())
    if table is None:
        return None
    architecture, clone, clone3, refused = table
    deny = _instruction(RETURN, ERRNO | EPERM)
    program = [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(JUMP_EQUAL, architecture, 1, 0),
        deny,
        _instruction(LOAD, NUMBER),
        _instruction(JUMP_AT_LEAST, 0x40000000, 0, 1),  # the x32 numbers, which would slip past the list
        deny,
    ]
    for number in (*refused, *IO_URING):
        program += [_instruction(JUMP_EQUAL, number, 0, 1), deny]
    # clone3 passes its flags in memory, where a filter cannot look; libc falls back to clone
    program += [_instruction(JUMP_EQUAL, clone3, 0, 1), _instruction(RETURN, ERRNO | ENOSYS)]
    program += [
        _instruction(JUMP_EQUAL, clone, 0, 3),
        _instruction(LOAD, FIRST_ARGUMENT),
        _instruction(JUMP_ANY_BIT, CLONE_THREAD, 1, 0),
        deny,
        _instruction(RETURN, ALLOW),
    ]
    return b"".join(program)


@cache
def filter_descriptor() -> int | None:
    """A sealed memory file that holds the filter, made once a process; None where there is no filter."""
    program = no_new_processes()
    if program is None:
        return None
    descriptor = os.memfd_create("tiebreak-seccomp", os.MFD_CLOEXEC)
    os.write(descriptor, program)
    return descriptor
