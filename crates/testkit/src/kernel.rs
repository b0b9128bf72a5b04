//! What the kernel does with bytes that nobody reads, measured on the machine at hand.

use std::{
    io::{ErrorKind, Write},
    net::{TcpListener, TcpStream},
};

/// Bytes of one write.
const PIECE: usize = 64 << 10;

/// Returns how many bytes fit between two ends of a local connection when one never reads.
pub fn unread_bytes() -> usize {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let mut writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (_reader, _) = listener.accept().unwrap();
    writer.set_nonblocking(true).unwrap();
    let (piece, mut written, mut refusals) = (vec![0; PIECE], 0, 0);
    // A full buffer may have room again in a moment: what was sent moves to the other end.
    while refusals < 100 {
        match writer.write(&piece) {
            Ok(count) => (written, refusals) = (written + count, 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                refusals += 1;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    }
    written
}

/// Returns a line of a process's memory, such as `VmRSS:` or `VmHWM:`, in KiB.
pub fn memory_kib(pid: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let held = status.lines().find_map(|found| found.strip_prefix(line)).unwrap();
    held.trim().trim_end_matches(" kB").parse().unwrap()
}
