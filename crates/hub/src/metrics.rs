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
    registry::Registry,
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

/// The hub's counters. Clones share them.
#[derive(Clone)]
pub struct Metrics {
    /// Sessions that are kept.
    pub sessions: Gauge,
    /// Sessions whose browser is there.
    pub connected: Gauge,
    /// Calls without an end yet.
    pub in_flight: Gauge,
    calls: Family<CallLabels, Counter>,
    latency: Histogram,
    strays: Family<Reason, Counter>,
    /// Messages sent again after a reconnect or on request.
    pub replayed: Counter,
    refused_resumes: Family<Reason, Counter>,
    /// Numbered messages that had been seen before.
    pub duplicates: Counter,
    /// Gaps that were found in what a browser sent.
    pub gaps: Counter,
    cache: Family<Reason, Counter>,
    closes: Family<Reason, Counter>,
    // A blocking mutex: held for one set operation, never across an await.
    tools: Arc<Mutex<HashSet<String>>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            sessions: Gauge::default(),
            connected: Gauge::default(),
            in_flight: Gauge::default(),
            calls: Family::default(),
            // 0.1 ms to about 26 s.
            latency: Histogram::new(exponential_buckets(0.0001, 2.0, 18)),
            strays: Family::default(),
            replayed: Counter::default(),
            refused_resumes: Family::default(),
            duplicates: Counter::default(),
            gaps: Counter::default(),
            cache: Family::default(),
            closes: Family::default(),
            tools: Arc::default(),
        }
    }
}

impl Metrics {
    /// Publishes all of them.
    pub fn register(&self, to: &mut Registry) {
        to.register("sessions", "Sessions that are kept", self.sessions.clone());
        to.register("sessions_connected", "Sessions with a browser", self.connected.clone());
        to.register("calls_in_flight", "Calls without an end yet", self.in_flight.clone());
        to.register("calls", "Calls by tool and outcome", self.calls.clone());
        to.register("call_seconds", "Time from a call to its end", self.latency.clone());
        to.register("stray_answers", "Answers that nobody waited for", self.strays.clone());
        to.register("replayed_messages", "Messages sent again", self.replayed.clone());
        to.register(
            "refused_resumes",
            "Logs that could not continue",
            self.refused_resumes.clone(),
        );
        to.register("duplicate_messages", "Numbered messages seen before", self.duplicates.clone());
        to.register("gaps", "Gaps found in what browsers sent", self.gaps.clone());
        to.register(
            "state_answers",
            "State queries by where they were answered",
            self.cache.clone(),
        );
        to.register("closes", "Sockets closed by the hub", self.closes.clone());
    }

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
