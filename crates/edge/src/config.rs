//! The edge's settings. Every field is a flag, an environment variable and a key of the file.

use std::{net::IpAddr, time::Duration};

model::settings! {
    /// Where the hub listens and whom it lets in.
    pub struct Config {
        /// The one port; 0 takes any free one. Needs a restart to change.
        port: u16 = 8765,
        /// Addresses to listen on. Needs a restart to change.
        #[schemars(with = "Vec<String>")]
        bind: Vec<IpAddr> = vec!["127.0.0.1".parse(), "::1".parse()]
                    .into_iter()
                    .map(|address| address.expect("a constant that is an address"))
                    .collect(),
        /// Further names under which the hub may be addressed, such as `hub.example:8765`.
        allow_host: Vec<String> = Vec::new(),
        /// Further web origins that may connect, exact, such as `https://app.example`;
        /// `chrome-extension://*` lets any extension speak the dialects of other projects.
        allow_origin: Vec<String> = Vec::new(),
        /// Which web apps of this machine may connect: `loopback` (all of them), `ask` (each waits until
        /// you have allowed its origin, with `tabwire sessions allow` or in the extension), or a list
        /// of origins such as `http://localhost:5173`. The hub's own pages always may.
        app_origins: Vec<String> = vec!["loopback".to_owned()],
        /// Ports for unmodified clients of other projects, on loopback: hello3d, moonsurf,
        /// mcp_browser, or all; `hello3d=4001` takes another port. Needs a restart to change.
        compat: Vec<String> = Vec::new(),
        /// Ports that `moonsurf` clients get one by one; when none is free, they share one.
        compat_sockets: String = "3301-3399".to_owned(),
        /// Asks nobody on this machine for a token, so that every program and every browser extension
        /// here can use the hub. On loopback only.
        open: bool = false,
        /// Does nothing any more: every client shows a token.
        require_token: bool = false,
        /// Let browsers and apps connect from other machines; they need a token then.
        remote_browsers: bool = false,
        /// Connections at the same time; one more is turned away.
        connections_max: usize = 16_384,
        /// How long a request's head may take.
        header_timeout: Duration = Duration::from_secs(10),
        /// How long a request's body may take. For `/mcp` it needs a restart to change.
        body_timeout: Duration = Duration::from_secs(30),
        /// Largest request body.
        body_bytes: usize = 4 << 20,
        /// How long a browser may take to say hello.
        hello_timeout: Duration = Duration::from_secs(5),
        /// Largest message before hello is accepted.
        message_bytes_before_hello: usize = 1 << 20,
        /// Largest message after that.
        message_bytes: usize = 16 << 20,
        /// Most fragments of one message.
        fragments_max: usize = 1024,
        /// How long a browser, or a client over HTTP, may read nothing of what it is sent before its
        /// connection is closed.
        write_timeout: Duration = Duration::from_secs(10),
        /// Asks a silent browser after this long; empty means what its protocol says.
        ping_after: Option<Duration> = None,
        /// Gives a silent browser up after this long more; empty means what its protocol says.
        dead_after: Option<Duration> = None,
        /// How long requests under way may take to end when the hub is told to stop; what has not ended
        /// by then is answered with `outcome_unknown`.
        drain_timeout: Duration = Duration::from_secs(4),
    }
}

impl Config {
    /// Returns whether the hub can be reached from this machine only.
    pub fn is_loopback_only(&self) -> bool {
        self.bind.iter().all(IpAddr::is_loopback)
    }
}
