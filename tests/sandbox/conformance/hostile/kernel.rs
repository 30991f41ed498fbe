//! Rights that a program should not have, and doors of the kernel that it does not need.

use crate::calls::{self, c};
use crate::{found, told, told_any};
use std::process::Command;

const SIGCHLD: i64 = 17;
const NEW_USER: i64 = 0x10000000;
const NEW_OTHERS: [(&str, i32); 7] = [
    ("time", 0x80),
    ("mount", 0x20000),
    ("cgroup", 0x02000000),
    ("uts", 0x04000000),
    ("ipc", 0x08000000),
    ("pid", 0x20000000),
    ("net", 0x40000000),
];

/// A copy of this process by a plain system call; the copy ends at once.
fn copied(flags: i64) -> i64 {
    let process = unsafe { calls::syscall(calls::clone, flags, 0usize, 0usize, 0usize, 0usize) };
    if process == 0 {
        unsafe { calls::_exit(0) }
    }
    process
}

fn copied_anew(flags: u64) -> i64 {
    let arguments = [flags, 0, 0, 0, SIGCHLD as u64, 0, 0, 0];
    let process = unsafe { calls::syscall(calls::clone3, arguments.as_ptr(), 64usize) };
    if process == 0 {
        unsafe { calls::_exit(0) }
    }
    process
}

pub fn fork_attempts() {
    let process = unsafe { calls::fork() };
    if process == 0 {
        unsafe { calls::_exit(0) }
    }
    told("fork", process.into());
    told("clone", copied(SIGCHLD));
    told("clone as vfork does", copied(0x4000 | SIGCHLD));
    told("clone3", copied_anew(0));
    let started = Command::new(std::env::args().next().unwrap()).arg("none").status();
    found(&format!("a command: {started:?}"), started.is_ok());
}

pub fn user_namespace() {
    told("clone into a user namespace", copied(NEW_USER | SIGCHLD));
    told("clone3 into a user namespace", copied_anew(NEW_USER as u64));
    told("unshare of the user namespace", unsafe { calls::unshare(NEW_USER as i32) }.into());
}

pub fn namespaces() {
    for (name, flag) in NEW_OTHERS {
        told(&format!("a new {name} namespace"), unsafe { calls::unshare(flag) }.into());
    }
}

pub fn capabilities() {
    let header = [0x20080522u32, 0];
    let mut sets = [0u32; 6];
    let asked = unsafe { calls::syscall(calls::capget, header.as_ptr(), sets.as_mut_ptr()) };
    found(&format!("capabilities {sets:x?}"), asked != 0 || sets.iter().any(|&set| set != 0));
}

pub fn privileges() {
    found("programs may gain privileges", unsafe { calls::prctl(39, 0usize, 0usize, 0usize, 0usize) } != 1);
}

pub fn identity() {
    told_any("another user", unsafe { calls::setresuid(12345, 12345, 12345) }.into());
    told_any("other groups", unsafe { calls::setgroups(1, [12345].as_ptr()) }.into());
}

pub fn mounts() {
    let folder = format!("/tmp/tiebreak-escape-{}", std::process::id());
    std::fs::create_dir(&folder).unwrap();
    let (kind, place) = (c("tmpfs"), c(&folder));
    let none = std::ptr::null();
    told("a mount", unsafe { calls::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, none) }.into());
    told("an unmount", unsafe { calls::umount2(place.as_ptr(), 2) }.into());
    std::fs::remove_dir(&folder).unwrap();
    told("fsopen", unsafe { calls::syscall(calls::fsopen, kind.as_ptr(), 0) });
    told("open_tree", unsafe { calls::syscall(calls::open_tree, -100, place.as_ptr(), 1) });
}

pub fn chroot() {
    told("another root", unsafe { calls::chroot(c("/tmp").as_ptr()) }.into());
}

pub fn keys() {
    told("the session's key ring", unsafe { calls::syscall(calls::keyctl, 0, -3i64, 0) });
    let (kind, name) = (c("user"), c("tiebreak"));
    let added = unsafe { calls::syscall(calls::add_key, kind.as_ptr(), name.as_ptr(), name.as_ptr(), 8usize, -1i64) };
    told("a key in the thread's key ring", added);
}

pub fn bpf() {
    let map = [2u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    told("a bpf map", unsafe { calls::syscall(calls::bpf, 0, map.as_ptr(), 64usize) });
}

pub fn perf() {
    let mut counter = [0u64; 14]; // the software clock of this process, without the kernel
    counter[0] = 1 | (112 << 32);
    counter[5] = 1 << 5 | 1 << 6;
    told("a performance counter", unsafe {
        calls::syscall(calls::perf_event_open, counter.as_ptr(), 0usize, -1i64, -1i64, 0usize)
    });
}

pub fn rings() {
    let mut parameters = [0u32; 30];
    told("io_uring", unsafe { calls::syscall(calls::io_uring_setup, 4, parameters.as_mut_ptr()) });
}

pub fn faults() {
    told("userfaultfd", unsafe { calls::syscall(calls::userfaultfd, 1) });
}

/// Memory that no limit of a process counts.
pub fn uncounted() {
    let name = c("tiebreak");
    told("a memory file", unsafe { calls::syscall(calls::memfd_create, name.as_ptr(), 1) });
    told("secret memory", unsafe { calls::syscall(calls::memfd_secret, 0) });
    told("a shared segment", unsafe { calls::syscall(calls::shmget, 0, 1usize << 20, 0o1600) });
    told("semaphores", unsafe { calls::syscall(calls::semget, 0, 1, 0o1600) });
    told("a message queue", unsafe { calls::syscall(calls::msgget, 0, 0o1600) });
}

fn name() -> String {
    let mut name = [0u8; 256];
    unsafe { calls::gethostname(name.as_mut_ptr().cast(), 255) };
    String::from_utf8_lossy(&name).trim_end_matches('\0').to_string()
}

pub fn hostname() {
    found(&format!("the host is called {}", name()), name() != "tiebreak");
}

/// To the name that it has.
pub fn set_hostname() {
    told("the name", unsafe { calls::sethostname(c(&name()).as_ptr(), name().len()) }.into());
}

/// To the time that it is.
pub fn set_clock() {
    let mut now = [0i64; 2];
    unsafe { calls::clock_gettime(0, &mut now) };
    told("the clock", unsafe { calls::clock_settime(0, &now) }.into());
}

pub fn priority() {
    told("a higher priority", unsafe { calls::setpriority(0, 0, -10) }.into());
    told("real-time scheduling", unsafe { calls::sched_setscheduler(0, 1, &1) }.into());
}

/// Take off one's own limits: CPU time, file size, core files, open files, address space.
pub fn limits() {
    for resource in [0, 1, 4, 7, 9] {
        let mut held = [0u64; 2];
        unsafe { calls::getrlimit(resource, &mut held) };
        let more = [held[1].saturating_add(1); 2];
        told(&format!("limit {resource} above {}", held[1]), unsafe { calls::setrlimit(resource, &more) }.into());
    }
}
