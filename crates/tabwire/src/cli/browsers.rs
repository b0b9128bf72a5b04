//! The options of `browser`, `pair`, `unpair` and `native-host`.

use clap::{Args, Subcommand};

use super::{DataFolder, Target};

#[derive(Args)]
pub struct Browser {
    #[command(subcommand)]
    pub action: BrowserAction,
}

#[derive(Subcommand)]
pub enum BrowserAction {
    /// Starts a browser and waits until it is connected.
    #[command(after_help = "Example:\n  tabwire browser new --profile work --browser chromium")]
    New(BrowserNew),
    /// Lists browsers and apps, with those that were started.
    #[command(after_help = "Example:\n  tabwire browser list --json")]
    List(BrowserList),
    /// Closes a browser that was started; no other.
    #[command(after_help = "Example:\n  tabwire browser close work")]
    Close(BrowserClose),
    /// Lists the named profiles, and who uses them.
    #[command(after_help = "Example:\n  tabwire browser profiles")]
    Profiles(BrowserList),
}

#[derive(Args)]
pub struct BrowserNew {
    /// Without a window; without a display always.
    #[arg(long)]
    pub headless: bool,
    /// A profile that is kept, by name [default: one that is thrown away].
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// What its session is called [default: as the profile, or as the browser].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Which browser: chromium, brave, edge or chrome [default: the setting `browser`].
    #[arg(long, value_name = "BROWSER")]
    pub browser: Option<String>,
    /// The first page.
    pub url: Option<String>,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct BrowserList {
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct BrowserClose {
    /// Its session or its name.
    pub browser: String,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct Pair {
    /// Lists the paired browsers instead.
    #[arg(long)]
    pub list: bool,
    /// Shows the code and does not wait until it is used.
    #[arg(long, conflicts_with = "list")]
    pub no_wait: bool,
    #[command(flatten)]
    pub data: DataFolder,
    /// Prints JSON for programs, one object per line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Unpair {
    /// The browser: its instance id, or its name in `tabwire pair --list`.
    #[arg(value_name = "INSTANCE|NAME", required_unless_present = "all", conflicts_with = "all")]
    pub browser: Option<String>,
    /// All of them.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub data: DataFolder,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct NativeHost {
    /// The extension that asks, as the browser says it.
    #[arg(value_name = "chrome-extension://ID/")]
    pub origin: String,
    #[command(flatten)]
    pub data: DataFolder,
    /// Which start of ours the browser belongs to.
    #[arg(long, value_name = "ID")]
    pub launch: Option<String>,
    /// What the browser's session shall be called.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}
