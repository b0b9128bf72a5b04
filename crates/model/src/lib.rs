//! The nouns that every room speaks: plain data without I/O.
//!
//! In reading order:
//! - [`id`]: who and what is meant (sessions, instances, calls, tabs, clients);
//! - [`position`]: a place in a message log;
//! - [`json`]: payloads that are carried and never looked into; [`shape`]: how deep and how large they
//!   are;
//! - [`message`]: what browsers say and what they are told;
//! - [`call`]: one piece of work on its way, and how it can end;
//! - [`fault`]: the one error that reaches a reader, with the table of all codes;
//! - [`close`]: why a socket is closed, and whether coming back makes sense;
//! - [`page_text`]: words of pages and peers, which must not pass for ours;
//! - [`record`]: the only part that is written down, for stores and other hubs.
//!
//! Nothing here knows a wire format: that is the dialects' job.

pub mod call;
pub mod close;
pub mod fault;
pub mod id;
pub mod json;
pub mod message;
pub mod page_text;
pub mod position;
pub mod record;
pub mod settings;
pub mod shape;

pub use call::{CallProgress, Effect, Ending, Reply, Target, Work};
pub use close::{CloseReason, Closing};
pub use fault::{Code, Fault, Retry};
pub use id::{CallId, ClientId, InstanceId, InvalidId, SessionId, TabId};
pub use json::Json;
pub use message::{
    Call, Carriage, Change, ExecutorStatus, FromBrowser, Greeting, Hello, Kind, Level,
    NumberedChange, PeerTraits, RefusedResume, ReplayPage, ReplayRequest, StateBody, StateUpdate,
    Tab, ToBrowser, ToolSpec, Welcome,
};
pub use position::{Epoch, Position, Sequence};
