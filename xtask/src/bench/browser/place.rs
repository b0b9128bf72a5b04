//! A folder in which a server keeps everything, and which knows what was started in it.
//!
//! Servers start browsers and daemons that outlive them when they are killed. All of them have the
//! folder in their environment or on their command line, so nothing else is ever ended.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;

/// How long killed processes may take to be gone.
const DYING: Duration = Duration::from_secs(5);

/// A folder; it goes with all that was started in it when this is dropped.
pub struct Place(PathBuf);

impl Place {
    /// Makes an empty folder. Its name is short, because sockets are made in it.
    pub fn create(name: &str) -> Result<Self> {
        let path = env::temp_dir().join(format!("tabwire-bench-{}-{name}", process::id()));
        let place = Self(path);
        fs::create_dir_all(place.work())?;
        Ok(place)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the folder in it that servers are started in. It is not the home: some servers
    /// read no files for a client that was started there.
    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Makes a command whose world is this folder; what it complains about goes into a file.
    pub fn command(&self, program: &Path) -> Result<Command> {
        let complaints = fs::File::options().create(true).append(true).open(self.log())?;
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.work()).stderr(complaints).stdin(Stdio::null());
        if let Some(path) = env::var_os("PATH") {
            command.env("PATH", path);
        }
        for variable in ["HOME", "TMPDIR"] {
            command.env(variable, &self.0);
        }
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            let folder = self.0.join(folder);
            fs::create_dir_all(&folder)?;
            command.env(variable, folder);
        }
        Ok(command)
    }

    /// Returns the last lines of what was complained about.
    pub fn complaints(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(5)..].join(" / ")
    }

    fn log(&self) -> PathBuf {
        self.0.join("stderr.log")
    }

    /// Returns the processes that belong here.
    fn processes(&self) -> Vec<String> {
        let mark = self.0.to_string_lossy().into_owned().into_bytes();
        let marked = |file: String| {
            let bytes = fs::read(file).unwrap_or_default();
            bytes.windows(mark.len()).any(|part| part == mark)
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let pids = names.filter(|name| name.parse::<u32>().is_ok());
        pids.filter(|pid| *pid != process::id().to_string())
            .filter(|pid| {
                marked(format!("/proc/{pid}/environ")) || marked(format!("/proc/{pid}/cmdline"))
            })
            .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let deadline = Instant::now() + DYING;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > deadline {
                break;
            }
            let _ = Command::new("kill").arg("-KILL").args(left).stderr(Stdio::null()).status();
            thread::sleep(Duration::from_millis(20));
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}
