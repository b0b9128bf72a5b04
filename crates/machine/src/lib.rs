//! One hub per machine: how programs of the same user find it and talk to it.
//!
//! - [`folder`]: the private folder in which everything lies;
//! - [`lock`]: who is the hub, and its term; [`record`]: what it says about itself;
//! - [`private`]: the socket that only its owner can use, and the hello on it;
//! - [`join`]: joining the hub, or starting one; [`log`]: what that one has to say;
//! - [`relay`]: what `tabwire stdio` does: a client's lines, whichever hub is there;
//! - [`peer_watch`]: how the hub notices that a relay is gone;
//! - [`control`]: status and stop; [`process`]: proof of who a process is;
//! - [`idle`]: when a hub in the background may end;
//! - [`discovery`]: the file that other tools look for;
//! - [`native_host`]: how a browser's extension asks where the hub is;
//! - [`install`]: what browsers and AI clients must know of us; [`doctor`]: whether they do.
//!
//! It knows no sessions, and of MCP only what a relay must.

pub mod control;
pub mod discovery;
pub mod doctor;
#[cfg(test)]
mod fake_hub;
pub mod folder;
pub mod idle;
pub mod install;
pub mod join;
pub mod lock;
pub mod log;
pub mod native_host;
pub mod peer_watch;
pub mod private;
pub mod process;
pub mod record;
pub mod relay;
#[cfg(test)]
mod test_place;

pub use control::{ControlError, Status, Stopped, status, stop};
pub use discovery::{DiscoveryError, DiscoveryFile};
pub use folder::FolderError;
pub use idle::{Guest, IdleExit};
pub use join::{JoinError, Joiner, StartError, StartHub};
pub use lock::{Lease, LeaseError};
pub use peer_watch::peer_gone;
pub use private::{
    Arrival, JoinHello, JoinWelcome, Joined, Membership, Parting, PrivateSocket, PrivateStream,
    ReachError, SocketError,
};
pub use record::HubRecord;
pub use relay::{RelayError, relay};
