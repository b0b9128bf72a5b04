//! The options of `install`, `uninstall` and `doctor`.

use clap::{Args, builder::PossibleValuesParser};
use machine::install::{BROWSERS, CLIENTS};

use super::DataFolder;

#[derive(Args)]
pub struct Install {
    /// Only for this AI client, found or not; may be repeated [default: all that are found].
    #[arg(long = "client", value_name = "NAME", value_parser = clients())]
    pub clients: Vec<String>,
    /// Leaves the configurations of AI clients alone.
    #[arg(long, conflicts_with = "clients")]
    pub no_clients: bool,
    /// Only for this browser, found or not; may be repeated [default: all that are found].
    #[arg(long = "browser", value_name = "NAME", value_parser = browsers())]
    pub browsers: Vec<String>,
    /// Does not unpack the extension.
    #[arg(long)]
    pub no_extension: bool,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub data: DataFolder,
}

#[derive(Args)]
pub struct Uninstall {
    /// Only from this AI client; may be repeated [default: everything].
    #[arg(long = "client", value_name = "NAME", value_parser = clients())]
    pub clients: Vec<String>,
    /// Removes what the hub keeps as well: sessions, audit, tokens, pairing.
    #[arg(long, conflicts_with = "clients")]
    pub data_too: bool,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub data: DataFolder,
}

/// How changes are made.
#[derive(Args, Clone)]
pub struct How {
    /// Shows what would be changed, and changes nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Does not ask.
    #[arg(long, short)]
    pub yes: bool,
    /// Prints JSON for programs; needs --yes or --dry-run where something would be changed.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Doctor {
    /// The port that a hub would take [default: as the settings say].
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub data: DataFolder,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

fn clients() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name))
}

fn browsers() -> PossibleValuesParser {
    PossibleValuesParser::new(BROWSERS.iter().map(|browser| browser.name))
}
