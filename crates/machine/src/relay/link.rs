//! The connection to the hub of this moment: which line is being written, and how far.

use std::future::pending;

use lines::Lines;
use tokio::{
    io::{self, AsyncWriteExt, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
};

use super::ledger::{Ledger, Parcel};
use crate::private::Membership;

/// The longest line of a hub. It is ours and says nothing longer; whatever does is no hub.
const LONGEST: usize = 256 << 20;

/// A hub that was joined.
pub(super) struct HubLink {
    pub(super) incoming: Lines<BufReader<OwnedReadHalf>>,
    pub(super) outgoing: Outgoing,
}

/// The way to the hub.
pub(super) struct Outgoing {
    half: HubInput,
    /// The line that is being written, and how much of it is.
    current: Option<(Parcel, usize)>,
}

/// What the hub takes.
enum HubInput {
    Open(OwnedWriteHalf),
    /// It takes nothing any more; what it still has to say can be read.
    Broken,
    /// Nothing more will be said.
    Closed,
}

impl HubLink {
    pub(super) fn new(member: Membership) -> Self {
        Self {
            incoming: Lines::new(member.reading, LONGEST),
            outgoing: Outgoing { half: HubInput::Open(member.writing), current: None },
        }
    }
}

impl Outgoing {
    /// Writes some of what waits; waits for ever if there is nothing to write. Cancel-safe: what
    /// was taken is kept, and what was written is counted without another await.
    pub(super) async fn advance(&mut self, ledger: &mut Ledger) {
        let HubInput::Open(half) = &mut self.half else { return pending().await };
        if self.current.is_none() {
            self.current = ledger.next_parcel().map(|parcel| (parcel, 0));
        }
        let Some((parcel, written)) = &mut self.current else { return pending().await };
        match write(half, &parcel.line[*written..]).await {
            Ok(count) => *written += count,
            // The end of reading tells when it is over.
            Err(error) => {
                tracing::debug!(%error, "the hub takes no more");
                self.half = HubInput::Broken;
                return;
            }
        }
        if *written == parcel.line.len()
            && let Some((parcel, _)) = self.current.take()
        {
            ledger.sent(parcel);
        }
    }

    /// Returns whether no line is being written.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// Says that nothing more will come.
    pub(super) fn close(&mut self) {
        // Dropping one half closes it.
        self.half = HubInput::Closed;
    }

    /// Returns whether it was said that nothing more will come.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.half, HubInput::Closed)
    }

    /// Gives back a line that the hub cannot have seen as a whole.
    pub(super) fn abandon(self, ledger: &mut Ledger) {
        let Some((parcel, written)) = self.current else { return };
        // A message that lacks only its line end is one.
        match written < parcel.line.trim_ascii_end().len() {
            true => ledger.unsent(parcel),
            false => ledger.sent(parcel),
        }
    }
}

async fn write(half: &mut OwnedWriteHalf, bytes: &[u8]) -> io::Result<usize> {
    match half.write(bytes).await? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        count => Ok(count),
    }
}
