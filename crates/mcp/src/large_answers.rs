//! Large answers on their way to clients: how many bytes of them there may be at once.
//!
//! Whoever is about to make one waits for room first, and the room is held until the answer is
//! written. So a client that asks for much and reads nothing costs what the room is, and no more.
//! Small answers need none: their number is limited elsewhere.

use std::{mem, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rmcp::model::{ErrorCode, ErrorData};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

/// Bytes of large answers that one stream may have on their way, and all requests over HTTP.
pub(crate) const STREAM_ROOM: usize = 16 << 20;
pub(crate) const HTTP_ROOM: usize = 64 << 20;
/// What needs no room.
const SMALL_ANSWER: usize = 256 << 10;
/// How long an answer waits for room: longer than `write_timeout`, after which a client over HTTP
/// that reads nothing is gone.
const ROOM_PATIENCE: Duration = Duration::from_secs(15);
/// Room is counted in units of so many bytes.
const ROOM_UNIT: usize = 1024;

/// The room that several answers share. Clones are the same room.
#[derive(Clone)]
pub(crate) struct LargeAnswers {
    room: Arc<Semaphore>,
    units: usize,
}

/// The room of one answer, from its request on until it is written. Clones are the same.
#[derive(Clone)]
pub(crate) struct AnswerRoom {
    all: LargeAnswers,
    // A blocking mutex: held for one assignment, never across an await.
    state: Arc<Mutex<RoomState>>,
}

enum RoomState {
    /// None is needed so far.
    Small,
    Reserved(OwnedSemaphorePermit),
    /// The answer is on its way, or nobody waits for it any more.
    Closed,
}

impl LargeAnswers {
    /// Makes room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let units = bytes / ROOM_UNIT;
        Self { room: Arc::new(Semaphore::new(units)), units }
    }

    /// Opens the room of one request's answer.
    pub(crate) fn open(&self) -> AnswerRoom {
        AnswerRoom { all: self.clone(), state: Arc::new(Mutex::new(RoomState::Small)) }
    }
}

impl AnswerRoom {
    /// Waits until there is room for an answer of so many bytes. One that is larger than all the
    /// room gets all of it.
    pub(crate) async fn reserve(&self, bytes: usize) -> Result<(), ErrorData> {
        if bytes <= SMALL_ANSWER {
            return Ok(());
        }
        let units = bytes.div_ceil(ROOM_UNIT).min(self.all.units);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let waiting = self.all.room.clone().acquire_many_owned(units);
        let Ok(Ok(permit)) = time::timeout(ROOM_PATIENCE, waiting).await else {
            let text = "too many large answers wait to be read by their clients; try again, and \
                        read large results one after the other";
            return Err(ErrorData::new(ErrorCode(-32000), text, None));
        };
        let mut state = self.state.lock();
        // Withdrawn while it waited: its answer will not be sent, so nothing would give it back.
        if !matches!(*state, RoomState::Closed) {
            *state = RoomState::Reserved(permit);
        }
        Ok(())
    }

    /// Returns what is reserved, if anything; dropping that gives it back. Nothing is reserved for
    /// this answer any more.
    pub(crate) fn close(&self) -> Option<OwnedSemaphorePermit> {
        match mem::replace(&mut *self.state.lock(), RoomState::Closed) {
            RoomState::Reserved(permit) => Some(permit),
            RoomState::Small | RoomState::Closed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_for_room_and_is_refused_after_a_while() {
        let answers = LargeAnswers::with_room(MIB);
        let (small, first, second) = (answers.open(), answers.open(), answers.open());
        small.reserve(SMALL_ANSWER).await.unwrap();
        assert!(small.close().is_none(), "small ones need no room");
        first.reserve(2 * MIB).await.unwrap();
        let refused = second.reserve(SMALL_ANSWER + 1).await.unwrap_err();
        assert!(refused.message.contains("one after the other"), "{refused:?}");
        let waits = second.reserve(SMALL_ANSWER + 1);
        tokio::pin!(waits);
        assert!(time::timeout(ROOM_PATIENCE / 2, &mut waits).await.is_err());
        let on_its_way = first.close();
        assert!(time::timeout(ROOM_PATIENCE / 4, &mut waits).await.is_err(), "not written yet");
        drop(on_its_way);
        waits.await.unwrap();
        assert_eq!(answers.room.available_permits(), (1 << 10) - 257);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_never_sent_keeps_no_room() {
        let answers = LargeAnswers::with_room(MIB);
        let (first, second) = (answers.open(), answers.open());
        first.reserve(MIB).await.unwrap();
        let waits = second.reserve(MIB);
        tokio::pin!(waits);
        assert!(time::timeout(ROOM_PATIENCE / 2, &mut waits).await.is_err());
        assert!(second.close().is_none(), "withdrawn while it waits");
        drop(first.close());
        waits.await.unwrap();
        assert_eq!(answers.room.available_permits(), 1 << 10);
        first.reserve(MIB).await.unwrap();
        assert_eq!(answers.room.available_permits(), 1 << 10, "withdrawn before it waits");
        let third = answers.open();
        third.reserve(MIB).await.unwrap();
        drop(third);
        assert_eq!(answers.room.available_permits(), 1 << 10, "its request is over");
    }
}
