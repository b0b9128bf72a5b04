//! What the edge counts.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// Which gate turned somebody away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Gate {
    gate: &'static str,
}

/// The edge's counters. Clones share them.
#[derive(Clone, Default)]
pub struct Metrics {
    /// Connections that are open, of any kind.
    pub connections: Gauge,
    /// Connections that were accepted.
    pub accepted: Counter,
    /// WebSockets that are open.
    pub sockets: Gauge,
    refusals: Family<Gate, Counter>,
}

impl Metrics {
    /// Publishes all of them.
    pub fn register(&self, to: &mut Registry) {
        to.register("connections", "Open connections", self.connections.clone());
        to.register("connections_accepted", "Accepted connections", self.accepted.clone());
        to.register("sockets", "Open WebSockets", self.sockets.clone());
        to.register("refusals", "Requests turned away, by gate", self.refusals.clone());
    }

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
