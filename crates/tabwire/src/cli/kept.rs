//! The options of `store` and `audit`: what a hub keeps.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Target;

#[derive(Args)]
pub struct Store {
    #[command(subcommand)]
    pub action: StoreAction,
    /// The folder of the hub's data.
    #[arg(long, env = "TABWIRE_DATA", value_name = "FOLDER", global = true)]
    pub data: Option<PathBuf>,
    /// Prints JSON for programs.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum StoreAction {
    /// Looks through the file without changing it; exit code 1 means damage.
    #[command(after_help = "Example:\n  tabwire store check --json")]
    Check,
    /// Makes the file as small as it can be.
    #[command(after_help = "Example:\n  tabwire store compact")]
    Compact,
    /// Writes everything to standard output, one JSON object per line, without secrets.
    #[command(after_help = "Example:\n  tabwire store export > kept.jsonl")]
    Export,
}

#[derive(Args)]
pub struct Audit {
    #[command(subcommand)]
    pub action: AuditAction,
}

#[derive(Subcommand)]
pub enum AuditAction {
    /// Shows the newest lines.
    #[command(after_help = "Example:\n  tabwire audit tail --lines 50")]
    Tail(AuditTail),
}

#[derive(Args)]
pub struct AuditTail {
    /// How many lines.
    #[arg(long, short = 'n', default_value_t = 20, value_name = "NUMBER")]
    pub lines: usize,
    #[command(flatten)]
    pub target: Target,
}
