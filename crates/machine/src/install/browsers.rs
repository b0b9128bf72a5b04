//! The browsers that we know: where they look for native messaging hosts of a user.
//!
//! A browser looks only into its own profile root, so every root that is there counts, those of
//! beta versions too. Profiles of other roots (`--user-data-dir`) need a manifest of their own.

use std::path::PathBuf;

use super::surroundings::{Surroundings, System};

/// The folder in a profile root in which manifests lie.
const FOLDER: &str = "NativeMessagingHosts";

/// A browser that the native host can be installed for.
#[derive(Debug)]
pub struct Browser {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The page on which extensions are loaded.
    pub extensions: &'static str,
    /// Names of its program on PATH; the first that is found counts.
    programs: &'static [&'static str],
    /// Its profile roots on Linux; the first is the usual one.
    linux: &'static [&'static str],
    /// Its profile roots on macOS.
    mac: &'static [&'static str],
    /// Its key in the registry.
    registry: &'static str,
}

/// Every browser that `install` knows.
pub const BROWSERS: &[Browser] = &[
    Browser {
        name: "chrome",
        title: "Google Chrome",
        extensions: "chrome://extensions",
        programs: &["google-chrome", "google-chrome-stable"],
        linux: &["google-chrome", "google-chrome-beta", "google-chrome-unstable"],
        mac: &["Google/Chrome", "Google/Chrome Beta", "Google/Chrome Canary"],
        registry: r"Software\Google\Chrome",
    },
    Browser {
        name: "chromium",
        title: "Chromium",
        extensions: "chrome://extensions",
        programs: &["chromium", "chromium-browser"],
        linux: &["chromium"],
        mac: &["Chromium"],
        registry: r"Software\Chromium",
    },
    Browser {
        name: "edge",
        title: "Microsoft Edge",
        extensions: "edge://extensions",
        programs: &["microsoft-edge", "microsoft-edge-stable"],
        linux: &["microsoft-edge", "microsoft-edge-beta", "microsoft-edge-dev"],
        mac: &["Microsoft Edge", "Microsoft Edge Beta", "Microsoft Edge Dev"],
        registry: r"Software\Microsoft\Edge",
    },
    Browser {
        name: "brave",
        title: "Brave",
        extensions: "brave://extensions",
        programs: &["brave", "brave-browser"],
        linux: &[
            "BraveSoftware/Brave-Browser",
            "BraveSoftware/Brave-Browser-Beta",
            "BraveSoftware/Brave-Browser-Nightly",
        ],
        mac: &["BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser-Beta"],
        registry: r"Software\BraveSoftware\Brave-Browser",
    },
];

impl Browser {
    /// Returns whether this user has it.
    pub fn is_here(&self, here: &Surroundings) -> bool {
        self.roots(here).iter().any(|root| root.is_dir()) || self.program(here).is_some()
    }

    /// Finds its program.
    pub fn program(&self, here: &Surroundings) -> Option<PathBuf> {
        self.programs.iter().find_map(|name| here.program(name))
    }

    /// Returns the folders for manifests: of every root that is there, else of the usual one.
    pub fn manifest_folders(&self, here: &Surroundings) -> Vec<PathBuf> {
        let mut roots = self.roots(here);
        if roots.iter().any(|root| root.is_dir()) {
            roots.retain(|root| root.is_dir());
        } else {
            roots.truncate(1);
        }
        roots.into_iter().map(|root| root.join(FOLDER)).collect()
    }

    /// Returns the key of the registry that would name the manifest.
    pub fn registry_key(&self, host: &str) -> String {
        format!(r"HKEY_CURRENT_USER\{}\{FOLDER}\{host}", self.registry)
    }

    fn roots(&self, here: &Surroundings) -> Vec<PathBuf> {
        let (base, roots) = match here.system {
            System::Linux => {
                (here.chrome.clone().unwrap_or_else(|| here.config.clone()), self.linux)
            }
            System::Mac => (here.settings(), self.mac),
            System::Windows => return Vec::new(),
        };
        roots.iter().map(|root| base.join(root)).collect()
    }
}

/// Returns the named browsers, or those that are here if none is named.
pub fn chosen(here: &Surroundings, names: &[String]) -> Vec<&'static Browser> {
    let wanted = |browser: &&Browser| match names.is_empty() {
        true => browser.is_here(here),
        false => names.iter().any(|name| name == browser.name),
    };
    BROWSERS.iter().filter(wanted).collect()
}
