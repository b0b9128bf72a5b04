//! Calls with an idempotency key: whoever asks again gets the answer of the first, and nothing is
//! done twice, over a restart of the hub too.
//!
//! That a call begins is on disk before it does, and its end before it is told, unless the disk takes
//! longer than [`DISK`]. A key whose call began and has no end belongs to a hub that died in
//! between: nobody knows what happened. Keyed work is the hub's own: it goes on when the client
//! that asked first goes away, because that is when others ask again.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use model::{Code, Fault, record::ResultRecord};
use parking_lot::Mutex;
use store::{StoreWrite, WriteTicket};
use tokio::{sync::watch, task::JoinSet, time::Instant};

use crate::Hub;

/// How long an answer is kept for whoever asks again.
const KEPT: Duration = Duration::from_secs(600);
/// How long the disk may take.
const DISK: Duration = Duration::from_secs(5);
/// Bytes of a key.
pub const LONGEST: usize = 200;
/// Keys whose answers are kept or awaited at once, over restarts too, and bytes of those answers:
/// one more is refused before it begins.
pub const MOST_KEYS: usize = 10_000;
/// See [`MOST_KEYS`].
pub const MOST_BYTES: usize = 64 << 20;
/// The word of a call that has begun.
const BEGUN: &str = "begun";
/// The word of a call that came to nothing and may be made again.
const VOID: &str = "void";

/// Keyed calls under way, with what their end will be.
#[derive(Default)]
pub(crate) struct Once {
    // A blocking mutex: held for one map operation, never across an await.
    running: Mutex<HashMap<String, Running>>,
    // Likewise. The work of those keys; ends with the hub.
    tasks: Mutex<JoinSet<()>>,
    // Likewise.
    kept: Mutex<KeptAnswers>,
}

/// What is kept for whoever asks again: until when each is, and how large it is.
#[derive(Default)]
struct KeptAnswers {
    answers: VecDeque<(Instant, usize)>,
    bytes: usize,
}

impl KeptAnswers {
    /// Returns whether one more has room, beside those that have no answer yet.
    fn has_room(&mut self, running: usize) -> bool {
        let now = Instant::now();
        while let Some((_, size)) = self.answers.pop_front_if(|(until, _)| *until < now) {
            self.bytes -= size;
        }
        self.answers.len() + running < MOST_KEYS && self.bytes < MOST_BYTES
    }

    fn note(&mut self, size: usize) {
        self.answers.push_back((Instant::now() + KEPT, size));
        self.bytes += size;
    }
}

impl Once {
    /// Counts what a hub before this one has kept.
    pub(crate) fn restore(mut kept: Vec<(usize, Duration)>) -> Self {
        kept.sort_by_key(|(_, left)| *left);
        let (now, bytes) = (Instant::now(), kept.iter().map(|(size, _)| size).sum());
        let answers = kept.into_iter().map(|(size, left)| (now + left.min(KEPT), size)).collect();
        Self { kept: Mutex::new(KeptAnswers { answers, bytes }), ..Self::default() }
    }
}

struct Running {
    request: String,
    end: watch::Receiver<Option<End>>,
}

/// How keyed work ended, for everybody who waits.
type End = Result<String, Fault>;

/// What is asked, and under which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    key: String,
    request: String,
}

impl Keyed {
    /// Checks a client's key, which is its principal's own. `request` is a digest of the question:
    /// the same key with another one is an error.
    pub fn new(principal: &str, key: &str, request: String) -> Result<Self, Fault> {
        if key.is_empty() || key.len() > LONGEST {
            let message = format!("an idempotency key has 1 to {LONGEST} bytes");
            return Err(Fault::new(Code::InvalidArgument, message));
        }
        Ok(Self { key: format!("{principal}/{key}"), request })
    }
}

/// How keyed work ended.
pub struct Done {
    /// The answer, as JSON text, for everybody who asks with this key.
    pub body: String,
    /// Nothing happened: whoever asks again may try again.
    pub void: bool,
}

/// What a key has to do now.
enum Turn {
    /// Do it, and tell the others here.
    Lead(watch::Sender<Option<End>>),
    /// Wait for who does it.
    Follow(watch::Receiver<Option<End>>),
}

impl Hub {
    /// Does keyed work once; everybody else with the same key gets its answer. Dropping the future
    /// does not end the work.
    pub async fn once(
        &self,
        keyed: &Keyed,
        work: impl Future<Output = Done> + Send + 'static,
    ) -> Result<String, Fault> {
        let mut end = match self.turn(keyed)? {
            Turn::Follow(end) => end,
            Turn::Lead(tell) => {
                let end = tell.subscribe();
                let (hub, keyed) = (self.clone(), keyed.clone());
                let mut tasks = self.services.once.tasks.lock();
                while tasks.try_join_next().is_some() {}
                tasks.spawn(async move {
                    let _leaving = Leaving { hub: &hub, key: &keyed.key };
                    let end = hub.lead(&keyed, work).await;
                    tell.send_replace(Some(end));
                });
                end
            }
        };
        let told = end.wait_for(Option::is_some).await.map_err(|_| unknown())?;
        told.clone().unwrap_or_else(|| Err(unknown()))
    }

    fn turn(&self, keyed: &Keyed) -> Result<Turn, Fault> {
        let mut running = self.services.once.running.lock();
        if let Some(known) = running.get(&keyed.key) {
            same_question(keyed, &known.request)?;
            return Ok(Turn::Follow(known.end.clone()));
        }
        let kept = self.services.store.result(&keyed.key).map_err(unavailable)?;
        let (tell, end) = watch::channel(None);
        match kept {
            Some(kept) if kept.outcome == BEGUN => Err(unknown()),
            Some(kept) if kept.outcome != VOID => {
                same_question(keyed, &kept.request)?;
                tell.send_replace(Some(Ok(kept.body)));
                Ok(Turn::Follow(end))
            }
            _ if !self.services.once.kept.lock().has_room(running.len()) => {
                let message = format!(
                    "answers to {MOST_KEYS} keys, or {} MiB of them, are kept already",
                    MOST_BYTES >> 20
                );
                Err(Fault::new(Code::Busy, message).hint("try later, or without a key"))
            }
            _ => {
                let request = keyed.request.clone();
                running.insert(keyed.key.clone(), Running { request, end });
                Ok(Turn::Lead(tell))
            }
        }
    }

    async fn lead(&self, keyed: &Keyed, work: impl Future<Output = Done>) -> Result<String, Fault> {
        let begun = self.write_down(keyed, BEGUN, String::new())?;
        if !self.kept_within(&begun, DISK).await {
            // Nothing has happened, so whoever asks again may try again.
            self.write_down(keyed, VOID, String::new())?;
            self.services.once.kept.lock().note(0);
            return Err(Fault::new(
                Code::Internal,
                "the key cannot be kept: nothing reaches the disk",
            )
            .hint("see /health; without a key the call can be made"));
        }
        let done = work.await;
        let word = if done.void { VOID } else { "done" };
        // The answer is known: a store that refuses it, or a disk that has stopped meanwhile, keeps
        // nobody from it. Whoever asks again later hears that the end is not known.
        match self.write_down(keyed, word, done.body.clone()) {
            Ok(ended) => {
                self.services.once.kept.lock().note(done.body.len());
                self.kept_within(&ended, DISK).await;
            }
            Err(fault) => tracing::error!(%fault, "the end of a keyed call is not kept"),
        }
        Ok(done.body)
    }

    fn write_down(&self, keyed: &Keyed, outcome: &str, body: String) -> Result<WriteTicket, Fault> {
        let record = ResultRecord {
            call: String::new(),
            request: keyed.request.clone(),
            outcome: outcome.to_owned(),
            body,
            at_ms: store::wall_clock_ms(),
        };
        let write = StoreWrite::Result(keyed.key.clone(), record, KEPT);
        self.services.store.write(vec![write]).map_err(unavailable)
    }
}

/// Whoever leads takes its key out when it goes, for whatever reason.
struct Leaving<'a> {
    hub: &'a Hub,
    key: &'a str,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.hub.services.once.running.lock().remove(self.key);
    }
}

fn same_question(keyed: &Keyed, known: &str) -> Result<(), Fault> {
    if keyed.request == known {
        return Ok(());
    }
    Err(Fault::new(Code::InvalidArgument, "this idempotency key belongs to another call")
        .hint("use a new key for every new call"))
}

fn unknown() -> Fault {
    Fault::new(Code::OutcomeUnknown, "a call with this key was begun and its end is not known")
        .hint("look at the page or its state, then use a new key")
}

fn unavailable(error: store::StoreError) -> Fault {
    Fault::new(Code::Internal, format!("the key cannot be kept: {error}"))
}
