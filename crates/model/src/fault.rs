//! The one error that reaches a reader, and the table of all codes.
//!
//! Inside a room errors are for branching; at the edge they are for reading, by people and by
//! models. A fault says what happened, whether trying again can help, and what to try next.
//! The table is repeated in `docs/protocol.md`; a test compares the two.

use std::fmt;

use crate::{json::shorten, page_text};

/// Characters of an executor's message, and of its code.
const TOLD: (usize, usize) = (2000, 64);

/// Codes of ours that executors use too.
static OF_EXECUTORS: [Code; 9] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::UnknownTool,
    Code::Unsupported,
    Code::OutcomeUnknown,
    Code::TimedOut,
    Code::Cancelled,
    Code::ToolFailed,
    Code::TooLarge,
];

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Nothing happened; the same request may be sent again at once.
    Now,
    /// The same request may work later.
    Later,
    /// The same request fails again; change it first.
    Never,
    /// It may have happened: look before repeating it.
    Check,
}

impl Retry {
    /// Returns the word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Later => "later",
            Self::Never => "never",
            Self::Check => "check",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $retry:ident;)*) => {
        /// What went wrong, for branching.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// The executor's own code, such as `ELEMENT_NOT_FOUND`, passed on as it came.
            Foreign(String),
        }

        impl Code {
            /// Our own codes, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// Returns the word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Foreign(text) => text,
                }
            }

            /// Returns whether trying again can help, as a rule.
            pub fn retry(&self) -> Retry {
                match self {
                    $(Self::$name => Retry::$retry,)*
                    Self::Foreign(_) => Retry::Never,
                }
            }
        }
    };
}

codes! {
    /// An argument is missing or wrong.
    InvalidArgument = "invalid_argument", Never;
    /// Nothing at this address.
    NotFound = "not_found", Never;
    /// No session has this id or name.
    UnknownSession = "unknown_session", Never;
    /// Several sessions fit and none was named.
    AmbiguousSession = "ambiguous_session", Never;
    /// No session offers the tool.
    UnknownTool = "unknown_tool", Never;
    /// The session's browser or app cannot do this.
    Unsupported = "unsupported", Never;
    /// A tab must be named, or the named one does not exist.
    UnknownTab = "unknown_tab", Never;
    /// The tab belongs to another client, or the user took it back.
    TabOccupied = "tab_occupied", Later;
    /// The session exists, its browser is away.
    NotConnected = "not_connected", Later;
    /// The browser went away before the call was written to its socket.
    NotDelivered = "not_delivered", Now;
    /// The browser went away after the call was written to its socket.
    OutcomeUnknown = "outcome_unknown", Check;
    /// No answer before the deadline.
    TimedOut = "timed_out", Check;
    /// The hub runs but has not answered before the deadline.
    HubUnresponsive = "hub_unresponsive", Check;
    /// The client withdrew the call.
    Cancelled = "cancelled", Check;
    /// A limit on work under way was reached.
    Busy = "busy", Later;
    /// The browser answered with something that is no answer.
    MalformedReply = "malformed_reply", Check;
    /// The tool ran and failed, and gave no code of its own.
    ToolFailed = "tool_failed", Never;
    /// No state is known and none could be had.
    StateUnavailable = "state_unavailable", Later;
    /// A stated limit on size or number was exceeded.
    TooLarge = "too_large", Never;
    /// The request is not allowed from there, or not with these credentials.
    Refused = "refused", Never;
    /// A token is required, or the one given is not known.
    Unauthorized = "unauthorized", Never;
    /// The hub is shutting down.
    ShuttingDown = "shutting_down", Later;
    /// A fault in Tabwire itself.
    Internal = "internal", Later;
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// An error for a reader outside: code, advice, and words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct Fault {
    /// For branching; one of the table.
    pub code: Code,
    /// Whether trying again can help.
    pub retry: Retry,
    /// What happened and which limit was hit. Lower case, no final stop.
    pub message: String,
    /// What to try next.
    pub hint: Option<String>,
}

impl Fault {
    /// Makes a fault with the code's usual retry advice.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { retry: code.retry(), code, message: message.into(), hint: None }
    }

    /// Makes a fault of what an executor told. Its message quotes words of pages, so all of it is
    /// written as such. Its code is a word, and of ours only one that an executor can know of:
    /// nobody but the hub says that nothing was sent.
    pub fn told(code: &str, message: &str) -> Self {
        let is_word = (1..=TOLD.1).contains(&code.len()) && page_text::word(code) == code;
        let retry = match Code::ALL.iter().find(|known| known.as_str() == code) {
            Some(known) if OF_EXECUTORS.contains(known) => Some(known.retry()),
            None if is_word => Some(Retry::Never),
            _ => None,
        };
        let (code, retry) = match retry {
            Some(retry) => (Code::Foreign(code.to_owned()), retry),
            None => (Code::ToolFailed, Code::ToolFailed.retry()),
        };
        Self { retry, ..Self::new(code, page_text::exact(&shorten(message, TOLD.0))) }
    }

    /// Makes a fault of an answer that cannot be read. What is wrong with it may quote words of
    /// pages, so all of that is written as such.
    pub fn malformed(what: &str, why: impl fmt::Display) -> Self {
        let why = shorten(&why.to_string(), TOLD.0);
        let message = format!("{what} is malformed: {}", page_text::exact(&why));
        Self::new(Code::MalformedReply, message)
    }

    /// Adds what to try next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: (&str, Retry)) {
        let fault = Fault::told(code, "why");
        assert_eq!((fault.code.as_str(), fault.retry), expected, "{code:?}");
    }

    #[test]
    fn an_executor_says_its_own_codes_and_those_of_ours_that_it_can_know_of() {
        check("ELEMENT_NOT_FOUND", ("ELEMENT_NOT_FOUND", Retry::Never));
        check("unknown_tool", ("unknown_tool", Retry::Never));
        check("outcome_unknown", ("outcome_unknown", Retry::Check));
        let long = "x".repeat(65);
        for other in ["", "not_delivered", "busy", "x, retry: now", "[x]", "a\nb", &long] {
            check(other, ("tool_failed", Retry::Never));
        }
    }
}
