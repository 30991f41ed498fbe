//! What of the host can be reached: networks, shared objects, other processes.

use crate::calls;
use crate::{found, told, told_any};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

const SEIZE: u32 = 0x4206;
const TIOCSTI: u64 = 0x5412;

pub fn tcp(port: &str) {
    let reached = TcpStream::connect(format!("127.0.0.1:{port}"));
    found(&format!("the host's port: {reached:?}"), reached.is_ok());
}

/// Whether it arrived is seen outside.
pub fn udp(port: &str) {
    let sent = UdpSocket::bind("127.0.0.1:0").and_then(|own| own.send_to(b"out", format!("127.0.0.1:{port}")));
    println!("held unless it arrives: {sent:?}");
}

pub fn abstract_socket(name: &str) {
    let reached = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name).unwrap());
    found(&format!("the host's abstract socket: {reached:?}"), reached.is_ok());
}

pub fn families(numbers: &[&str]) {
    for number in numbers {
        let family = number.parse().unwrap();
        for kind in [1, 2, 3, 5] {
            told_any(&format!("a socket of family {family}, type {kind}"), unsafe { calls::socket(family, kind, 0) }.into());
        }
    }
}

pub fn raw() {
    told("a raw socket", unsafe { calls::socket(2, 3, 1) }.into());
}

/// Connecting a datagram socket sends nothing; it only asks for a way.
pub fn route() {
    let way = UdpSocket::bind("0.0.0.0:0").and_then(|own| own.connect("192.0.2.1:9"));
    found(&format!("a way out: {way:?}"), way.is_ok());
}

pub fn dns() {
    let found_addresses = ("example.com", 80).to_socket_addrs().map(|all| all.count());
    found(&format!("a name: {found_addresses:?}"), found_addresses.is_ok());
}

pub fn shared_memory(id: &str) {
    let id: i64 = id.parse().unwrap();
    told_any("the host's shared memory", unsafe { calls::syscall(calls::shmat, id, 0usize, 0) });
}

pub fn semaphores(key: &str) {
    let key: i64 = key.parse().unwrap();
    told_any("the host's semaphores", unsafe { calls::syscall(calls::semget, key, 0, 0) });
}

pub fn queue(name: &str) {
    told_any("the host's message queue", unsafe { calls::syscall(calls::mq_open, calls::c(name).as_ptr(), 0, 0, 0usize) });
}

pub fn trace(process: &str) {
    let process: i32 = process.parse().unwrap();
    told("tracing the host's process", unsafe { calls::ptrace(SEIZE, process, 0usize, 0usize) });
}

/// A complaint about the address means that the process would have been read.
pub fn peek(process: &str) {
    let process: i64 = process.parse().unwrap();
    let mut byte = 0u8;
    let own = [&mut byte as *mut u8 as usize, 1];
    let other = [4096usize, 1];
    let read = unsafe { calls::syscall(calls::process_vm_readv, process, own.as_ptr(), 1usize, other.as_ptr(), 1usize, 0usize) };
    told("the memory of the host's process", read);
}

pub fn signal(process: &str) {
    told(&format!("a signal to {process}"), unsafe { calls::kill(process.parse().unwrap(), 9) }.into());
}

/// Whether a signal to all would reach anybody; none is sent.
pub fn signal_all() {
    told("a signal to all", unsafe { calls::kill(-1, 0) }.into());
}

/// Put words into a terminal's mouth.
pub fn terminal() {
    let terminal = std::fs::File::open("/dev/tty");
    found(&format!("a terminal: {terminal:?}"), terminal.is_ok());
    for descriptor in 0..3 {
        told_any(&format!("input into {descriptor}"), unsafe { calls::ioctl(descriptor, TIOCSTI, b"x".as_ptr()) }.into());
    }
}
