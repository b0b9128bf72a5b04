//! Finds out which program listens on a port, as far as the kernel tells this user.

use std::fs;

/// The state of a socket that listens, in the kernel's tables.
const LISTENS: &str = "0A";

/// Returns the program's name and process; `None` means that it cannot be told.
pub fn find(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).ok());
    let inodes: Vec<_> = tables.iter().flatten().flat_map(|table| listening(table, port)).collect();
    let wanted: Vec<_> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
        links.any(|link| wanted.iter().any(|socket| link.as_os_str() == socket.as_str()))
    })?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("{} (process {pid})", name.trim()))
}

/// Returns the inodes of sockets that listen on a port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let end = format!(":{port:04X}");
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[1].ends_with(&end) && row[3] == LISTENS)
        .map(|row| row[9].to_owned())
        .collect()
}
