//! A hostile program for the conformance suite: its one argument says which escape to try, and with what.
//!
//! Each attempt prints a line: `open …` where it got through, `held …` where it was refused. Attempts to use too much
//! print how far they came, or are ended from outside. None does harm where it gets through: a sandbox may be broken.

mod calls;
mod files;
mod kernel;
mod reach;
mod waste;

use calls::errno;

const EINVAL: i32 = 22;
const EFAULT: i32 = 14;

/// Say how a system call went. One that complains about its arguments was let through to the kernel's own code.
fn told(what: &str, result: i64) {
    match errno() {
        _ if result >= 0 => println!("open {what}: {result}"),
        number @ (EINVAL | EFAULT) => println!("open {what}: it reached the kernel (errno {number})"),
        number => println!("held {what}: errno {number}"),
    }
}

/// The same where the kernel's complaint is the refusal.
fn told_any(what: &str, result: i64) {
    if result >= 0 {
        println!("open {what}: {result}");
    } else {
        println!("held {what}: errno {}", errno());
    }
}

/// Say whether something bad is so.
fn found(what: &str, bad: bool) {
    println!("{} {what}", if bad { "open" } else { "held" });
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments[1].split_whitespace().collect();
    let first = words.get(1).copied().unwrap_or("");
    let own = arguments[0].as_str();
    match words[0] {
        "read" => files::read(first),
        "environment" => files::environment(first),
        "descriptors" => files::descriptors(),
        "create" => files::create(&words[1..]),
        "overwrite" => files::overwrite(own),
        "symlink" => files::symlink(first),
        "hardlink" => files::hardlink(own),
        "node" => files::node(),
        "fill" => files::fill(),
        "big" => files::big(),
        "sparse" => files::sparse(),
        "tcp" => reach::tcp(first),
        "udp" => reach::udp(first),
        "abstract" => reach::abstract_socket(first),
        "families" => reach::families(&words[1..]),
        "raw" => reach::raw(),
        "route" => reach::route(),
        "dns" => reach::dns(),
        "shared-memory" => reach::shared_memory(first),
        "semaphores" => reach::semaphores(first),
        "queue" => reach::queue(first),
        "trace" => reach::trace(first),
        "peek" => reach::peek(first),
        "signal" => reach::signal(first),
        "signal-all" => reach::signal_all(),
        "terminal" => reach::terminal(),
        "user-namespace" => kernel::user_namespace(),
        "namespaces" => kernel::namespaces(),
        "capabilities" => kernel::capabilities(),
        "privileges" => kernel::privileges(),
        "identity" => kernel::identity(),
        "mounts" => kernel::mounts(),
        "chroot" => kernel::chroot(),
        "keys" => kernel::keys(),
        "bpf" => kernel::bpf(),
        "perf" => kernel::perf(),
        "rings" => kernel::rings(),
        "faults" => kernel::faults(),
        "uncounted" => kernel::uncounted(),
        "hostname" => kernel::hostname(),
        "set-hostname" => kernel::set_hostname(),
        "set-clock" => kernel::set_clock(),
        "priority" => kernel::priority(),
        "limits" => kernel::limits(),
        "fork" => kernel::fork_attempts(),
        "memory" => waste::memory(1),
        "memory-threads" => waste::memory(8),
        "recursion" => println!("{}", waste::recursion(std::hint::black_box(1))),
        "spin" => waste::spin(),
        "spin-threads" => waste::spin_threads(),
        "sleep" => waste::sleep(),
        "stubborn" => waste::stubborn(),
        "stop" => waste::stop(),
        "flood" => waste::flood(first.parse().unwrap()),
        "flood-report" => waste::flood(files::report_descriptor()),
        "silent" => waste::silent(),
        "abort" => std::process::abort(),
        "fork-bomb" => waste::fork_bomb(),
        "thread-bomb" => waste::thread_bomb(),
        "daemon" => waste::daemon(),
        "replace" => waste::replace(own),
        "replaced" => waste::replaced(&words[1..], own),
        other => {
            println!("no such escape: {other}");
            std::process::exit(2);
        }
    }
}
