//! The C library's calls, and the numbers of system calls that it has no function for.
#![allow(non_upper_case_globals)]

use std::ffi::{c_char, c_int, c_long, c_uint, c_void, CString};

extern "C" {
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn _exit(status: c_int) -> !;
    pub fn fork() -> c_int;
    pub fn setsid() -> c_int;
    pub fn getpid() -> c_int;
    pub fn kill(process: c_int, signal: c_int) -> c_int;
    pub fn raise(signal: c_int) -> c_int;
    pub fn signal(number: c_int, handler: usize) -> usize;
    pub fn unshare(flags: c_int) -> c_int;
    pub fn prctl(option: c_int, ...) -> c_int;
    pub fn ptrace(request: c_uint, ...) -> c_long;
    pub fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    pub fn ioctl(descriptor: c_int, request: u64, ...) -> c_int;
    pub fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    pub fn close(descriptor: c_int) -> c_int;
    pub fn write(descriptor: c_int, data: *const c_void, length: usize) -> isize;
    pub fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    pub fn mount(source: *const c_char, target: *const c_char, kind: *const c_char, flags: u64, data: *const c_void) -> c_int;
    pub fn umount2(target: *const c_char, flags: c_int) -> c_int;
    pub fn chroot(path: *const c_char) -> c_int;
    pub fn mknod(path: *const c_char, mode: c_uint, device: u64) -> c_int;
    pub fn posix_fallocate(descriptor: c_int, offset: i64, length: i64) -> c_int;
    pub fn setresuid(real: c_uint, effective: c_uint, saved: c_uint) -> c_int;
    pub fn setgroups(count: usize, list: *const c_uint) -> c_int;
    pub fn getrlimit(resource: c_int, limits: *mut [u64; 2]) -> c_int;
    pub fn setrlimit(resource: c_int, limits: *const [u64; 2]) -> c_int;
    pub fn setpriority(which: c_int, who: c_uint, priority: c_int) -> c_int;
    pub fn sched_setscheduler(process: c_int, policy: c_int, priority: *const c_int) -> c_int;
    pub fn gethostname(name: *mut c_char, length: usize) -> c_int;
    pub fn sethostname(name: *const c_char, length: usize) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
    pub fn clock_settime(clock: c_int, time: *const [i64; 2]) -> c_int;
    pub fn execv(path: *const c_char, arguments: *const *const c_char) -> c_int;
}

macro_rules! numbers {
    ($($name:ident $x86:literal $arm:literal)*) => {
        $(#[cfg(target_arch = "x86_64")] pub const $name: c_long = $x86;
          #[cfg(target_arch = "aarch64")] pub const $name: c_long = $arm;)*
    };
}

numbers! {
    add_key 248 217
    bpf 321 280
    capget 125 90
    clone 56 220
    clone3 435 435
    fsopen 430 430
    io_uring_setup 425 425
    keyctl 250 219
    memfd_create 319 279
    memfd_secret 447 447
    mq_open 240 180
    msgget 68 186
    open_tree 428 428
    perf_event_open 298 241
    process_vm_readv 310 270
    semget 64 190
    setns 308 268
    shmat 30 196
    shmget 29 194
    userfaultfd 323 282
}

pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// A C string.
pub fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}
