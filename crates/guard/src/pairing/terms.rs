//! The words for pairings: who is paired, what became of a code, why somebody is refused.
//!
//! None of them has a key in it, and all but [`Offer`] may be printed.

use model::{CloseReason, Closing, InstanceId};
use serde::{Deserialize, Serialize};

use super::{ATTEMPTS, INSTANCES_MAX, PairingError};

/// How a browser was paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By the native messaging host.
    Native,
    /// By a code that a person has carried over.
    Code,
}

/// One paired browser, without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paired {
    /// The browser, by its own name for itself.
    pub instance: InstanceId,
    /// What people call it.
    pub name: Option<String>,
    /// Which start of ours it belongs to.
    pub launch: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub paired_at: u64,
    /// What let it in: the native host or a code.
    pub by: By,
}

/// A code for people, and by what to ask after it.
#[derive(Clone)]
pub struct Offer {
    /// As people read it. A secret.
    pub code: String,
    /// Names it in [`Pairings::code_state`].
    pub id: String,
    /// In milliseconds since 1970.
    pub expires_at: u64,
}

/// What has become of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeState {
    /// It can still be used.
    Waiting,
    /// This browser has used it.
    Used(Paired),
    /// Its time is over, or another code has taken its place.
    Over,
}

/// The browsers that are to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Every paired browser.
    All,
    /// Those with one of these ids; unknown ids are passed over.
    Instances(Vec<InstanceId>),
    /// Whoever belongs to this start of ours.
    Launch(String),
}

/// Why a browser is not let in, or gets no key. Never shows a key.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It has no key.
    #[error(
        "this browser is not paired; run `tabwire pair`, or install the native messaging host \
         with `tabwire install`"
    )]
    Unknown,
    /// It has a code, and none is waited for.
    #[error("no pairing code is waiting, or it is used up; run `tabwire pair` for a new one")]
    NoCode,
    /// It has tried the code too often.
    #[error("this browser has tried the code {ATTEMPTS} times; run `tabwire pair` for a new one")]
    TriedTooOften,
    /// It knows neither key nor code.
    #[error("the proof is wrong")]
    BadProof,
    /// It does not say where it dialled.
    #[error("this extension is older than the hub and cannot prove itself to it; update it")]
    Outdated,
    /// It dialled somebody else, who passes on what both say.
    #[error(
        "the extension dialled {dialled}, and this hub is at {own}: somebody stands between them. \
         If that is a proxy of yours, have it pass the Host header on, and start the hub with \
         --allow-host {dialled}"
    )]
    Elsewhere {
        /// What the extension says.
        dialled: String,
        /// What the hub knows.
        own: String,
    },
    /// There are too many.
    #[error("{INSTANCES_MAX} browsers are paired already; forget one with `tabwire unpair`")]
    Full,
    /// Its user has switched this off.
    #[error("{}", .0.as_deref().unwrap_or("unpaired by `tabwire unpair`; run `tabwire pair` to allow it again"))]
    Off(Option<String>),
    /// What is kept cannot be read.
    #[error(transparent)]
    Trouble(#[from] PairingError),
}

impl Refusal {
    /// Returns how the peer's socket is closed.
    pub fn closing(&self) -> Closing {
        match self {
            Self::BadProof => Closing::new(CloseReason::BadProof, self.to_string()),
            // The file's place is for the log.
            Self::Trouble(_) => {
                Closing::new(CloseReason::Internal, "the hub cannot read its pairings; see its log")
            }
            _ => Closing::new(CloseReason::NotPaired, self.to_string()),
        }
    }
}
