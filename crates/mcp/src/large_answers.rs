//! Large answers on their way to clients: how many bytes of them there may be at once.
//!
//! Whoever is about to make one waits for room first, and the room is held until the answer is
//! written. So a client that asks for much and reads nothing costs what the room is, and no more.
//! Small answers need none: their number is limited elsewhere.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::sync::CancellationToken;

/// Bytes of large answers that one stream may have on their way, and all requests over HTTP.
pub(crate) const STREAM_ROOM: usize = 16 << 20;
pub(crate) const HTTP_ROOM: usize = 64 << 20;
/// What needs no room.
const SMALL: usize = 256 << 10;
/// How long an answer waits for room.
const PATIENCE: Duration = Duration::from_secs(5);
/// Room is counted in units of so many bytes.
const UNIT: usize = 1024;

/// The large answers of one stream, or of one request over HTTP. Clones share them.
#[derive(Clone)]
pub(crate) struct LargeAnswers {
    room: Arc<Semaphore>,
    units: usize,
    // A blocking mutex: held for a few map operations, never across an await.
    held: Arc<Mutex<HashMap<RequestId, Held>>>,
}

/// Room for one answer.
struct Held {
    permit: OwnedSemaphorePermit,
    /// Cancelled when nobody waits for the answer any more; then `rmcp` may drop it unsent.
    withdrawn: CancellationToken,
}

impl Default for LargeAnswers {
    fn default() -> Self {
        Self::with_room(STREAM_ROOM)
    }
}

impl LargeAnswers {
    /// Makes room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Self { room: Arc::new(Semaphore::new(units)), units, held: Arc::default() }
    }

    /// Returns the answers of another request, which share the room.
    pub(crate) fn of_request(&self) -> Self {
        Self { held: Arc::default(), ..self.clone() }
    }

    /// Waits until there is room for the answer to a request, which holds it until
    /// [`LargeAnswers::take`]. One that is larger than all the room gets all of it.
    pub(crate) async fn reserve(
        &self,
        request: &RequestId,
        withdrawn: &CancellationToken,
        bytes: usize,
    ) -> Result<(), ErrorData> {
        if bytes <= SMALL {
            return Ok(());
        }
        self.held.lock().retain(|_, held| !held.withdrawn.is_cancelled());
        let units = bytes.div_ceil(UNIT).min(self.units);
        let waiting =
            self.room.clone().acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX));
        match time::timeout(PATIENCE, waiting).await {
            Ok(Ok(permit)) => {
                let held = Held { permit, withdrawn: withdrawn.clone() };
                self.held.lock().insert(request.clone(), held);
                Ok(())
            }
            _ => Err(ErrorData::new(
                ErrorCode(-32000),
                "too many large answers are not read yet; read them one after the other",
                None,
            )),
        }
    }

    /// Returns the room that an answer holds; dropping it gives it back.
    pub(crate) fn take(&self, request: &RequestId) -> Option<OwnedSemaphorePermit> {
        self.held.lock().remove(request).map(|held| held.permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_for_room_and_is_refused_after_a_while() {
        let answers = LargeAnswers::with_room(1 << 20);
        let (id, waiting) = (RequestId::Number, CancellationToken::new());
        answers.reserve(&id(1), &waiting, SMALL).await.unwrap();
        assert!(answers.take(&id(1)).is_none(), "small ones need no room");
        answers.reserve(&id(2), &waiting, 2 << 20).await.unwrap();
        let other = answers.of_request();
        let refused = other.reserve(&id(2), &waiting, SMALL + 1).await.unwrap_err();
        assert!(refused.message.contains("one after the other"), "{refused:?}");
        let third = id(3);
        let waits = answers.reserve(&third, &waiting, SMALL + 1);
        tokio::pin!(waits);
        assert!(time::timeout(PATIENCE / 2, &mut waits).await.is_err());
        drop(answers.take(&id(2)));
        waits.await.unwrap();
        assert_eq!(answers.room.available_permits(), (1 << 10) - 257);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_never_sent_gives_its_room_back() {
        let answers = LargeAnswers::with_room(1 << 20);
        let withdrawn = CancellationToken::new();
        answers.reserve(&RequestId::Number(1), &withdrawn, 1 << 20).await.unwrap();
        withdrawn.cancel();
        let waiting = CancellationToken::new();
        answers.reserve(&RequestId::Number(2), &waiting, 1 << 20).await.unwrap();
        let request = answers.of_request();
        drop(answers.take(&RequestId::Number(2)));
        request.reserve(&RequestId::Number(3), &waiting, 1 << 20).await.unwrap();
        drop(request);
        assert_eq!(answers.room.available_permits(), 1 << 10, "its request is over");
    }
}
