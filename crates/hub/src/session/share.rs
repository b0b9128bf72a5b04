//! What an app holds of what its web origin may: checked before something is taken in.
//!
//! At the limit an app first loses the oldest of what happened in it, which only readers of its events
//! miss. If that is not enough, what it tells is refused. Browsers and programs without an origin
//! are not counted: they have shown who they are.

use model::{Change, StateBody, ToolSpec};

use super::{Core, Session};
use crate::replay::ReplayLimits;

/// The store has states and tools in memory too, each in its own form.
const KEPT_TWICE: usize = 2;

impl Core {
    /// Says what is held now; returns what all of the origin hold.
    pub(super) fn note_held(&mut self) -> usize {
        let logs = self.delivery.outgoing.bytes() + self.feed.bytes();
        let held = logs + KEPT_TWICE * (self.state.weight() + self.catalog.weight());
        self.share.as_mut().map_or(0, |share| share.set(held))
    }
}

impl Session {
    /// Makes room for what an app tells; an error says that there is none.
    pub(super) fn make_room(&self, core: &mut Core, change: &Change) -> Result<(), String> {
        let (coming, going) = match change {
            Change::State(update) => match &update.body {
                StateBody::Whole(state) => {
                    (KEPT_TWICE * state.size(), KEPT_TWICE * core.state.weight())
                }
                StateBody::Patch(patch) => (patch.size(), 0),
            },
            Change::ToolsChanged { tools, .. } => {
                let bytes: usize = tools.iter().map(ToolSpec::size).sum();
                (KEPT_TWICE * bytes, KEPT_TWICE * core.catalog.weight())
            }
            Change::Event { name, data, .. } => (name.len() + data.size(), 0),
            _ => (0, 0),
        };
        self.keep_within(core, coming, going)
    }

    /// Keeps the origin within its limit, of which so much comes and goes at once.
    pub(super) fn keep_within(
        &self,
        core: &mut Core,
        coming: usize,
        going: usize,
    ) -> Result<(), String> {
        if core.share.is_none() {
            return Ok(());
        }
        let most = self.services.config.load().origin_bytes;
        let over = |core: &mut Core| (core.note_held() + coming).saturating_sub(going + most);
        let excess = over(core);
        if excess == 0 {
            return Ok(());
        }
        let bytes = core.feed.bytes().saturating_sub(excess);
        let limits = ReplayLimits { bytes, ..self.services.replay_limits() };
        if let Err(error) = core.feed.enforce(&limits) {
            tracing::error!(session = %self.id, %error, "events not dropped");
        }
        match over(core) {
            0 => Ok(()),
            _ => Err(format!(
                "apps of {} hold more than {most} bytes together",
                self.origin.as_deref().unwrap_or_default()
            )),
        }
    }
}
