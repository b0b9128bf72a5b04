//! The flags of a browser, and its process.
//!
//! The browser gets a process group of its own, so that Ctrl-C at the hub's terminal is the hub's
//! to handle. What it says goes to a file and not through us, so that it survives us.

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::{
    LaunchId, Surroundings,
    find::{Family, Found},
    process::{folder_argument, launch_argument},
};

/// The size of the window, or of what stands for it.
const WINDOW: (u32, u32) = (1280, 800);

/// Flags that every browser gets.
const ALWAYS: &[&str] = &[
    "--no-first-run",
    "--no-default-browser-check",
    // What it would fetch for itself is not what it was started for.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-pings",
    "--disable-search-engine-choice-screen",
    // Tabs are opened in the background and must work there.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Shared memory is small in containers, and a browser that runs out of it crashes.
    "--disable-dev-shm-usage",
    // No questions of a keyring that nobody would answer.
    "--password-store=basic",
    "--use-mock-keychain",
    // No bar in every window that says that a debugger is attached.
    "--silent-debugger-extension-api",
    // Branded browsers may ignore extensions of the command line without the first one.
    "--disable-features=DisableLoadExtensionCommandLineSwitch,Translate,MediaRouter",
    // Pages can declare tools, which are off where nobody asks for them.
    "--enable-features=WebMCP",
];

/// What a browser is started with.
pub struct Plan<'a> {
    /// Becomes an argument, by which the process is proven.
    pub launch: &'a LaunchId,
    /// The profile's folder.
    pub user_data_dir: &'a Path,
    /// The folder of the extension.
    pub extension: &'a Path,
    /// Whether it has no window.
    pub headless: bool,
    /// We are the system's administrator.
    pub as_root: bool,
    /// The first page; none means an empty one.
    pub url: Option<&'a str>,
}

/// Returns all flags.
pub fn flags(plan: &Plan<'_>) -> Vec<OsString> {
    let with = |name: &str, value: &Path| {
        let mut flag = OsString::from(name);
        flag.push(value);
        flag
    };
    let mut flags = vec![
        folder_argument(plan.user_data_dir),
        launch_argument(plan.launch).into(),
        with("--load-extension=", plan.extension),
        with("--disable-extensions-except=", plan.extension),
        format!("--window-size={},{}", WINDOW.0, WINDOW.1).into(),
    ];
    flags.extend(ALWAYS.iter().map(OsString::from));
    if plan.headless {
        flags.extend(["--headless=new", "--hide-scrollbars", "--mute-audio"].map(OsString::from));
    }
    if plan.as_root {
        // It refuses to run otherwise.
        flags.push("--no-sandbox".into());
    }
    flags.push(plan.url.unwrap_or("about:blank").into());
    flags
}

/// Starts a browser that says what it has to say into a file.
pub fn spawn(
    found: &Found,
    flags: &[OsString],
    log: File,
    surroundings: &Surroundings,
) -> io::Result<Child> {
    let mut command = Command::new(&found.program);
    command.args(flags).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    for variable in &surroundings.hidden {
        command.env_remove(variable);
    }
    if !surroundings.locale {
        // Otherwise files with letters beyond ASCII cannot be opened.
        command.env("LC_CTYPE", "C.UTF-8");
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Returns what may be wrong with a browser of this kind that does not come up.
pub fn advice(family: Family) -> &'static str {
    match family.is_branded() {
        true => {
            "newer versions of this browser do not load extensions from the command line; use \
            Chromium, with the setting `browser`"
        }
        false => "see docs/browsers.md",
    }
}

/// Returns whether we are the system's administrator.
pub fn as_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    return false;
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::test_place::Place;

    fn texts(plan: &Plan<'_>) -> Vec<String> {
        flags(plan).into_iter().map(|flag| flag.into_string().unwrap()).collect()
    }

    #[test]
    fn flags_are_what_was_asked_for_and_no_more() {
        let launch = LaunchId::mint();
        let (profile, extension) = (PathBuf::from("/d/p p"), PathBuf::from("/d/extension"));
        let plan = Plan {
            launch: &launch,
            user_data_dir: &profile,
            extension: &extension,
            headless: false,
            as_root: false,
            url: None,
        };
        let plain = texts(&plan);
        for flag in [
            "--user-data-dir=/d/p p",
            "--load-extension=/d/extension",
            "--disable-extensions-except=/d/extension",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--silent-debugger-extension-api",
            "--window-size=1280,800",
            &format!("--tabwire-launch={launch}"),
        ] {
            assert!(plain.iter().any(|text| text == flag), "{flag} in {plain:?}");
        }
        assert_eq!(plain.last().unwrap(), "about:blank");
        let features = plain.iter().filter(|flag| flag.starts_with("--disable-features="));
        assert_eq!(features.count(), 1, "a second one would replace the first");
        for flag in ["--headless=new", "--no-sandbox"] {
            assert!(!plain.iter().any(|text| text == flag), "{flag}");
        }
        let other = Plan { headless: true, as_root: true, url: Some("https://a.example/"), ..plan };
        let other = texts(&other);
        assert_eq!(other.last().unwrap(), "https://a.example/");
        for flag in ["--headless=new", "--no-sandbox"] {
            assert!(other.iter().any(|text| text == flag), "{flag}");
        }
        assert!(!other.iter().any(|flag| flag.starts_with("--remote-debugging")), "no open port");
    }

    #[test]
    fn a_browser_has_a_group_and_a_log_of_its_own_and_not_our_variables() {
        let place = Place::new();
        let script = "echo \"to ${CARGO_PKG_NAME:-nobody}\"; echo loudly >&2; ps -o pgid= -p $$";
        let program = place.program("browser", script);
        let log = crate::log::create(place.path()).unwrap();
        let found = Found { family: Family::Chromium, program };
        let hidden = vec!["CARGO_PKG_NAME".into()];
        let surroundings = Surroundings { hidden, ..Surroundings::default() };
        let mut child = spawn(&found, &[], log, &surroundings).unwrap();
        let pid = child.id();
        assert!(child.wait().unwrap().success());
        let said = crate::log::last_lines(place.path());
        assert_eq!(said, format!("to nobody | loudly | {pid}"));
    }
}
