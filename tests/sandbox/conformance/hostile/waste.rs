//! Use too much of everything, and do not end.

use crate::calls::{self, c};
use crate::files::report_descriptor;
use crate::{found, told};
use std::fs;
use std::hint::black_box;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const BLOCK: usize = 1 << 20;
const MOST_BLOCKS: usize = 2048;
const MOST_THREADS: usize = 600; // few enough for the limits on memory
const SIGXCPU: i32 = 24;
const SIGSTOP: i32 = 19;

static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Take memory, a mebibyte at a time, until there is no more.
pub fn memory(threads: usize) {
    let others: Vec<_> = (1..threads).map(|_| thread::Builder::new().stack_size(65536).spawn(take)).collect();
    take();
    for other in others.into_iter().flatten() {
        other.join().unwrap();
    }
    println!("used {}", BLOCKS.load(Ordering::Relaxed) * BLOCK);
}

fn take() {
    while BLOCKS.load(Ordering::Relaxed) < MOST_BLOCKS {
        let block = unsafe { calls::mmap(std::ptr::null_mut(), BLOCK, 3, 0x22, -1, 0) };
        if block as isize == -1 {
            return;
        }
        for page in (0..BLOCK).step_by(4096) {
            unsafe { block.cast::<u8>().add(page).write_volatile(1) };
        }
        BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
}

pub fn recursion(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    1 + recursion(depth + 1) + frame[0]
}

pub fn spin() {
    loop {
        black_box(1);
    }
}

pub fn spin_threads() {
    for _ in 0..4 {
        thread::spawn(spin);
    }
    spin();
}

pub fn sleep() {
    println!("begun");
    thread::sleep(Duration::from_secs(60));
}

/// The signal at the soft limit of CPU time can be ignored.
pub fn stubborn() {
    unsafe { calls::signal(SIGXCPU, 1) };
    spin();
}

pub fn stop() {
    println!("begun");
    unsafe { calls::raise(SIGSTOP) };
}

pub fn flood(descriptor: i32) {
    let line = [b'x'; 1000];
    while unsafe { calls::write(descriptor, line.as_ptr().cast(), line.len()) } > 0 {}
}

/// Close what is watched, and go on.
pub fn silent() {
    for descriptor in 0..3 {
        unsafe { calls::close(descriptor) };
    }
    thread::sleep(Duration::from_millis(300));
    unsafe { calls::_exit(5) }
}

pub fn fork_bomb() {
    for _ in 0..10_000 {
        let process = unsafe { calls::fork() };
        if process >= 0 {
            return told("fork", process.into());
        }
    }
    told("fork", -1);
}

pub fn thread_bomb() {
    let nap = || thread::sleep(Duration::from_secs(30));
    let mut started = 0;
    while started < MOST_THREADS && thread::Builder::new().stack_size(16384).spawn(nap).is_ok() {
        started += 1;
    }
    thread::sleep(Duration::from_secs(10));
    println!("used {started}");
}

/// Leave the session and the family, and stay. The mark in the arguments tells it from others.
pub fn daemon() {
    println!("started");
    unsafe {
        if calls::fork() == 0 {
            calls::setsid();
            if calls::fork() == 0 {
                thread::sleep(Duration::from_secs(30));
            }
            calls::_exit(0);
        }
    }
    thread::sleep(Duration::from_millis(200));
}

fn limits() -> String {
    let read = |resource| {
        let mut held = [0u64; 2];
        unsafe { calls::getrlimit(resource, &mut held) };
        format!("{}-{}", held[0], held[1])
    };
    [0, 1, 4, 7, 9].map(read).join(",")
}

/// Become another program, written to /tmp; the report's descriptor closes on the way, as the harness has it.
pub fn replace(own: &str) {
    let path = format!("/tmp/tiebreak-escape-{}", unsafe { calls::getpid() });
    fs::write(&path, fs::read(own).unwrap()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let report = report_descriptor();
    unsafe { calls::fcntl(report, 2, 1) };
    let (program, argument) = (c(&path), c(&format!("replaced {report} {}", limits())));
    let arguments = [program.as_ptr(), argument.as_ptr(), std::ptr::null()];
    unsafe { calls::execv(program.as_ptr(), arguments.as_ptr()) };
    println!("not started: errno {}", calls::errno());
}

pub fn replaced(words: &[&str], own: &str) {
    let _ = fs::remove_file(own);
    let report = words[0].parse().unwrap();
    told("the report", unsafe { calls::fcntl(report, 1) }.into());
    found(&format!("limits were {}, are {}", words[1], limits()), words[1] != limits());
    crate::kernel::fork_attempts();
}
