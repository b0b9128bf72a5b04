//! Why a socket is closed, as a contract with the peer.
//!
//! The number's range tells a client whether to come back: 1001, 1012, 1013 and 4000–4499
//! mean "reconnect", everything else means "do not". The table is repeated in
//! `docs/protocol.md`; a test compares the two.

use crate::json::shorten;

/// Characters of what is said to a peer that is sent away.
const CLOSING_WORDS: usize = 500;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The reasons for which the hub closes a socket.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CloseReason {
            $($(#[$doc])* $name,)*
        }

        impl CloseReason {
            /// All of them, in the order of the documentation.
            pub const ALL: &[CloseReason] = &[$(CloseReason::$name),*];

            /// Returns the number in the close frame.
            pub fn code(self) -> u16 {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns the word in `bye`, logs and metrics.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    /// Either side is done.
    Normal = 1000, "normal";
    /// The frame itself breaks the WebSocket protocol.
    BadFrame = 1002, "bad_frame";
    /// Text that is not UTF-8.
    BadText = 1007, "bad_text";
    /// A message made of too many pieces.
    TooManyFragments = 1008, "too_many_fragments";
    /// A message over the size limit.
    TooLarge = 1009, "too_large";
    /// The hub restarts or stops.
    Restarting = 1012, "restarting";
    /// No room for another connection or session.
    TooMany = 1013, "too_many";
    /// The instance was not registered before it connected.
    UnknownInstance = 4001, "unknown_instance";
    /// A frame that is not the JSON it should be.
    Malformed = 4400, "malformed";
    /// The hub knows no key of this peer.
    NotPaired = 4401, "not_paired";
    /// The user has not let pages of this origin in yet.
    NotAllowedYet = 4402, "not_allowed_yet";
    /// The peer's proof is wrong.
    BadProof = 4403, "bad_proof";
    /// No `hello` in time.
    HelloTimeout = 4407, "hello_timeout";
    /// Nothing was heard in time.
    Unresponsive = 4408, "unresponsive";
    /// Another live socket holds this instance id.
    InstanceInUse = 4409, "instance_in_use";
    /// The peer did not read what was sent.
    SlowConsumer = 4413, "slow_consumer";
    /// A fault in Tabwire itself.
    Internal = 4499, "internal";
    /// A message type that does not exist, or one that is out of turn.
    ProtocolError = 4500, "protocol_error";
    /// The peer may not have this session.
    Refused = 4503, "refused";
    /// The same peer came back on another socket.
    Superseded = 4509, "superseded";
    /// More tools or tabs, or a larger state, than the hub keeps.
    LimitExceeded = 4513, "limit_exceeded";
}

impl CloseReason {
    /// Returns whether the peer should connect again.
    pub fn reconnect(self) -> bool {
        matches!(self.code(), 1001 | 1012 | 1013 | 4000..=4499)
    }
}

/// A close with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// The reason for programs.
    pub reason: CloseReason,
    /// The reason for people; cut to 120 bytes in the close frame.
    pub message: String,
}

impl Closing {
    /// Makes a close. Long words, which are quoted from the peer, are cut.
    pub fn new(reason: CloseReason, message: impl Into<String>) -> Self {
        Self { reason, message: shorten(&message.into(), CLOSING_WORDS) }
    }
}
