//! The AI clients that we know: where their configuration lies, and how they are recognised.
//!
//! A client is one line in [`CLIENTS`]. Places are those of the clients' own documentation
//! (November 2026); nothing is looked up here.

use std::path::PathBuf;

use super::{
    entry::Format,
    surroundings::{Surroundings, System},
};

/// An AI client that starts its servers from a file.
#[derive(Debug)]
pub struct Client {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The format of its file.
    pub format: Format,
    /// The file with the servers of this user.
    pub file: fn(&Surroundings) -> PathBuf,
    /// Files or folders of which one is there if the client is.
    pub signs: fn(&Surroundings) -> Vec<PathBuf>,
}

/// Every client that `install` knows.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        format: Format::Json { servers: "mcpServers", typed: true },
        file: |here| here.claude.as_ref().unwrap_or(&here.home).join(".claude.json"),
        signs: |here| match &here.claude {
            Some(folder) => vec![folder.clone()],
            None => vec![here.home.join(".claude"), here.home.join(".claude.json")],
        },
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json { servers: "mcpServers", typed: false },
        file: |here| here.settings().join("Claude/claude_desktop_config.json"),
        signs: |here| vec![here.settings().join("Claude")],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        format: Format::Json { servers: "mcpServers", typed: false },
        file: |here| here.home.join(".cursor/mcp.json"),
        signs: |here| vec![here.home.join(".cursor")],
    },
    Client {
        name: "vscode",
        title: "VS Code",
        format: Format::Json { servers: "servers", typed: true },
        file: |here| here.settings().join("Code/User/mcp.json"),
        signs: |here| vec![here.settings().join("Code")],
    },
    Client {
        name: "codex",
        title: "Codex",
        format: Format::Toml,
        file: |here| codex(here).join("config.toml"),
        signs: |here| vec![codex(here)],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        format: Format::Json { servers: "mcpServers", typed: false },
        file: |here| gemini(here).join("settings.json"),
        signs: |here| vec![gemini(here)],
    },
];

impl Client {
    /// Returns whether this user has it.
    pub fn is_here(&self, here: &Surroundings) -> bool {
        here.system != System::Windows && (self.signs)(here).iter().any(|sign| sign.exists())
    }
}

/// Returns the named clients, or those that are here if none is named.
pub fn chosen(here: &Surroundings, names: &[String]) -> Vec<&'static Client> {
    let wanted = |client: &&Client| match names.is_empty() {
        true => client.is_here(here),
        false => names.iter().any(|name| name == client.name),
    };
    CLIENTS.iter().filter(wanted).collect()
}

fn codex(here: &Surroundings) -> PathBuf {
    here.codex.clone().unwrap_or_else(|| here.home.join(".codex"))
}

fn gemini(here: &Surroundings) -> PathBuf {
    here.gemini.as_ref().unwrap_or(&here.home).join(".gemini")
}
