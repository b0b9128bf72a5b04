//! Starting and closing browsers for `browser_instance`.
//!
//! `launch` knows processes and the hub knows sessions; here the two are brought together: a
//! browser counts as started when its extension is connected. Only what was started here is
//! closed. Whose extension is whose is told by [`Launcher`], because pairing is another's matter.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hub::Session;
use launch::{
    BrowserInfo, BrowserRecord, Browsers, Ended, Family, LaunchError, LaunchId, Opening,
    ProfileInfo, Wish, start,
};
use model::{CallProgress, Code, Fault, InstanceId};
use serde_json::{Value, json};
use tokio::time::{self, Instant};

use crate::{
    Toolbox, browser_navigate,
    definition::{Client, Output},
};

/// How long the extension of a browser may take to connect.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it has been paired.
const LOOK: Duration = Duration::from_millis(100);
/// How long a session may take to notice that its browser has ended.
const PARTING: Duration = Duration::from_secs(5);

/// What starting browsers needs of the rest of the program.
pub trait Launcher: Send + Sync {
    /// The browsers that were started.
    fn browsers(&self) -> &Browsers;
    /// The folder of the extension, unpacked where it must be; an error is for a reader. May block.
    fn extension(&self) -> Result<PathBuf, String>;
    /// What the extension of a start calls itself, once it has been paired. May block.
    fn instance_of(&self, launch: &LaunchId) -> Option<InstanceId>;
    /// Forgets the key of a start whose profile is gone. May block.
    fn unpair(&self, launch: &LaunchId);
}

/// The session of a start, connected or away.
pub async fn session_of(
    toolbox: &Toolbox,
    launcher: &Arc<dyn Launcher>,
    launch: &LaunchId,
) -> Option<Arc<Session>> {
    let (launcher, launch) = (launcher.clone(), launch.clone());
    let instance = blocking(move || launcher.instance_of(&launch)).await.ok()??;
    toolbox.hub.filtered(|session| session.instance == instance).pop()
}

/// Counts the started browsers that are connected: they are there because of us.
pub async fn connected(toolbox: &Toolbox) -> usize {
    let Some(launcher) = &toolbox.launcher else { return 0 };
    let mut connected = 0;
    for launch in launcher.browsers().launches() {
        let session = session_of(toolbox, launcher, &launch).await;
        connected += usize::from(session.is_some_and(|session| session.is_connected()));
    }
    connected
}

/// Forgets the session of a browser that cannot come back, because its profile is gone.
pub async fn forget(toolbox: &Toolbox, launcher: &Arc<dyn Launcher>, ended: &Ended) {
    if !ended.0.throw_away {
        return;
    }
    if let Some(session) = session_of(toolbox, launcher, &ended.0.launch).await {
        let begun = Instant::now();
        while !toolbox.hub.forget(&session) && begun.elapsed() < PARTING {
            time::sleep(Duration::from_millis(20)).await;
        }
    }
    let (launcher, launch) = (launcher.clone(), ended.0.launch.clone());
    if let Err(fault) = blocking(move || launcher.unpair(&launch)).await {
        tracing::warn!(%fault, "the key of a browser may not be forgotten");
    }
}

/// What a client wants to have started.
pub struct NewBrowser {
    /// Without a window; none means as the setting says.
    pub headless: Option<bool>,
    /// The name of a profile that is kept; none means one that is thrown away.
    pub profile: Option<String>,
    /// What its session shall be called.
    pub name: Option<String>,
    /// The kind of browser; none means as the setting says.
    pub browser: Option<Family>,
    /// The address of the first page; none means an empty one.
    pub url: Option<String>,
}

/// Starts a browser and waits until its extension is connected.
pub async fn open(toolbox: &Toolbox, client: &Client, new: NewBrowser) -> Result<Output, Fault> {
    if let Some(url) = &new.url {
        toolbox.check_address(url)?;
    }
    if toolbox.hub.is_read_only() {
        return Err(Fault::new(Code::Refused, "the hub is read-only: it starts no browsers"));
    }
    let launcher = launcher(toolbox)?;
    let url = new.url.clone();
    let progress = Progress::new(client);
    progress.say(0.0, "starting the browser");
    let opening = {
        let launcher = launcher.clone();
        blocking(move || {
            let extension = launcher.extension();
            let extension = extension.map_err(|why| Fault::new(Code::Unsupported, why))?;
            let NewBrowser { headless, profile, name, browser, .. } = new;
            // Headless Chromium never loads an address of its command line.
            let wish = Wish { headless, profile, name, browser, url: None, extension };
            launcher.browsers().start(&wish).map_err(refused)
        })
        .await??
    };
    progress.say(1.0, "waiting for its extension");
    let limit = client.timeout.map_or(PATIENCE, |given| given.min(PATIENCE));
    let session = match until_connected(toolbox, &launcher, &opening, limit).await {
        Ok(session) => session,
        Err(why) => return Err(give_up(opening, &why).await),
    };
    let name = session.name.to_string();
    progress.say(2.0, &format!("connected as {name}"));
    let gone = || Fault::new(Code::ToolFailed, "the browser was closed while it came up");
    let record = opening.keep(&name).ok_or_else(gone)?;
    let mut text = say_opened(&record, &name);
    let mut structured = json!({"session": name, "browser": show(&record, Some(&session))});
    if let Some(url) = url {
        progress.say(3.0, "loading its first page");
        let args = json!({"action": "goto", "session": name, "url": url});
        // The browser runs, whatever becomes of the page.
        match (browser_navigate::TOOL.run)(toolbox, client, args).await {
            Ok(loaded) => {
                text = format!("{text}\n{}", loaded.text);
                structured["page"] = loaded.structured;
            }
            Err(fault) => text = format!("{text}\n{url} was not loaded: {fault}"),
        }
    }
    Ok(Output { text, structured, ..Output::default() })
}

async fn until_connected(
    toolbox: &Toolbox,
    launcher: &Arc<dyn Launcher>,
    opening: &Opening,
    limit: Duration,
) -> Result<Arc<Session>, String> {
    let deadline = Instant::now() + limit;
    let mut offers = toolbox.hub.offers();
    loop {
        let session = session_of(toolbox, launcher, opening.launch()).await;
        if let Some(session) = session.filter(|session| session.is_connected()) {
            return Ok(session);
        }
        if !opening.is_alive() {
            return Err("the browser ended before its extension was connected".to_owned());
        }
        if Instant::now() >= deadline {
            let limit = limit.as_secs_f64();
            return Err(format!("its extension was not connected within {limit} s"));
        }
        // Cancel-safe: both only wait. The pairing is in a file, which tells nobody.
        if let Ok(Err(_)) = time::timeout(LOOK, offers.changed()).await {
            return Err("the hub is shutting down".to_owned());
        }
    }
}

/// Ends a browser that did not come up, and says what it said.
async fn give_up(opening: Opening, why: &str) -> Fault {
    let family = opening.look().and_then(|record| Family::parse(&record.browser));
    let said = opening.last_words();
    let ended = blocking(move || opening.end()).await;
    if let Ok(Err(error)) = ended {
        tracing::warn!(%error, "a browser that did not come up was not ended");
    }
    let said = match said.is_empty() {
        true => "its log is empty".to_owned(),
        false => format!("its log ends with: {said}"),
    };
    let advice = family.map_or("see docs/browsers.md", start::advice);
    Fault::new(Code::ToolFailed, format!("{why}; it was ended; {said}")).hint(advice)
}

/// Closes the browser of a session or of a name, if it was started here.
pub async fn close(
    toolbox: &Toolbox,
    session: Option<&str>,
    name: Option<&str>,
) -> Result<Output, Fault> {
    if toolbox.hub.is_read_only() {
        return Err(Fault::new(Code::Refused, "the hub is read-only: it closes no browsers"));
    }
    let launcher = launcher(toolbox)?;
    let running = running(toolbox).await?;
    let launch = match (session, name) {
        (Some(session), None) => by_session(toolbox, &launcher, &running, session).await?,
        (None, Some(name)) => by_name(&running, name)?,
        _ => {
            let message = "close takes one of `session` and `name`";
            return Err(Fault::new(Code::InvalidArgument, message).hint(choices(&running)));
        }
    };
    let ended = {
        let (browsers, launch) = (launcher.browsers().clone(), launch.clone());
        blocking(move || browsers.end(&launch)).await?
    };
    let ended = match ended {
        Ok(ended) => ended,
        // It was faster than we were.
        Err(launch::Unproven::Gone) => {
            return Err(Fault::new(Code::NotFound, "the browser has already ended"));
        }
        Err(error) => return Err(Fault::new(Code::Refused, error.to_string())),
    };
    forget(toolbox, &launcher, &ended).await;
    let structured = json!({"closed": ended.0.shown_name()});
    Ok(Output { text: say_closed(&ended.0), structured, ..Output::default() })
}

/// What is answered when a browser has come up.
pub fn say_opened(record: &BrowserRecord, session: &str) -> String {
    format!("{} is running as session {session}{}", record.browser, kind(record))
}

/// What is answered when a browser has ended.
pub fn say_closed(record: &BrowserRecord) -> String {
    let kept = match &record.profile {
        Some(profile) => format!("; its profile {profile} is kept"),
        None => "; its profile is removed".to_owned(),
    };
    format!("{} is closed{kept}", record.shown_name())
}

async fn by_session(
    toolbox: &Toolbox,
    launcher: &Arc<dyn Launcher>,
    running: &[BrowserInfo],
    wanted: &str,
) -> Result<LaunchId, Fault> {
    let session = match toolbox.hub.find(wanted) {
        Ok(session) => session,
        // One that is not connected has a name all the same.
        Err(fault) => return by_name(running, wanted).map_err(|_| fault),
    };
    let launches: Vec<_> = running.iter().map(|info| info.record.launch.clone()).collect();
    let (launcher, instance) = (launcher.clone(), session.instance.clone());
    let is_its = move |launch: &LaunchId| launcher.instance_of(launch).as_ref() == Some(&instance);
    let launch = blocking(move || launches.into_iter().find(is_its)).await?;
    launch.ok_or_else(|| {
        let message = format!("{} was not started by this hub, so it is not closed", session.name);
        Fault::new(Code::Refused, message)
            .hint(format!("close it by hand, or its tabs with browser_tab; {}", choices(running)))
    })
}

fn by_name(running: &[BrowserInfo], wanted: &str) -> Result<LaunchId, Fault> {
    let is_wanted = |info: &&BrowserInfo| {
        info.record.name == wanted || info.record.session.as_deref() == Some(wanted)
    };
    let fitting: Vec<_> = running.iter().filter(is_wanted).collect();
    match fitting.as_slice() {
        [only] => Ok(only.record.launch.clone()),
        [] => {
            let message = format!("no browser that this hub started is called {wanted:?}");
            Err(Fault::new(Code::UnknownSession, message).hint(choices(running)))
        }
        several => {
            let message = format!("{} browsers are called {wanted:?}", several.len());
            Err(Fault::new(Code::AmbiguousSession, message).hint(choices(running)))
        }
    }
}

fn choices(running: &[BrowserInfo]) -> String {
    let names: Vec<_> = running.iter().map(|info| info.record.shown_name()).collect();
    match names.is_empty() {
        true => "this hub has started none".to_owned(),
        false => format!("started by this hub: {}", names.join(", ")),
    }
}

/// Lists the named profiles.
pub async fn profiles(toolbox: &Toolbox) -> Result<Output, Fault> {
    let browsers = launcher(toolbox)?.browsers().clone();
    let profiles = blocking(move || browsers.profiles()).await?;
    let profiles = profiles.map_err(|error| Fault::new(Code::ToolFailed, error.to_string()))?;
    let text = say_profiles(&profiles);
    let list: Vec<_> = profiles
        .iter()
        .map(|profile| json!({"profile": profile.name, "usedBy": profile.used_by}))
        .collect();
    Ok(Output { text, structured: json!({"profiles": list}), ..Output::default() })
}

/// What is answered about the named profiles.
pub fn say_profiles(profiles: &[ProfileInfo]) -> String {
    let lines = profiles.iter().map(|profile| match &profile.used_by {
        Some(by) => format!("- {} (in use by {by})", profile.name),
        None => format!("- {}", profile.name),
    });
    match profiles.is_empty() {
        true => "no profile has been named yet".to_owned(),
        false => lines.collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the browsers that were started and run; none where none can be started.
pub async fn running(toolbox: &Toolbox) -> Result<Vec<BrowserInfo>, Fault> {
    let Some(launcher) = &toolbox.launcher else { return Ok(Vec::new()) };
    let browsers = launcher.browsers().clone();
    blocking(move || browsers.list()).await
}

/// Shows a started browser to a program.
pub fn show(record: &BrowserRecord, session: Option<&Session>) -> Value {
    json!({
        "name": record.name,
        "session": session.map(|session| session.name.to_string()),
        "browser": record.browser,
        "profile": record.profile,
        "headless": record.headless,
        "pid": record.pid,
    })
}

/// What is particular about a started browser, in words.
pub fn kind(record: &BrowserRecord) -> String {
    let profile = match &record.profile {
        Some(profile) => format!(", profile {profile}"),
        None => ", throw-away profile".to_owned(),
    };
    format!("{profile}{}", if record.headless { ", headless" } else { "" })
}

fn launcher(toolbox: &Toolbox) -> Result<Arc<dyn Launcher>, Fault> {
    let none = || Fault::new(Code::Unsupported, "this hub does not start browsers");
    toolbox.launcher.clone().ok_or_else(none)
}

fn refused(error: LaunchError) -> Fault {
    let code = match &error {
        LaunchError::NotFound(_) => Code::Unsupported,
        LaunchError::BadName { .. } => Code::InvalidArgument,
        LaunchError::TooMany(_)
        | LaunchError::ProfileInUse { .. }
        | LaunchError::ProfileForeign { .. } => Code::Busy,
        LaunchError::TooManyProfiles { .. } => Code::TooLarge,
        LaunchError::NotStarted { .. } | LaunchError::Failed(_) => Code::ToolFailed,
        LaunchError::Stopping => Code::ShuttingDown,
    };
    Fault::new(code, error.to_string())
}

/// Does what blocks on a thread of its own; it is done even if nobody waits for it any more.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let failed = |error: tokio::task::JoinError| Fault::new(Code::Internal, error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// Tells a client how far its browser is. What it cannot take is dropped.
struct Progress<'a>(&'a Client);

impl<'a> Progress<'a> {
    fn new(client: &'a Client) -> Self {
        Self(client)
    }

    fn say(&self, progress: f64, message: &str) {
        if let Some(to) = &self.0.progress {
            let message = Some(message.to_owned());
            let _ = to.try_send(CallProgress { progress, total: Some(2.0), message });
        }
    }
}
