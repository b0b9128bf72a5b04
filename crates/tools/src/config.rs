//! The settings of this room. Every field is a flag, an environment variable and a key of the file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the tools may do on this machine. All of it can change while the hub runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// Further folders whose files may be uploaded, with all that is below them, such as
    /// `/srv/reports`. They count for every client on this machine. A client's working folder and
    /// the downloads folder count without this.
    #[schemars(with = "Vec<String>")]
    pub upload_roots: Vec<PathBuf>,
}
