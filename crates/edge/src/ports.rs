//! The ports of the edge: the one port, and those for clients of other projects.
//!
//! They are opened before anything is built on them, so that the edge knows its addresses from the
//! beginning; [`crate::Edge::serve`] then accepts on them. An extra port that is taken costs only
//! its dialect.

use dialect::DialectInfo;
use tokio::net::TcpListener;

use crate::{
    Config,
    compat::{self, Wanted},
    listener::{BindError, bind},
};

/// Where the edge listens.
#[derive(Default)]
pub struct Ports {
    /// The one port.
    pub main: u16,
    /// The extra ones that were wanted.
    pub compat: Vec<CompatPort>,
}

/// What became of a wanted port.
pub struct CompatPort {
    /// Which dialect.
    pub info: &'static DialectInfo,
    /// Where it listens, or should.
    pub port: u16,
    /// Why it does not.
    pub problem: Option<String>,
}

/// The open sockets of [`Ports`].
pub struct Sockets {
    pub(crate) main: Vec<TcpListener>,
    pub(crate) compat: Vec<(&'static DialectInfo, Vec<TcpListener>)>,
}

impl Ports {
    /// Opens the ports of the settings.
    pub fn open(config: &Config) -> Result<(Self, Sockets), BindError> {
        let main = bind(&config.bind, config.port)?;
        let mut ports = Self { main: port_of(&main, config.port), compat: Vec::new() };
        let mut sockets = Sockets { main, compat: Vec::new() };
        // What is wrong with the words was refused when the settings were read.
        for Wanted { info, port } in compat::parse(&config.compat).unwrap_or_default() {
            ports.compat.push(match compat::bind(port) {
                Ok(listeners) => {
                    let port = port_of(&listeners, port);
                    tracing::info!(dialect = info.name, port, "listening for {}", info.serves);
                    sockets.compat.push((info, listeners));
                    CompatPort { info, port, problem: None }
                }
                Err(error) => {
                    let why = match error {
                        BindError::InUse { .. } => {
                            format!("port {port} is in use by another program; stop it")
                        }
                        error => error.to_string(),
                    };
                    let problem = format!(
                        "{} clients cannot connect: {why}, or choose another with --compat {}=PORT",
                        info.name, info.name
                    );
                    tracing::error!(dialect = info.name, port, "{problem}");
                    CompatPort { info, port, problem: Some(problem) }
                }
            });
        }
        Ok((ports, sockets))
    }

    /// Returns the extra ports that are open.
    pub fn open_compat(&self) -> impl Iterator<Item = &CompatPort> {
        self.compat.iter().filter(|port| port.problem.is_none())
    }
}

fn port_of(listeners: &[TcpListener], wanted: u16) -> u16 {
    let bound = listeners.first().and_then(|listener| listener.local_addr().ok());
    bound.map_or(wanted, |bound| bound.port())
}
