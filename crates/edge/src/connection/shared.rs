//! What reader and writer of one connection share: the machine, what it says by itself, and when it
//! wants to be woken.

use std::{collections::VecDeque, time::Duration};

use dialect::{Dialect, Liveness, Output, PingBy};
use model::{Closing, FromBrowser, ToBrowser};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use tokio_tungstenite::tungstenite::Message;

/// Answers of the dialect itself, such as pongs, that may wait to be written.
pub const OWN_FRAMES: usize = 256;
/// What reader and writer of one connection share.
pub struct Shared {
    // Blocking mutexes: held for one step of the machine or queue, never across an await.
    pub dialect: Mutex<Box<dyn Dialect>>,
    own: Mutex<VecDeque<Message>>,
    pub own_ready: Notify,
    own_taken: Notify,
    pub liveness: Liveness,
    /// When the machine wants to be woken.
    wake_at: Mutex<Option<Instant>>,
    wake_changed: Notify,
}

/// What became of messages.
#[derive(Default)]
pub struct Encoded {
    pub frames: VecDeque<Message>,
    /// What the machine answers for its peer.
    pub told: Vec<FromBrowser>,
    pub closing: Option<Closing>,
}

impl Shared {
    /// Puts a machine into its place.
    pub fn new(dialect: Box<dyn Dialect>, liveness: Liveness) -> Self {
        Self {
            dialect: Mutex::new(dialect),
            own: Mutex::default(),
            own_ready: Notify::new(),
            own_taken: Notify::new(),
            liveness,
            wake_at: Mutex::default(),
            wake_changed: Notify::new(),
        }
    }

    /// Turns messages into frames, the machine's own first, up to where it wants to close.
    pub fn encode(&self, messages: VecDeque<ToBrowser>) -> Encoded {
        let mut encoded = Encoded { frames: self.take_own(), ..Encoded::default() };
        let mut dialect = self.dialect.lock();
        for output in messages.into_iter().flat_map(|message| dialect.send(message)) {
            match output {
                Output::Write(text) => encoded.frames.push_back(Message::text(text)),
                Output::WriteBytes(bytes) => encoded.frames.push_back(Message::binary(bytes)),
                Output::Ping => encoded.frames.push_back(Message::Ping(Default::default())),
                Output::Deliver(message) => encoded.told.push(message),
                Output::WakeAfter(time) => self.wake_after(time),
                Output::Close(closing) => return Encoded { closing: Some(closing), ..encoded },
            }
        }
        encoded
    }

    /// Takes note of when the machine wants to be woken.
    pub fn wake_after(&self, time: Duration) {
        *self.wake_at.lock() = Some(Instant::now() + time);
        self.wake_changed.notify_one();
    }

    /// Waits until the machine wants to be woken. Cancel-safe: its wish is taken at the end.
    pub async fn time_to_wake(&self) {
        loop {
            let wish = *self.wake_at.lock();
            let changed = self.wake_changed.notified();
            match wish {
                None => changed.await,
                Some(at) => {
                    // Both arms are cancel-safe: the wish stays where it is.
                    tokio::select! {
                        () = changed => continue,
                        () = sleep_until(at) => {}
                    }
                    *self.wake_at.lock() = None;
                    return;
                }
            }
        }
    }

    /// Waits while too many frames of the machine's own are unwritten.
    pub async fn wait_for_room(&self) {
        while self.own.lock().len() >= OWN_FRAMES {
            self.own_taken.notified().await;
        }
    }

    /// Puts a frame of the machine's own into the line.
    pub fn push(&self, message: Message) {
        self.own.lock().push_back(message);
        self.own_ready.notify_one();
    }

    fn take_own(&self) -> VecDeque<Message> {
        let own = std::mem::take(&mut *self.own.lock());
        self.own_taken.notify_one();
        own
    }

    /// Asks the peer whether it is there.
    pub fn ask(&self, ping_by: PingBy) {
        match ping_by {
            PingBy::Protocol => self.push(Message::Ping(Default::default())),
            PingBy::Message => {
                for output in self.dialect.lock().send(ToBrowser::Ping) {
                    if let Output::Write(text) = output {
                        self.push(Message::text(text));
                    }
                }
            }
        }
    }
}
