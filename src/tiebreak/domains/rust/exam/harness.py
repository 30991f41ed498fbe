"""The Rust crate that an examined crate is linked with; its report goes to a descriptor that safe code cannot reach.

Assertions tell what they compared before they compare it, so that a lying `==` is seen and a swallowed panic too.
Nothing here knows an expected value. Macros name everything from the root: what the examined crate calls `Option` or
`format!` is not meant.
"""

CRATE = "tiebreak_exam"
ENTRY = f"{CRATE}_entry"
MARK = CRATE
"""No identifier of an examined crate may hold this: it could then speak to the harness, or in its name."""

MAIN = f"""fn main() {{{{
    ::{CRATE}::open();
    match ::std::env::args().nth(1).as_deref() {{{{
{{arms}}
        _ => ::std::process::exit(99),
    }}}}
    ::{CRATE}::end()
}}}}
"""


def exam_main(arms: str) -> str:
    """The main function of a program that examines the crate which its first argument picks among `arms`."""
    return MAIN.format(arms=arms)


HARNESS = r"""
use std::any::Any;
use std::fmt::Debug;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

extern "C" {
    fn fcntl(descriptor: i32, command: i32, flags: i32) -> i32;
    fn _exit(status: i32) -> !;
}
const F_SETFD: i32 = 2;
const FD_CLOEXEC: i32 = 1;

static CHANNEL: Mutex<Option<File>> = Mutex::new(None);

/// Before anything of the examined crate runs. A program that it executes in its place finds the channel closed.
pub fn open() {
    let Some(descriptor) = std::env::var("TIEBREAK_REPORT").ok().and_then(|text| text.parse::<i32>().ok()) else {
        unsafe { _exit(98) }
    };
    std::env::remove_var("TIEBREAK_REPORT");
    unsafe { fcntl(descriptor, F_SETFD, FD_CLOEXEC) };
    *CHANNEL.lock().unwrap() = Some(unsafe { File::from_raw_fd(descriptor) });
}

/// Everything was run; destructors and exit handlers get no turn.
pub fn end() -> ! {
    say("end", &[]);
    unsafe { _exit(0) }
}

fn say(kind: &str, parts: &[&str]) {
    let mut message = kind.to_string();
    for part in parts {
        message += &format!(" {}", part.len());
    }
    message.push('\n');
    for part in parts {
        message += part;
    }
    let mut channel = CHANNEL.lock().unwrap_or_else(PoisonError::into_inner);
    if channel.as_mut().map_or(true, |file| file.write_all(message.as_bytes()).is_err()) {
        unsafe { _exit(97) }
    }
}

pub trait Outcome {
    fn good(&self) -> bool;
}
impl Outcome for () {
    fn good(&self) -> bool {
        true
    }
}
impl<E> Outcome for Result<(), E> {
    fn good(&self) -> bool {
        self.is_ok()
    }
}

/// Run one test. `panics`: whether it has to panic, and with which part of a message.
pub fn test<R: Outcome>(name: &str, panics: Option<Option<&str>>, body: fn() -> R) {
    say("test", &[name]);
    let good = match (catch_unwind(body), panics) {
        (Ok(outcome), None) => outcome.good(),
        (Err(cause), Some(part)) => {
            let good = part.map_or(true, |part| message(&*cause).contains(part));
            std::mem::forget(cause);
            good
        }
        (Err(cause), None) => {
            std::mem::forget(cause);
            false
        }
        (Ok(_), Some(_)) => false,
    };
    say(if good { "passed" } else { "failed" }, &[name]);
}

/// Tell the value of one hidden check.
pub fn value(number: &str, compute: impl FnOnce() -> String) {
    match catch_unwind(AssertUnwindSafe(compute)) {
        Ok(text) => say("value", &[number, &text]),
        Err(cause) => {
            std::mem::forget(cause);
            say("panicked", &[number])
        }
    }
}

fn message(cause: &(dyn Any + Send)) -> &str {
    match (cause.downcast_ref::<&str>(), cause.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "",
    }
}

/// What an assertion compares, as text that was made before the comparison.
pub struct Seen(String, String);

pub fn seen<L: Debug + ?Sized, R: Debug + ?Sized>(left: &L, right: &R) -> Seen {
    Seen(format!("{left:?}"), format!("{right:?}"))
}

impl Seen {
    #[track_caller]
    pub fn equal(self, holds: bool, note: impl FnOnce() -> String) {
        say(if holds { "equal" } else { "unequal" }, &[&self.0, &self.1]);
        self.ensure(holds, "==", note)
    }

    /// Which two values differ is the crate's own affair.
    #[track_caller]
    pub fn unlike(self, holds: bool, note: impl FnOnce() -> String) {
        say(if holds { "true" } else { "false" }, &[]);
        self.ensure(holds, "!=", note)
    }

    #[track_caller]
    fn ensure(self, holds: bool, sign: &str, note: impl FnOnce() -> String) {
        if !holds {
            let note = note();
            let note = if note.is_empty() { note } else { format!(": {note}") };
            panic!("assertion `left {sign} right` failed{note}\n  left: {}\n right: {}", self.0, self.1)
        }
    }
}

#[track_caller]
pub fn claim(holds: bool, note: impl FnOnce() -> String) {
    say(if holds { "true" } else { "false" }, &[]);
    if !holds {
        panic!("{}", note())
    }
}

#[macro_export]
macro_rules! assert {
    ($claim:expr $(,)?) => {
        $crate::claim($claim, || {
            ::std::string::String::from(::std::concat!("assertion failed: ", ::std::stringify!($claim)))
        })
    };
    ($claim:expr, $($note:tt)+) => { $crate::claim($claim, || ::std::format!($($note)+)) };
}

#[macro_export]
macro_rules! assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => $crate::seen(left, right).equal(*left == *right, ::std::string::String::new),
        }
    };
    ($left:expr, $right:expr, $($note:tt)+) => {
        match (&$left, &$right) {
            (left, right) => $crate::seen(left, right).equal(*left == *right, || ::std::format!($($note)+)),
        }
    };
}

#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => $crate::seen(left, right).unlike(*left != *right, ::std::string::String::new),
        }
    };
    ($left:expr, $right:expr, $($note:tt)+) => {
        match (&$left, &$right) {
            (left, right) => $crate::seen(left, right).unlike(*left != *right, || ::std::format!($($note)+)),
        }
    };
}
"""
