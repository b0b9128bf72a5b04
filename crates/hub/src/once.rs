//! Calls with an idempotency key: whoever asks again gets the answer of the first, and nothing is
//! done twice, over a restart of the hub too.
//!
//! That a call begins is on disk before it does, and its end before it is told. A key whose call
//! began and has no end belongs to a hub that died in between: nobody knows what happened.

use std::{collections::HashMap, time::Duration};

use model::{Code, Fault, record::ResultRecord};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::Hub;

/// How long an answer is kept for whoever asks again.
const KEPT: Duration = Duration::from_secs(600);
/// How long the disk may take.
const DISK: Duration = Duration::from_secs(2);
/// Bytes of a key.
pub const LONGEST: usize = 200;
/// The word of a call that has begun.
const BEGUN: &str = "begun";
/// The word of a call that came to nothing and may be made again.
const VOID: &str = "void";

/// Keyed calls under way, with what their end will be.
#[derive(Default)]
pub(crate) struct Once {
    // A blocking mutex: held for one map operation, never across an await.
    running: Mutex<HashMap<String, Running>>,
}

struct Running {
    request: String,
    end: watch::Receiver<Option<String>>,
}

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
    Lead(watch::Sender<Option<String>>),
    /// Wait for who does it.
    Follow(watch::Receiver<Option<String>>),
}

impl Hub {
    /// Does keyed work once; everybody else with the same key gets its answer.
    pub async fn once(
        &self,
        keyed: &Keyed,
        work: impl Future<Output = Done>,
    ) -> Result<String, Fault> {
        match self.turn(keyed)? {
            Turn::Follow(mut end) => {
                let told = end.wait_for(Option::is_some).await.map_err(|_| unknown())?;
                told.clone().ok_or_else(unknown)
            }
            Turn::Lead(end) => {
                let _leaving = Leaving { hub: self, key: &keyed.key };
                self.lead(keyed, work, &end).await
            }
        }
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
                tell.send_replace(Some(kept.body));
                Ok(Turn::Follow(end))
            }
            _ => {
                let request = keyed.request.clone();
                running.insert(keyed.key.clone(), Running { request, end });
                Ok(Turn::Lead(tell))
            }
        }
    }

    async fn lead(
        &self,
        keyed: &Keyed,
        work: impl Future<Output = Done>,
        end: &watch::Sender<Option<String>>,
    ) -> Result<String, Fault> {
        self.write_down(keyed, BEGUN, String::new())?;
        if !self.kept_within(DISK).await {
            // Nothing has happened, so whoever asks again may try again.
            self.write_down(keyed, VOID, String::new())?;
            return Err(Fault::new(
                Code::Internal,
                "the key cannot be kept: nothing reaches the disk",
            )
            .hint("see /health; without a key the call can be made"));
        }
        let done = work.await;
        let word = if done.void { VOID } else { "done" };
        self.write_down(keyed, word, done.body.clone())?;
        // The answer is known: a disk that has stopped meanwhile keeps nobody waiting for it.
        self.kept_within(DISK).await;
        end.send_replace(Some(done.body.clone()));
        Ok(done.body)
    }

    fn write_down(&self, keyed: &Keyed, outcome: &str, body: String) -> Result<(), Fault> {
        let record = ResultRecord {
            call: String::new(),
            request: keyed.request.clone(),
            outcome: outcome.to_owned(),
            body,
            at_ms: store::wall_clock_ms(),
        };
        self.services.store.save_result(&keyed.key, record, KEPT).map_err(unavailable)
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
