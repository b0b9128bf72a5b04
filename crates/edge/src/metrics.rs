//! What the edge counts.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
};

/// Which gate turned somebody away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Gate {
    gate: &'static str,
}

hub::metrics! {
    /// The edge's counters. Clones share them.
    pub struct Metrics {
        /// Connections that are open, of any kind.
        pub connections: Gauge = "connections",
        /// Connections that were accepted.
        pub accepted: Counter = "connections_accepted",
        /// WebSockets that are open.
        pub sockets: Gauge = "sockets",
        /// Requests turned away, by gate.
        refusals: Family<Gate, Counter> = "refusals",
    }
}

impl Metrics {
    /// Counts somebody who was turned away.
    pub fn refused(&self, gate: &'static str) {
        self.refusals.get_or_create(&Gate { gate }).inc();
    }
}

/// Counts something as open for as long as this lives, panics included.
pub struct Counted(Gauge);

impl Counted {
    /// Counts one more.
    pub fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
