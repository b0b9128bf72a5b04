//! The queue between a session and the socket it is attached to.
//!
//! Bounded in messages and bytes; what the writer has taken counts too until it asks for more, but
//! leaves half of the room: at most one and a half times the limit is held for a peer, and one large
//! message on a slow line is no reason to cut it. The hub puts in, the edge's writer takes out, everything
//! that is ready at once. **Full** means: the message is refused, and whoever put it decides
//! (a call is answered with `busy`; a numbered message closes the socket, because the replay
//! brings it back later). A queue made by hand and not a channel: an idle one holds no memory.

use std::{collections::VecDeque, sync::Arc};

use model::{Closing, ToBrowser};
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

/// The queue is full or closed: nothing was put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The peer does not read fast enough.
    Full,
    /// The connection is ending.
    Closed,
}

/// The hub's end. Clones share the queue.
#[derive(Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
}

/// The edge's end.
pub struct Outgoing {
    shared: Arc<Shared>,
}

struct Shared {
    most_messages: usize,
    most_bytes: usize,
    // A blocking mutex: held for one queue operation, never across an await.
    queue: Mutex<Queue>,
    ready: Notify,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<(ToBrowser, Instant)>,
    bytes: usize,
    /// Bytes that the writer has taken and is writing.
    under_way: usize,
    /// Set once: nothing may be put in any more.
    closing: Option<Closing>,
    /// The edge is gone: nothing will be taken out any more.
    abandoned: bool,
}

/// Makes a queue that holds at most this much, and less while much is being written. An empty one
/// always accepts a message, however large.
pub fn outbox(most_messages: usize, most_bytes: usize) -> (Outbox, Outgoing) {
    let shared = Arc::new(Shared {
        most_messages,
        most_bytes,
        queue: Mutex::default(),
        ready: Notify::new(),
    });
    (Outbox { shared: shared.clone() }, Outgoing { shared })
}

impl Outbox {
    /// Puts a message in.
    pub fn push(&self, message: ToBrowser) -> Result<(), Refusal> {
        let mut queue = self.shared.queue.lock();
        if queue.closing.is_some() || queue.abandoned {
            return Err(Refusal::Closed);
        }
        let size = message.size();
        let room = self.shared.most_bytes - queue.under_way.min(self.shared.most_bytes / 2);
        let full = queue.messages.len() >= self.shared.most_messages || queue.bytes + size > room;
        if full && !queue.messages.is_empty() {
            return Err(Refusal::Full);
        }
        queue.bytes += size;
        queue.messages.push_back((message, Instant::now()));
        drop(queue);
        self.shared.ready.notify_one();
        Ok(())
    }

    /// Returns about how many bytes are held for the peer, waiting or being written.
    pub fn held(&self) -> usize {
        let queue = self.shared.queue.lock();
        queue.bytes + queue.under_way
    }

    /// Ends the connection once what is queued has been written. The first reason counts.
    pub fn close(&self, closing: Closing) {
        self.shared.queue.lock().closing.get_or_insert(closing);
        self.shared.ready.notify_one();
    }

    /// Ends the connection at once, dropping what is queued.
    pub fn cut(&self, closing: Closing) {
        let mut queue = self.shared.queue.lock();
        queue.messages = VecDeque::new();
        queue.bytes = 0;
        queue.closing.get_or_insert(closing);
        drop(queue);
        self.shared.ready.notify_one();
    }
}

/// What the writer has to do next.
#[derive(Debug, PartialEq)]
pub enum Batch {
    /// Write these, then flush once.
    Messages(VecDeque<ToBrowser>),
    /// Everything is written: close.
    Close(Closing),
}

impl Outgoing {
    /// Waits until there is something to do and takes all of it. Asking again says that what was
    /// taken before is written. Cancel-safe: nothing is taken before it is returned.
    pub async fn next(&mut self) -> Batch {
        loop {
            if let Some(batch) = self.take() {
                return batch;
            }
            self.shared.ready.notified().await;
        }
    }

    fn take(&mut self) -> Option<Batch> {
        let mut queue = self.shared.queue.lock();
        queue.under_way = std::mem::take(&mut queue.bytes);
        if queue.messages.is_empty() {
            return queue.closing.clone().map(Batch::Close);
        }
        let taken = std::mem::take(&mut queue.messages);
        drop(queue);
        let messages = taken.into_iter().filter_map(|(message, at)| in_time(message, at));
        Some(Batch::Messages(messages.collect()))
    }
}

/// Takes the time that a call has waited off its deadline; one without any left is not sent, so that
/// nothing fires late after a sleep. Its caller's own clock ends it.
fn in_time(message: ToBrowser, since: Instant) -> Option<ToBrowser> {
    let ToBrowser::Call(mut call) = message else { return Some(message) };
    call.deadline = call.deadline.saturating_sub(since.elapsed());
    (!call.deadline.is_zero()).then_some(ToBrowser::Call(call))
}

/// A queue that nobody empties refuses what is put in.
impl Drop for Outgoing {
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.abandoned = true;
        queue.messages = VecDeque::new();
        (queue.bytes, queue.under_way) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use model::CloseReason;

    use super::*;

    fn closing() -> Closing {
        Closing::new(CloseReason::Normal, "done")
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_large_first_message_passes() {
        let (inbox, mut outgoing) = outbox(2, 100);
        assert_eq!(inbox.push(ToBrowser::Ping), Ok(()), "larger than the limit, but alone");
        assert_eq!(inbox.push(ToBrowser::Ping), Err(Refusal::Full));
        assert!(matches!(outgoing.next().await, Batch::Messages(taken) if taken.len() == 1));
        assert_eq!(inbox.push(ToBrowser::Ping), Ok(()), "taking makes room");
    }

    #[tokio::test]
    async fn what_is_being_written_takes_up_to_half_of_the_room() {
        let size = ToBrowser::Ping.size();
        let (inbox, mut outgoing) = outbox(100, 4 * size);
        let fill = || (0..).take_while(|_| inbox.push(ToBrowser::Ping).is_ok()).count();
        for (accepted, held) in [(4, 4), (2, 6), (2, 4), (2, 4)] {
            assert_eq!((fill(), inbox.held()), (accepted, held * size));
            assert!(matches!(outgoing.next().await, Batch::Messages(_)));
        }
        assert_eq!(inbox.held(), 2 * size, "what is being written");
    }

    #[tokio::test]
    async fn closing_comes_after_what_was_queued_and_the_first_reason_counts() {
        let (inbox, mut outgoing) = outbox(10, 10_000);
        inbox.push(ToBrowser::Ping).unwrap();
        inbox.close(closing());
        inbox.close(Closing::new(CloseReason::Internal, "later"));
        assert_eq!(inbox.push(ToBrowser::Ping), Err(Refusal::Closed));
        assert!(matches!(outgoing.next().await, Batch::Messages(_)));
        assert_eq!(outgoing.next().await, Batch::Close(closing()));
    }

    #[test]
    fn a_queue_without_a_taker_refuses() {
        let (inbox, outgoing) = outbox(10, 10_000);
        drop(outgoing);
        assert_eq!(inbox.push(ToBrowser::Ping), Err(Refusal::Closed));
    }
}
