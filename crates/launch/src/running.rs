//! All browsers that were started and have not ended, this hub's and those of one that died.
//!
//! - this file: the table, adopting, starting;
//! - `ending`: ending them, and cleaning up behind those that ended by themselves.
//!
//! Everything here blocks for a moment, ending for seconds: call it where that may be. Only the
//! holder of the hub's lock may open the table of a data folder.

mod ending;
#[cfg(test)]
mod tests;

pub use ending::PATIENCE;

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::{Mutex, RwLock};
use processes::{Unproven, start_time};
use tokio::sync::Notify;

use crate::{
    Config, Family, LaunchId, Surroundings,
    find::{self, Found},
    folder, log,
    native_manifest::{self, Host},
    process,
    profile::{self, ProfileInfo},
    record::{self, BrowserRecord},
    start::{self, Plan},
};

/// How often it is looked whether a browser has ended by itself.
const LOOK: Duration = Duration::from_secs(2);

/// What somebody wants to have started.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Without a window; none means as the settings say. Without a display always.
    pub headless: Option<bool>,
    /// A named profile; none means one that is thrown away.
    pub profile: Option<String>,
    /// What its session shall be called; none means the profile's name, or the browser's.
    pub name: Option<String>,
    /// What kind of browser; none means as the settings say.
    pub browser: Option<Family>,
    /// The first page, already checked.
    pub url: Option<String>,
    /// The folder of the extension.
    pub extension: PathBuf,
}

/// Why no browser was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is none on this machine.
    #[error(transparent)]
    NotFound(#[from] find::NotFound),
    /// A name has other letters than it may, or too many.
    #[error("the {what} {text:?} is not made of 1 to 32 small letters, digits and dashes")]
    BadName {
        /// `profile` or `name`.
        what: &'static str,
        /// As it was given.
        text: String,
    },
    /// The limit is reached.
    #[error("{0} browsers are running, which is the limit `browsers_max`; close one first")]
    TooMany(usize),
    /// Another browser of ours has the profile.
    #[error("the profile {profile} is in use by {by}; use that one, or close it first")]
    ProfileInUse {
        /// The profile's name.
        profile: String,
        /// The browser's session, or its name.
        by: String,
    },
    /// A browser that we did not start has the profile.
    #[error("the profile {profile} is in use by process {pid}, which was not started by this hub")]
    ProfileForeign {
        /// The profile's name.
        profile: String,
        /// The process that holds the profile's lock.
        pid: u32,
    },
    /// The limit is reached.
    #[error(
        "there are {limit} profiles, which is the limit; remove one from {folder}",
        limit = profile::PROFILES_MAX
    )]
    TooManyProfiles {
        /// The folder of all named profiles.
        folder: String,
    },
    /// The program did not start.
    #[error("{program} could not be started: {source}")]
    NotStarted {
        /// The path of the program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The profile could not be made ready, or nothing could be written down.
    #[error("the profile could not be made ready: {0}")]
    Failed(#[from] io::Error),
    /// The hub ends, and starts nothing more.
    #[error("the hub is shutting down")]
    Stopping,
}

/// A browser for a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserInfo {
    /// What is known of it.
    pub record: BrowserRecord,
    /// Whether a hub before this one started it.
    pub adopted: bool,
}

/// A browser that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended(pub BrowserRecord);

/// The browsers of one hub. Clones share them.
#[derive(Clone)]
pub struct Browsers {
    inner: Arc<Inner>,
}

struct Inner {
    surroundings: Surroundings,
    // Blocking locks: held for one look or change, never across an await or a wait.
    config: RwLock<Config>,
    table: Mutex<BTreeMap<LaunchId, Entry>>,
    /// Who has ended and was not taken note of yet.
    ended: Mutex<Vec<Ended>>,
    /// Somebody has to be ended whom nobody waits for.
    wake: Notify,
    /// No browser is started any more.
    stopping: AtomicBool,
}

struct Entry {
    record: BrowserRecord,
    /// The process, where it is our own child and was not missed yet.
    child: Option<Child>,
    adopted: bool,
    stage: Stage,
    claim: Claim,
}

/// Whether somebody wants a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Somebody waits for it to come up.
    Awaited,
    /// It came up.
    Kept,
    /// It has not come up, and nobody waits any more.
    Abandoned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    Running,
    Ending,
}

impl Browsers {
    /// Opens the table: adopts browsers of a hub that died, and cleans up behind those that ended.
    pub fn open(config: Config, surroundings: Surroundings) -> Self {
        let mut table = BTreeMap::new();
        let mut ended = Vec::new();
        let data = &surroundings.data;
        for record in record::read_all(data) {
            if record.user_data_dir != expected_folder(&surroundings, &record) {
                tracing::warn!(launch = %record.launch, "a record names a folder that is not its own");
                continue;
            }
            match locate(&record) {
                Some(record) => {
                    tracing::info!(launch = %record.launch, pid = record.pid, name = record.name, "browser adopted");
                    let _ = record.write(data);
                    let (stage, claim) = (Stage::Running, Claim::Kept);
                    let launch = record.launch.clone();
                    table
                        .insert(launch, Entry { record, child: None, adopted: true, stage, claim });
                }
                None => {
                    ending::clean(&surroundings, &record);
                    ended.push(Ended(record));
                }
            }
        }
        profile::remove_strays(data);
        Self {
            inner: Arc::new(Inner {
                surroundings,
                config: RwLock::new(config),
                table: Mutex::new(table),
                ended: Mutex::new(ended),
                wake: Notify::new(),
                stopping: AtomicBool::new(false),
            }),
        }
    }

    /// Takes over new settings.
    pub fn reconfigure(&self, config: Config) {
        *self.inner.config.write() = config;
    }

    /// Returns the settings.
    pub fn config(&self) -> Config {
        self.inner.config.read().clone()
    }

    /// Starts a browser. It is ended again unless the result is kept.
    pub fn start(&self, wish: &Wish) -> Result<Opening, LaunchError> {
        let found = self.find(wish)?;
        for (what, text) in [("profile", &wish.profile), ("name", &wish.name)] {
            if let Some(text) = text.as_ref().filter(|text| !profile::is_name(text)) {
                return Err(LaunchError::BadName { what, text: text.clone() });
            }
        }
        self.sweep();
        let record = self.reserve(wish, &found)?;
        let opening =
            Opening { browsers: self.clone(), launch: record.launch.clone(), kept: false };
        let done = self.bring_up(record, wish, &found);
        match done {
            Ok(()) if !self.is_stopping() => Ok(opening),
            done => {
                let _ = opening.end();
                Err(done.err().unwrap_or(LaunchError::Stopping))
            }
        }
    }

    /// Returns the browsers that run, the oldest first.
    pub fn list(&self) -> Vec<BrowserInfo> {
        self.sweep();
        let table = self.inner.table.lock();
        let running = table.values().filter(|entry| entry.stage == Stage::Running);
        let info =
            |entry: &Entry| BrowserInfo { record: entry.record.clone(), adopted: entry.adopted };
        let mut list: Vec<_> = running.map(info).collect();
        list.sort_by_key(|info| info.record.started_at_ms);
        list
    }

    /// Returns the named profiles, with who uses them.
    pub fn profiles(&self) -> io::Result<Vec<ProfileInfo>> {
        self.sweep();
        let table = self.inner.table.lock();
        let used_by = |name: &str| {
            let user = table.values().find(|entry| entry.record.profile.as_deref() == Some(name));
            user.map(|entry| entry.record.shown_name().to_owned())
        };
        let names = profile::names(&self.inner.surroundings.data)?;
        Ok(names.into_iter().map(|name| ProfileInfo { used_by: used_by(&name), name }).collect())
    }

    /// Returns the launches that have not ended, without looking at their processes.
    pub fn launches(&self) -> Vec<LaunchId> {
        self.inner.table.lock().keys().cloned().collect()
    }

    /// Returns who has ended since this was asked last, for whatever reason: also those of a hub
    /// that died, and those that a listing has missed.
    pub fn take_ended(&self) -> Vec<Ended> {
        std::mem::take(&mut self.inner.ended.lock())
    }

    /// Waits until it is time to look after them. Cancel-safe: it only waits.
    pub async fn due(&self) {
        let _ = tokio::time::timeout(LOOK, self.inner.wake.notified()).await;
    }

    /// The browser that is meant. A kind picks the program of the settings where that is one.
    fn find(&self, wish: &Wish) -> Result<Found, LaunchError> {
        let (config, surroundings) = (self.config(), &self.inner.surroundings);
        let usual = find::find(config.browser.as_deref(), surroundings);
        match wish.browser {
            None => Ok(usual?),
            Some(family) => match usual {
                Ok(found) if found.family == family => Ok(found),
                _ => Ok(find::first_of(&[family], surroundings)?),
            },
        }
    }

    /// Takes a place in the table, if there is one and nobody has the profile.
    fn reserve(&self, wish: &Wish, found: &Found) -> Result<BrowserRecord, LaunchError> {
        let (config, surroundings) = (self.config(), &self.inner.surroundings);
        if let Some(name) = &wish.profile {
            let names = profile::names(&surroundings.data)?;
            if names.len() >= profile::PROFILES_MAX && !names.contains(name) {
                let folder = surroundings.data.join(profile::FOLDER).display().to_string();
                return Err(LaunchError::TooManyProfiles { folder });
            }
        }
        let launch = LaunchId::mint();
        let name = wish.name.clone().or_else(|| wish.profile.clone());
        let record = BrowserRecord {
            user_data_dir: profile::folder_of(&surroundings.data, &launch, wish.profile.as_deref()),
            pid: 0,
            start_time: 0,
            name: name.unwrap_or_else(|| found.family.as_str().to_owned()),
            browser: found.family.as_str().to_owned(),
            profile: wish.profile.clone(),
            headless: !surroundings.display
                || wish.headless.or(config.browser_headless).unwrap_or(false),
            throw_away: wish.profile.is_none(),
            session: None,
            started_at_ms: now_ms(),
            launch,
        };
        let mut table = self.inner.table.lock();
        if self.is_stopping() {
            return Err(LaunchError::Stopping);
        }
        if table.len() >= config.browsers_max {
            return Err(LaunchError::TooMany(table.len()));
        }
        if let Some(profile) = &wish.profile
            && let Some(user) =
                table.values().find(|entry| entry.record.profile.as_ref() == Some(profile))
        {
            let by = user.record.shown_name().to_owned();
            return Err(LaunchError::ProfileInUse { profile: profile.clone(), by });
        }
        let entry = Entry {
            record: record.clone(),
            child: None,
            adopted: false,
            stage: Stage::Starting,
            claim: Claim::Awaited,
        };
        table.insert(record.launch.clone(), entry);
        Ok(record)
    }

    /// Writes everything down, makes the profile ready and starts the process, in this order.
    fn bring_up(
        &self,
        mut record: BrowserRecord,
        wish: &Wish,
        found: &Found,
    ) -> Result<(), LaunchError> {
        let surroundings = &self.inner.surroundings;
        if let Some(profile) = &record.profile
            && let Some(pid) = profile::foreign_user(&record.user_data_dir)
        {
            return Err(LaunchError::ProfileForeign { profile: profile.clone(), pid });
        }
        record.write(&surroundings.data)?;
        folder::make(&record.user_data_dir)?;
        let host = Host {
            program: &surroundings.program,
            data: &surroundings.data,
            launch: &record.launch,
            name: &record.name,
        };
        native_manifest::write(&record.user_data_dir, &host)?;
        let as_root = start::as_root();
        if as_root {
            tracing::warn!("running as root, so the browser runs without its sandbox");
        }
        let flags = start::flags(&Plan {
            launch: &record.launch,
            user_data_dir: &record.user_data_dir,
            extension: &wish.extension,
            headless: record.headless,
            as_root,
            url: wish.url.as_deref(),
        });
        let output = log::create(&record.user_data_dir)?;
        let child = start::spawn(found, &flags, output, surroundings).map_err(|source| {
            LaunchError::NotStarted { program: found.program.display().to_string(), source }
        })?;
        record.pid = child.id();
        record.start_time = start_time(child.id()).unwrap_or_default();
        tracing::info!(launch = %record.launch, pid = record.pid, program = %found.program.display(), "browser started");
        // The process is known to the table first: whatever fails now, it can be ended.
        if let Some(entry) = self.inner.table.lock().get_mut(&record.launch) {
            entry.record = record.clone();
            entry.child = Some(child);
            entry.stage = Stage::Running;
        }
        Ok(record.write(&surroundings.data)?)
    }

    fn is_stopping(&self) -> bool {
        self.inner.stopping.load(Ordering::SeqCst)
    }
}

/// A browser that was started and is waited for. It is ended when this is dropped without being
/// kept.
pub struct Opening {
    browsers: Browsers,
    launch: LaunchId,
    kept: bool,
}

impl Opening {
    /// Returns which start this is.
    pub fn launch(&self) -> &LaunchId {
        &self.launch
    }

    /// Returns what is known of it; `None` when it has ended.
    pub fn look(&self) -> Option<BrowserRecord> {
        let table = self.browsers.inner.table.lock();
        table.get(&self.launch).map(|entry| entry.record.clone())
    }

    /// Returns whether its process is there. It stays in the table either way.
    pub fn is_alive(&self) -> bool {
        let record = self.look();
        record.is_some_and(|record| {
            start_time(record.pid) == Some(record.start_time) || locate(&record).is_some()
        })
    }

    /// Returns the last lines that it said.
    pub fn last_words(&self) -> String {
        self.look().map(|record| log::last_lines(&record.user_data_dir)).unwrap_or_default()
    }

    /// Ends it. Waits until that is done.
    pub fn end(mut self) -> Result<Ended, Unproven> {
        self.kept = true;
        self.browsers.end(&self.launch)
    }

    /// Keeps it, with the session that it got.
    pub fn keep(mut self, session: &str) -> Option<BrowserRecord> {
        self.kept = true;
        let data = &self.browsers.inner.surroundings.data;
        let mut table = self.browsers.inner.table.lock();
        let entry = table.get_mut(&self.launch)?;
        entry.claim = Claim::Kept;
        entry.record.session = Some(session.to_owned());
        if let Err(error) = entry.record.write(data) {
            tracing::warn!(launch = %self.launch, %error, "the session of a browser is not written down");
        }
        Some(entry.record.clone())
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Ending takes seconds and dropping must not: whoever looks after them does it.
        let mut table = self.browsers.inner.table.lock();
        if let Some(entry) = table.get_mut(&self.launch) {
            entry.claim = Claim::Abandoned;
            self.browsers.inner.wake.notify_one();
        }
    }
}

/// Finds the process of a record, the written one or the one that it has become.
fn locate(record: &BrowserRecord) -> Option<BrowserRecord> {
    match process::prove(record) {
        // What cannot be proven is there all the same, so its profile must stay.
        Ok(_) | Err(Unproven::Foreign { .. } | Unproven::Failed(_)) => Some(record.clone()),
        Err(Unproven::Gone) => {
            let (pid, start_time) = process::find(record)?;
            Some(BrowserRecord { pid, start_time, ..record.clone() })
        }
    }
}

/// The folder that a record's profile must be in.
fn expected_folder(surroundings: &Surroundings, record: &BrowserRecord) -> PathBuf {
    let named = record.profile.as_deref().filter(|name| profile::is_name(name));
    profile::folder_of(&surroundings.data, &record.launch, named)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis().try_into().unwrap_or(u64::MAX))
}
