//! How long a session is kept for a peer that is away, over restarts of the hub too, and how long the
//! tools of an app stay listed.
//!
//! The wall clock is asked only for what a restart would lose: since when the peer is away. Within one
//! run time is measured by the hub's own clock. Forgetting itself is the hub's business.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{Core, Session};
use crate::agenda::Due;

/// A session that was brought back is kept at least this long for its peer, however long that has
/// been away: it could not come back while there was no hub.
const RETURN_GRACE: Duration = Duration::from_secs(300);

impl Session {
    /// Returns how long its browser has been away; `None` means that it is there.
    pub(crate) fn away_for(&self) -> Option<Duration> {
        let core = self.core.lock();
        (!core.presence.is_here()).then(|| core.presence.unchanged_for())
    }

    /// Has the hub look whether its browser stayed away.
    pub(super) fn forget_later(self: &Arc<Self>, core: &mut Core) {
        if !std::mem::replace(&mut core.presence.forget_due, true) {
            let left = self.time_to_return(core);
            self.services.agenda.after(left, Due::Forget(Arc::downgrade(self)));
        }
    }

    /// Returns for how much longer it is kept for its peer, which is away.
    fn time_to_return(&self, core: &Core) -> Duration {
        let retention = self.services.config.load().session_retention;
        // Nobody could come back while there was no hub.
        let first = retention.min(RETURN_GRACE).saturating_sub(self.services.opened.elapsed());
        retention.saturating_sub(core.presence.unchanged_for()).max(first)
    }

    /// Returns whether the tools of its app stand in the list: it is there, or was a moment ago.
    pub fn is_listed(&self) -> bool {
        let kept = self.services.config.load().app_tools_kept;
        self.away_for().is_none_or(|away| away < kept)
    }

    /// Has the hub say that the list is another, once its app has been away for too long to be in it.
    pub(super) fn unlist_later(self: &Arc<Self>) {
        if self.tool_count.load(Ordering::Relaxed) > 0 {
            let kept = self.services.config.load().app_tools_kept;
            self.services.agenda.after(kept, Due::Unlist(Arc::downgrade(self)));
        }
    }

    /// Waits for the browser of a session that was brought back, as after a disconnect.
    pub(crate) fn await_return(self: &Arc<Self>) {
        let mut core = self.core.lock();
        if core.presence.count_from_now() {
            self.save(&core);
        }
        self.unlist_later();
        self.forget_later(&mut core);
    }

    /// Returns whether it has been away for too long; if not, looks again when it may be.
    pub(crate) fn is_forgotten(self: &Arc<Self>) -> bool {
        let mut core = self.core.lock();
        if core.presence.is_here() {
            core.presence.forget_due = false;
            return false;
        }
        let left = self.time_to_return(&core);
        if !left.is_zero() {
            self.services.agenda.after(left, Due::Forget(Arc::downgrade(self)));
        }
        left.is_zero()
    }
}
