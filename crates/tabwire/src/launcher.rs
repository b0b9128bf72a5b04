//! How starting browsers is put on top of the hub: what is known of the machine, whose extension is
//! whose, and who looks after browsers while the hub runs and when it ends.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use edge::Edge;
use guard::{
    Pairings,
    pairing::{Paired, Which},
};
use launch::{Browsers, Config, LaunchId, Surroundings};
use machine::Lease;
use model::InstanceId;
use tools::launching::{self, Launcher};

use crate::{extension, failure::Failure};

/// Starts browsers for the tools.
pub struct OwnLauncher {
    browsers: Browsers,
    /// In which the native messaging host enrolls the extension of a start.
    pairings: Pairings,
    data: PathBuf,
}

impl OwnLauncher {
    /// Adopts what a hub before this one has left, and cleans up. For the holder of the lock only.
    /// It may block: nobody is served yet, and a thread for it would cost memory ever after.
    pub fn open(config: Config, data: &Path) -> Result<Arc<Self>, Failure> {
        let surroundings = surroundings(data)?;
        let data = surroundings.data.clone();
        let browsers = Browsers::open(config, surroundings);
        Ok(Arc::new(Self { browsers, pairings: Pairings::of(&data), data }))
    }

    /// Ends all browsers; with patience zero without asking them first.
    pub async fn end_all(&self, patience: Duration) {
        let browsers = self.browsers.clone();
        let _ = tokio::task::spawn_blocking(move || browsers.end_all(patience)).await;
    }
}

impl Launcher for OwnLauncher {
    fn browsers(&self) -> &Browsers {
        &self.browsers
    }

    fn extension(&self) -> Result<PathBuf, String> {
        match self.browsers.config().browser_extension {
            Some(folder) => extension::check(&folder),
            None => extension::unpack(&self.data),
        }
    }

    fn instance_of(&self, launch: &LaunchId) -> Option<InstanceId> {
        let paired = self.pairings.list().ok()?;
        let its = |one: &Paired| one.launch.as_deref() == Some(launch.as_str());
        paired.into_iter().find(its).map(|one| one.instance)
    }

    fn unpair(&self, launch: &LaunchId) {
        if let Err(error) = self.pairings.forget(&Which::Launch(launch.as_str().to_owned())) {
            tracing::warn!(%error, launch = launch.as_str(), "the key of a browser is not forgotten");
        }
    }
}

/// Looks after the browsers until the hub stops.
pub async fn look_after(edge: Arc<Edge>, launcher: Arc<OwnLauncher>) {
    loop {
        // Cancel-safe: both arms only wait.
        tokio::select! {
            () = edge.stop.cancelled() => return,
            () = launcher.browsers.due() => {}
        }
        let browsers = launcher.browsers.clone();
        let _ = tokio::task::spawn_blocking(move || browsers.tidy()).await;
        forget_ended(&edge, &launcher).await;
    }
}

/// Forgets sessions and keys of those whose profile is gone: else the pairings fill up.
pub async fn forget_ended(edge: &Edge, launcher: &Arc<OwnLauncher>) {
    let as_launcher: Arc<dyn Launcher> = launcher.clone();
    for ended in &launcher.browsers.take_ended() {
        launching::forget(&edge.toolbox, &as_launcher, ended).await;
    }
}

/// Ends browsers that a hub has left behind, while no hub runs; returns how many there were.
pub fn end_leftovers(data: &Path) -> Result<usize, Failure> {
    if !data.join("browsers").exists() {
        return Ok(0);
    }
    // Whoever has the lock looks after them: a hub that has started meanwhile, or we.
    let Ok(_lease) = Lease::take(data, || 0) else { return Ok(0) };
    let browsers = Browsers::open(Config::default(), surroundings(data)?);
    let before = browsers.launches().len();
    browsers.end_all(launch::running::PATIENCE);
    let pairings = Pairings::of(data);
    for ended in browsers.take_ended().iter().filter(|ended| ended.0.throw_away) {
        let which = Which::Launch(ended.0.launch.as_str().to_owned());
        pairings.forget(&which).map_err(Failure::failed)?;
    }
    Ok(before - browsers.launches().len())
}

/// Finds the program of the browser that would be started; an error says how to get one.
pub fn usual_browser() -> Result<PathBuf, Failure> {
    let setting = env::var("TABWIRE_BROWSER").ok();
    let found = launch::find::find(setting.as_deref(), &surroundings(Path::new("."))?);
    found.map(|found| found.program).map_err(|error| {
        Failure::failed(format!(
            "{error}\n  Debian, Ubuntu: sudo apt install chromium\n  \
             macOS: brew install --cask chromium"
        ))
    })
}

/// Whether windows can be shown here.
pub fn has_display() -> bool {
    let given = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || given("DISPLAY") || given("WAYLAND_DISPLAY")
}

/// Reads off the environment what starting browsers needs to know.
fn surroundings(data: &Path) -> Result<Surroundings, Failure> {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let folders = ["ProgramFiles", "ProgramFiles(x86)", "LocalAppData"];
    let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("TABWIRE_");
    Ok(Surroundings {
        data: std::path::absolute(data)?,
        program: env::current_exe()?,
        path: given("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
        home: given("HOME").map(PathBuf::from),
        program_folders: folders.iter().filter_map(|name| given(name)).map(PathBuf::from).collect(),
        display: has_display(),
        hidden: env::vars_os().map(|(name, _)| name).filter(ours).collect(),
        locale: ["LC_ALL", "LC_CTYPE", "LANG"].iter().any(|name| given(name).is_some()),
    })
}
