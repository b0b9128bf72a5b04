//! The edge's settings. Every field is a flag, an environment variable and a key of the file.

use std::{net::IpAddr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the hub listens and whom it lets in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The one port; 0 takes any free one. Needs a restart to change.
    pub port: u16,
    /// Addresses to listen on. Needs a restart to change.
    #[schemars(with = "Vec<String>")]
    pub bind: Vec<IpAddr>,
    /// Further names under which the hub may be addressed, such as `hub.example:8765`.
    pub allow_host: Vec<String>,
    /// Further web origins that may connect, exact, such as `https://app.example`;
    /// `chrome-extension://*` lets any extension speak the dialects of other projects.
    pub allow_origin: Vec<String>,
    /// Which web apps of this machine may connect: `loopback` (all of them), `ask` (each waits until
    /// you have allowed its origin, with `tabwire sessions allow` or in the extension), or a list
    /// of origins such as `http://localhost:5173`. The hub's own pages always may.
    pub app_origins: Vec<String>,
    /// Ports for unmodified clients of other projects, on loopback: hello3d, moonsurf,
    /// mcp_browser, or all; `hello3d=4001` takes another port. Needs a restart to change.
    pub compat: Vec<String>,
    /// Ports that `moonsurf` clients get one by one; when none is free, they share one.
    pub compat_sockets: String,
    /// Asks nobody on this machine for a token, so that every program and every browser extension
    /// here can use the hub. On loopback only.
    pub open: bool,
    /// Does nothing any more: every client shows a token.
    pub require_token: bool,
    /// Let browsers and apps connect from other machines; they need a token then.
    pub remote_browsers: bool,
    /// Connections at the same time; one more is turned away.
    pub connections_max: usize,
    /// How long a request's head may take.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub header_timeout: Duration,
    /// How long a request's body may take. For `/mcp` it needs a restart to change.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub body_timeout: Duration,
    /// Largest request body.
    pub body_bytes: usize,
    /// How long a browser may take to say hello.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub hello_timeout: Duration,
    /// Largest message before hello is accepted.
    pub message_bytes_before_hello: usize,
    /// Largest message after that.
    pub message_bytes: usize,
    /// Most fragments of one message.
    pub fragments_max: usize,
    /// How long a browser, or a client over HTTP, may read nothing of what it is sent before its
    /// connection is closed.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub write_timeout: Duration,
    /// Asks a silent browser after this long; empty means what its protocol says.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub ping_after: Option<Duration>,
    /// Gives a silent browser up after this long more; empty means what its protocol says.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "Option<String>")]
    pub dead_after: Option<Duration>,
    /// How long requests under way may take to end when the hub is told to stop; what has not ended
    /// by then is answered with `outcome_unknown`.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub drain_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 8765,
            bind: vec!["127.0.0.1".parse(), "::1".parse()]
                .into_iter()
                .map(|address| address.expect("a constant that is an address"))
                .collect(),
            allow_host: Vec::new(),
            allow_origin: Vec::new(),
            app_origins: vec!["loopback".to_owned()],
            compat: Vec::new(),
            compat_sockets: "3301-3399".to_owned(),
            open: false,
            require_token: false,
            remote_browsers: false,
            connections_max: 16_384,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            body_bytes: 4 << 20,
            hello_timeout: Duration::from_secs(5),
            message_bytes_before_hello: 1 << 20,
            message_bytes: 16 << 20,
            fragments_max: 1024,
            write_timeout: Duration::from_secs(10),
            ping_after: None,
            dead_after: None,
            drain_timeout: Duration::from_secs(4),
        }
    }
}

impl Config {
    /// Returns whether the hub can be reached from this machine only.
    pub fn is_loopback_only(&self) -> bool {
        self.bind.iter().all(IpAddr::is_loopback)
    }
}
