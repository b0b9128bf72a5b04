//! The connection to the hub of this moment: which line is being written, and how far.

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
    pub(super) term: u64,
    pub(super) incoming: Lines<BufReader<OwnedReadHalf>>,
    pub(super) outgoing: Outgoing,
}

/// The way to the hub.
pub(super) struct Outgoing {
    /// `None` once nothing more will be said.
    half: Option<OwnedWriteHalf>,
    /// The line that is being written, and how much of it is.
    current: Option<(Parcel, usize)>,
    /// It takes nothing any more; what it still has to say can be read.
    broken: bool,
}

impl HubLink {
    pub(super) fn new(member: Membership) -> Self {
        Self {
            term: member.welcome.term,
            incoming: Lines::new(member.reading, LONGEST),
            outgoing: Outgoing { half: Some(member.writing), current: None, broken: false },
        }
    }
}

impl Outgoing {
    /// Writes some of what waits; waits for ever if there is nothing to write. Cancel-safe: what
    /// was taken is kept, and what was written is counted without another await.
    pub(super) async fn advance(&mut self, ledger: &mut Ledger) {
        if self.current.is_none() && !self.broken && self.half.is_some() {
            self.current = ledger.next_parcel().map(|parcel| (parcel, 0));
        }
        match (&mut self.current, &mut self.half) {
            (Some((parcel, written)), Some(half)) if !self.broken => {
                match write(half, &parcel.line[*written..]).await {
                    Ok(count) => *written += count,
                    // The end of reading tells when it is over.
                    Err(error) => {
                        tracing::debug!(%error, "the hub takes no more");
                        self.broken = true;
                    }
                }
            }
            _ => std::future::pending().await,
        }
        if self.current.as_ref().is_some_and(|(parcel, written)| *written == parcel.line.len())
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
        self.half = None;
    }

    /// Returns whether it was said that nothing more will come.
    pub(super) fn is_closed(&self) -> bool {
        self.half.is_none()
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
