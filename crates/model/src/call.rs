//! One piece of work on its way to a browser, and the ways in which it can end.
//!
//! Every request that the hub makes of a browser is such a call, state queries and tab
//! commands included, so that all of them share one rule: exactly one end.

use crate::{Code, Fault, Json, ToolSpec};

/// Whose tool is meant; names that pages declare never reach our namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A command of the browser itself.
    Command,
    /// A tool of the connected app.
    App,
    /// A tool that the page in a tab declares.
    Page,
}

/// Whether a call may be repeated and may pass others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing: passes by waiting calls, may be repeated.
    Read,
    /// Changes something: one at a time per tab, never repeated blindly.
    Act,
    /// Adds something, such as a tab: waits for nobody, never repeated blindly.
    Add,
}

/// What is asked of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Run a tool or command.
    Tool {
        /// Whether a command, the app's tool or a page's is meant.
        target: Target,
        /// The tool's name, as its declarer has it.
        name: String,
        /// Its arguments, carried as they came.
        args: Json,
    },
    /// Tell the current state.
    State {
        /// The page must look, not answer from a cache of its own.
        force_refresh: bool,
    },
    /// Opens a tab; the reply names it.
    OpenTab {
        /// The address to load.
        url: String,
        /// Whether to bring it to the front.
        focus: bool,
    },
    /// Close the call's tab.
    CloseTab,
    /// Bring the call's tab to the front.
    FocusTab,
    /// List the tools that the page in the call's tab declares.
    DiscoverTools,
}

impl Work {
    /// Returns the size of what has to be carried, for queue limits.
    pub fn size(&self) -> usize {
        match self {
            Self::Tool { name, args, .. } => name.len() + args.size(),
            Self::OpenTab { url, .. } => url.len(),
            Self::State { .. } | Self::CloseTab | Self::FocusTab | Self::DiscoverTools => 0,
        }
    }
}

/// What a browser answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A tool's or command's result.
    Result(Json),
    /// The state, with the page's own version where it has one.
    State(crate::StateUpdate),
    /// The tools of a page.
    Tools(Vec<ToolSpec>),
}

/// How far a running call is.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    /// Grows with each report.
    pub progress: f64,
    /// What `progress` grows towards, where known.
    pub total: Option<f64>,
    /// What is being done, for people.
    pub message: Option<String>,
}

/// The ends of a call. Each call has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The browser answered with a result.
    Done,
    /// The browser answered with an error, or with something that is no answer.
    Failed,
    /// No answer before the deadline.
    TimedOut,
    /// The client withdrew it.
    Cancelled,
    /// Never written to a socket: safe to repeat.
    NotDelivered,
    /// Written to a socket that then died: may or may not have happened.
    OutcomeUnknown,
    /// Refused before it was accepted: too many are under way.
    Busy,
}

impl Ending {
    /// Returns the word for logs, metrics and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NotDelivered => "not_delivered",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Busy => "busy",
        }
    }

    /// Returns how a call ended, read from what its caller was told.
    pub fn of(outcome: &Result<Reply, Fault>) -> Self {
        match outcome {
            Ok(_) => Self::Done,
            Err(fault) => match fault.code {
                Code::TimedOut => Self::TimedOut,
                Code::Cancelled => Self::Cancelled,
                Code::NotDelivered | Code::NotConnected => Self::NotDelivered,
                Code::OutcomeUnknown => Self::OutcomeUnknown,
                Code::Busy => Self::Busy,
                _ => Self::Failed,
            },
        }
    }
}
