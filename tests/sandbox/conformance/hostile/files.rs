//! What there is to read and to write.

use crate::calls::{self, c};
use crate::{found, told, told_any};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const MOST: usize = 64 << 20;
const SIGXFSZ: i32 = 25;

pub fn read(path: &str) {
    let listed = fs::read_dir(path).map(|entries| entries.count());
    let mut text = [0; 8];
    let file = File::open(path).and_then(|mut file| file.read(&mut text));
    found(&format!("{path}: as a folder {listed:?}, as a file {file:?}"), listed.is_ok() || file.is_ok());
}

pub fn environment(token: &str) {
    let leaks: Vec<String> = std::env::vars().filter(|(_, value)| value.contains(token)).map(|(name, _)| name).collect();
    found(&format!("the token is in {leaks:?}"), !leaks.is_empty());
}

pub fn report_descriptor() -> i32 {
    std::env::var("TIEBREAK_REPORT").ok().and_then(|text| text.parse().ok()).unwrap_or(-1)
}

pub fn descriptors() {
    let own = report_descriptor();
    let others: Vec<i32> =
        (3..4096).filter(|&number| number != own && unsafe { calls::fcntl(number, 1) } >= 0).collect();
    found(&format!("descriptors besides 0, 1, 2 and {own}: {others:?}"), !others.is_empty());
}

/// A name that nobody else uses, in a folder.
fn name(folder: &str) -> String {
    format!("{}/tiebreak-escape-{}", folder.trim_end_matches('/'), std::process::id())
}

pub fn create(folders: &[&str]) {
    for folder in folders.iter().filter(|folder| Path::new(folder).is_dir()) {
        let made = File::create(name(folder));
        found(&format!("a file in {folder}: {made:?}"), made.is_ok());
        let _ = fs::remove_file(name(folder));
    }
}

pub fn overwrite(own: &str) {
    let opened = OpenOptions::new().write(true).open(own);
    found(&format!("the program to write: {opened:?}"), opened.is_ok());
    let changed = fs::set_permissions(own, fs::Permissions::from_mode(0o755));
    found(&format!("the program's mode: {changed:?}"), changed.is_ok());
}

pub fn symlink(target: &str) {
    let link = name("/tmp");
    std::os::unix::fs::symlink(target, &link).unwrap();
    let text = fs::read(&link);
    found(&format!("{target} by a link: {:?}", text.as_ref().map(Vec::len)), text.is_ok());
    fs::remove_file(&link).unwrap();
}

pub fn hardlink(own: &str) {
    let beside = Path::new(own).parent().unwrap().to_str().unwrap();
    for folder in [beside, "/tmp"] {
        let linked = fs::hard_link(own, name(folder));
        found(&format!("a link to the program in {folder}: {linked:?}"), linked.is_ok());
        let _ = fs::remove_file(name(folder));
    }
}

pub fn node() {
    let path = name("/tmp");
    for (kind, mode, device) in [("memory", 0o020666, 0x101), ("disk", 0o060666, 0x800)] {
        told(&format!("a device node for {kind}"), unsafe { calls::mknod(c(&path).as_ptr(), mode, device) }.into());
        let _ = fs::remove_file(&path);
    }
}

/// Many files, each below the largest size.
pub fn fill() {
    let block = vec![1u8; 256 << 10];
    let mut written = 0;
    for number in 0.. {
        let full = match File::create(format!("{}-{number}", name("/tmp"))) {
            Ok(mut file) => file.write_all(&block).is_err(),
            Err(_) => true,
        };
        if full || written >= MOST {
            break;
        }
        written += block.len();
    }
    println!("used {written}");
}

/// One file, by a program that ignores the signal.
pub fn big() {
    unsafe { calls::signal(SIGXFSZ, 1) };
    let path = name("/tmp");
    let mut file = File::create(&path).unwrap();
    let mut written = 0;
    while written < MOST {
        match file.write(&[1u8; 4096]) {
            Ok(length) if length > 0 => written += length,
            Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    println!("used {written}");
    fs::remove_file(&path).unwrap();
}

pub fn sparse() {
    unsafe { calls::signal(SIGXFSZ, 1) };
    let path = name("/tmp");
    let file = File::create(&path).unwrap();
    let grown = file.set_len(1 << 40);
    found(&format!("a hole of a tebibyte: {grown:?}"), grown.is_ok());
    let reserved = unsafe { calls::posix_fallocate(file.as_raw_fd(), 0, 1 << 30) };
    told_any(&format!("a gibibyte reserved ({reserved})"), if reserved == 0 { 0 } else { -1 });
    fs::remove_file(&path).unwrap();
}
