//! The demo's own hub, with everything that it keeps in one folder; both are gone at the end.
//!
//! The hub is a child in a process group of its own, so that Ctrl-C reaches the demo alone, which
//! then ends the hub and, through it, the browser. The user's settings do not count here, but for
//! those that say which browser is started.

use std::{
    env, fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use super::super::stdio::own_program;
use crate::{failure::Failure, launcher::end_leftovers};

/// How long the hub may take to end its browser and itself.
const PATIENCE: Duration = Duration::from_secs(15);
/// The settings that count all the same.
const KEPT: &str = "TABWIRE_BROWSER";

/// A hub of our own.
pub struct Stage {
    folder: Folder,
    hub: Child,
}

impl Stage {
    /// Starts the hub, in a place where this browser can read.
    pub fn open(browser: &Path) -> Result<Self, Failure> {
        let folder = Folder::create(&place_for(browser))?;
        let log = fs::File::create(folder.log()).map_err(Failure::failed)?;
        let settings = folder.0.join("config.toml");
        fs::write(&settings, "").map_err(Failure::failed)?;
        let mut command = Command::new(own_program()?);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("TABWIRE_") && !name.starts_with(KEPT) {
                command.env_remove(&*name);
            }
        }
        command.arg("serve").arg("--config").arg(settings).arg("--data").arg(folder.data());
        // Nobody else is to find it: no file for other tools, no port that is known.
        command.args(["--port", "0", "--discovery=", "--log-level", "warn"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let hub = command.process_group(0).kill_on_drop(true).spawn();
        let hub = hub.map_err(|error| Failure::failed(format!("no hub: {error}")))?;
        Ok(Self { folder, hub })
    }

    /// Returns the folder of the hub's data.
    pub fn data(&self) -> PathBuf {
        self.folder.data()
    }

    /// Waits until the hub listens; returns its address.
    pub async fn until_listening(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if let Some(output) = self.hub.stdout.as_mut() {
            BufReader::new(output).read_line(&mut line).await.map_err(Failure::failed)?;
        }
        let told: Value = serde_json::from_str(&line).unwrap_or_default();
        match told["port"].as_u64() {
            Some(port) => Ok(format!("http://127.0.0.1:{port}")),
            None => Err(self.hub_failed("the hub did not start")),
        }
    }

    /// Waits for an end of the hub that nobody wanted.
    pub async fn until_ended(&mut self) -> Failure {
        let _ = self.hub.wait().await;
        self.hub_failed("the hub has ended")
    }

    /// Ends the browser, the hub and the folder, in good order.
    pub async fn close(&mut self) -> Result<(), Failure> {
        // Whatever went wrong here is put right by what follows.
        let _ = machine::stop(&self.data(), false, PATIENCE).await;
        self.close_at_once().await
    }

    /// Ends everything without waiting for anybody.
    pub async fn close_at_once(&mut self) -> Result<(), Failure> {
        // An error means that it has ended.
        let _ = self.hub.kill().await;
        end_leftovers(&self.data())?;
        self.folder.remove()
    }

    fn hub_failed(&self, what: &str) -> Failure {
        let log = fs::read_to_string(self.folder.log()).unwrap_or_default();
        let last = log.lines().rev().take(5).collect::<Vec<_>>();
        let last = last.into_iter().rev().collect::<Vec<_>>().join("\n  ");
        Failure::failed(format!("{what}; it said:\n  {last}"))
    }
}

/// A browser in a snap has a temporary folder of its own, and sees no hidden ones.
fn place_for(browser: &Path) -> PathBuf {
    let program = browser.canonicalize().unwrap_or_else(|_| browser.to_owned());
    let is_snap = [browser, &program].iter().any(|path| path.starts_with("/snap"));
    match env::var_os("HOME").filter(|_| is_snap) {
        Some(home) => home.into(),
        None => env::temp_dir(),
    }
}

/// A private folder that is removed at the latest when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn create(place: &Path) -> Result<Self, Failure> {
        let path = place.join(format!("tabwire-demo-{}", model::id::random_text(12)));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            Failure::failed(format!("the folder {} cannot be made: {error}", path.display()))
        })?;
        let folder = Self(path);
        let data = fs::DirBuilder::new().mode(0o700).create(folder.data());
        data.map(|()| folder).map_err(Failure::failed)
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    fn log(&self) -> PathBuf {
        self.0.join("hub.log")
    }

    fn remove(&self) -> Result<(), Failure> {
        launch::remove_folder(&self.0).map_err(|error| {
            Failure::failed(format!("the folder {} is left behind: {error}", self.0.display()))
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}
