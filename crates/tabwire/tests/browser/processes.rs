//! The browsers of a hub as processes: known by their profile, which lies in the hub's folder.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use testkit::{HubProcess, eventually, machine::is_alive};

/// How long killed processes may take to be gone.
const DYING: Duration = Duration::from_secs(5);

/// Returns the main process of the only browser of a hub. One that it is just starting looks the
/// same for a moment.
pub async fn browser(hub: &HubProcess) -> u32 {
    eventually("one browser runs", async || {
        let mut all = processes(hub);
        all.retain(|(_, line)| !line.contains("--type="));
        match all[..] {
            [(pid, _)] => Some(pid),
            _ => None,
        }
    })
    .await
}

/// Kills the extension's worker: its process, of which there is one per browser.
pub async fn kill_worker(hub: &HubProcess) {
    let all = processes(hub);
    let found: Vec<_> = all
        .iter()
        .filter(|(_, line)| {
            line.contains("--type=renderer") && line.contains("--extension-process")
        })
        .map(|(pid, _)| *pid)
        .collect();
    assert!(!found.is_empty(), "no process of an extension: {all:?}");
    for pid in found {
        kill_and_wait(pid).await;
    }
}

/// Kills a process and waits for its end.
pub async fn kill_and_wait(pid: u32) {
    kill(pid);
    eventually("the process ends", async || (!is_alive(pid)).then_some(())).await;
}

/// Ends all browsers of a hub, with everything that they have started.
pub fn end_browsers(hub: &HubProcess) {
    let deadline = Instant::now() + DYING;
    loop {
        let left = processes(hub);
        left.iter().for_each(|(pid, _)| kill(*pid));
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the processes whose profile is in the hub's folder, with their command lines.
fn processes(hub: &HubProcess) -> Vec<(u32, String)> {
    mentioning(&format!("--user-data-dir={}/", hub.place().path().display()))
}

/// Returns the processes whose command lines have these words, with them.
pub fn mentioning(mark: &str) -> Vec<(u32, String)> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then_some((pid, line))
    })
    .collect()
}

fn kill(pid: u32) {
    let script = format!("kill -KILL {pid}");
    // It may have ended by itself meanwhile.
    let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
}
