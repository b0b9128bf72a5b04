//! Downloads of driven tabs.

use model::page_text::{self, address, quoted_exact, word};
use schemars::JsonSchema;
use serde::Deserialize;

use super::CommandResult;

/// A download.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DownloadReport {
    /// By which it can be waited for and read.
    pub id: u64,
    /// `in_progress`, `complete` or `interrupted`.
    pub state: String,
    pub error: Option<String>,
    /// Where it is on the browser's machine; empty before it has a place.
    pub path: String,
    pub filename: String,
    pub url: String,
    pub bytes: Option<u64>,
    /// How much there will be, as far as that is known.
    pub total_bytes: Option<u64>,
    pub mime_type: Option<String>,
}

/// Downloads, the newest first.
#[derive(Deserialize, JsonSchema)]
pub struct DownloadList {
    pub downloads: Vec<DownloadReport>,
    pub older: Option<u64>,
}

impl CommandResult for DownloadReport {
    fn words(&self) -> Option<String> {
        let Self { id, state, error, path, url, bytes, total_bytes, .. } = self;
        let bytes = bytes.unwrap_or_default();
        let size = match total_bytes {
            Some(total) if *total != bytes => format!("{bytes} of {total} bytes"),
            _ => format!("{bytes} bytes"),
        };
        let state = word(state);
        let why = error.as_ref().map(|error| format!(" ({})", page_text::line(error)));
        let why = why.unwrap_or_default();
        let path = if path.is_empty() { "no file yet".into() } else { quoted_exact(path) };
        Some(format!("{id} {state}{why}: {path}, {size}, from {}", address(url)))
    }
}

impl CommandResult for DownloadList {
    fn words(&self) -> Option<String> {
        let mut lines: Vec<_> = self.downloads.iter().filter_map(DownloadReport::words).collect();
        if lines.is_empty() {
            lines.push("no driven tab has downloaded such".to_owned());
        }
        lines.extend(self.older.map(|older| format!("({older} older ones are not shown)")));
        Some(lines.join("\n"))
    }
}
