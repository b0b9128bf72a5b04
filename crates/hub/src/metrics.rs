//! What the hub counts, in the names under which it is published.
//!
//! Labels are bounded: of tool names only the first [`TOOL_LABELS`] are told apart, because apps
//! choose them.

use std::{collections::HashSet, sync::Arc, time::Duration};

use model::{CloseReason, Ending, RefusedResume};
use parking_lot::Mutex;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
};

use crate::calls::Stray;

/// Tool names that get a label of their own; all others are counted as `other`.
pub const TOOL_LABELS: usize = 200;

/// A call's labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct CallLabels {
    tool: String,
    outcome: &'static str,
}

/// One bounded word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reason {
    reason: &'static str,
}

/// Makes a struct of metrics: each field with the name under which it is published, and what it is
/// when that is not the default. Its comment is the help that is published with it. Fields after
/// `beside` are published by nobody.
#[macro_export]
macro_rules! metrics {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $(
                #[doc = $help:literal]
                $visible:vis $field:ident: $kind:ty = $published:literal $(of $made:expr)?,
            )*
            $(beside { $($other:ident: $other_kind:ty,)* })?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone)]
        pub struct $name {
            $(#[doc = $help] $visible $field: $kind,)*
            $($($other: $other_kind,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::metrics!(@ $($made)?),)*
                    $($($other: Default::default(),)*)?
                }
            }
        }

        impl $name {
            /// Publishes all of them.
            pub fn register(&self, to: &mut prometheus_client::registry::Registry) {
                $(
                    let help = $help.trim().trim_end_matches('.');
                    to.register($published, help, self.$field.clone());
                )*
            }
        }
    };
    (@ $made:expr) => { $made };
    (@) => { Default::default() };
}

metrics! {
    /// The hub's counters. Clones share them.
    pub struct Metrics {
        /// Sessions that are kept.
        pub sessions: Gauge = "sessions",
        /// Sessions whose browser or app is there.
        pub connected: Gauge = "sessions_connected",
        /// Calls without an end yet.
        pub in_flight: Gauge = "calls_in_flight",
        /// Calls by tool and outcome.
        calls: Family<CallLabels, Counter> = "calls",
        /// Time from a call to its end, from 0.1 ms to about 26 s.
        latency: Histogram =
            "call_seconds" of Histogram::new(exponential_buckets(0.0001, 2.0, 18)),
        /// Answers that nobody waited for.
        strays: Family<Reason, Counter> = "stray_answers",
        /// Messages sent again after a reconnect or on request.
        pub replayed: Counter = "replayed_messages",
        /// Logs that could not continue.
        refused_resumes: Family<Reason, Counter> = "refused_resumes",
        /// Numbered messages that had been seen before.
        pub duplicates: Counter = "duplicate_messages",
        /// Gaps that were found in what a browser sent.
        pub gaps: Counter = "gaps",
        /// State queries by where they were answered.
        cache: Family<Reason, Counter> = "state_answers",
        /// Sockets closed by the hub.
        closes: Family<Reason, Counter> = "closes",
        beside {
            // A blocking mutex: held for one set operation, never across an await.
            tools: Arc<Mutex<HashSet<String>>>,
        }
    }
}

impl Metrics {
    /// Counts the end of a call.
    pub fn call_ended(&self, tool: &str, ending: Ending, took: Duration) {
        let labels = CallLabels { tool: self.tool_label(tool), outcome: ending.as_str() };
        self.calls.get_or_create(&labels).inc();
        self.latency.observe(took.as_secs_f64());
    }

    /// Counts an answer that nobody waited for.
    pub fn stray(&self, stray: Stray) {
        self.strays.get_or_create(&Reason { reason: stray.as_str() }).inc();
    }

    /// Counts a log that could not continue.
    pub fn refused_resume(&self, refused: RefusedResume) {
        self.refused_resumes.get_or_create(&Reason { reason: refused.as_str() }).inc();
    }

    /// Counts where a state query was answered: `cache`, `live`, `stale` or `failed`.
    pub fn state_answer(&self, source: &'static str) {
        self.cache.get_or_create(&Reason { reason: source }).inc();
    }

    /// Counts a socket that the hub closed.
    pub fn closed(&self, reason: CloseReason) {
        self.closes.get_or_create(&Reason { reason: reason.as_str() }).inc();
    }

    fn tool_label(&self, tool: &str) -> String {
        let mut tools = self.tools.lock();
        if tools.contains(tool) {
            return tool.to_owned();
        }
        if tools.len() == TOOL_LABELS {
            return "other".to_owned();
        }
        tools.insert(tool.to_owned());
        tool.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_labels_are_bounded() {
        let metrics = Metrics::default();
        for number in 0..2 * TOOL_LABELS {
            metrics.call_ended(&format!("tool_{number}"), Ending::Done, Duration::ZERO);
        }
        assert_eq!(metrics.tool_label("tool_0"), "tool_0");
        assert_eq!(metrics.tool_label("another"), "other");
    }
}
