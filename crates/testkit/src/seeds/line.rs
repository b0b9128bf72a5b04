//! One socket of a fake extension, with a task that listens and answers for it.
//!
//! Everything that was heard and said is kept for the test to look at. What an extension knows
//! beyond one socket (its tabs, its counters) is kept by whoever opened the line.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::mpsc, task::JoinHandle, time::sleep};

use super::wire::{End, Heard, Order, live};
use crate::{Socket, eventually};

/// An open line. It is cut when this is dropped.
pub struct Line {
    mouth: Mouth,
    heard: Heard,
    ending: Arc<Mutex<Option<End>>>,
    task: JoinHandle<()>,
}

/// What speaks on a line; clones speak on the same one.
#[derive(Clone)]
pub struct Mouth {
    orders: mpsc::UnboundedSender<Order>,
    said: Arc<Mutex<Vec<Value>>>,
}

impl Line {
    /// Listens on a socket; each message goes to `hear`, which may answer.
    pub fn open(socket: Socket, mut hear: impl FnMut(&Mouth, &Value) + Send + 'static) -> Self {
        let (orders, mut ordered) = mpsc::unbounded_channel();
        let mouth = Mouth { orders, said: Arc::default() };
        let (heard, ending) = (Heard::default(), Arc::new(Mutex::new(None)));
        let (speaker, listener, grave) = (mouth.clone(), heard.clone(), Arc::clone(&ending));
        let task = tokio::spawn(async move {
            let react = |message: &Value| {
                hear(&speaker, message);
                Vec::new()
            };
            let end = live(socket, &mut ordered, &listener, react).await;
            *grave.lock().unwrap() = Some(end);
        });
        Self { mouth, heard, ending, task }
    }

    /// Returns what speaks on it.
    pub fn mouth(&self) -> Mouth {
        self.mouth.clone()
    }

    /// Says something.
    pub fn say(&self, message: Value) {
        self.mouth.say(message);
    }

    /// Sends any text as a message.
    pub fn text(&self, text: &str) {
        self.order(Order::Text(text.to_owned()));
    }

    /// Says the same again and again.
    pub fn repeat(&self, every: Duration, message: Value) {
        let mouth = self.mouth();
        tokio::spawn(async move {
            loop {
                sleep(every).await;
                if !mouth.say(message.clone()) {
                    return;
                }
            }
        });
    }

    /// Returns everything that was heard.
    pub fn heard(&self) -> Vec<Value> {
        self.heard.all()
    }

    /// Returns what was heard of one type.
    pub fn heard_of(&self, kind: &str) -> Vec<Value> {
        self.heard.of(kind)
    }

    /// Returns what was said of one type.
    pub fn said_of(&self, kind: &str) -> Vec<Value> {
        let said = self.mouth.said.lock().unwrap();
        said.iter().filter(|message| message["type"] == kind).cloned().collect()
    }

    /// Waits until something of one type was heard; returns the first.
    pub async fn until_heard(&self, kind: &str) -> Value {
        self.until_heard_times(kind, 1).await.remove(0)
    }

    /// Waits until so much of one type was heard; returns all of it.
    pub async fn until_heard_times(&self, kind: &str, times: usize) -> Vec<Value> {
        eventually(&format!("{kind} is heard {times} times"), async || {
            let heard = self.heard_of(kind);
            (heard.len() >= times).then_some(heard)
        })
        .await
    }

    /// Waits until a message was heard; returns it.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        eventually(what, async || self.heard().into_iter().find(&wanted)).await
    }

    /// Returns how it ended, if it did.
    pub fn ending(&self) -> Option<End> {
        self.ending.lock().unwrap().clone()
    }

    /// Fails the test unless it is open.
    #[track_caller]
    pub fn must_be_open(&self) {
        assert_eq!(self.ending(), None, "the line must be open");
    }

    /// Waits for its end.
    pub async fn ended(&self) -> End {
        eventually("the line ends", async || self.ending()).await
    }

    /// Does what a test orders.
    pub fn order(&self, order: Order) {
        let _ = self.mouth.orders.send(order);
    }

    /// Ends it as `close()` in a browser does: with the handshake and without a code.
    pub fn close(&self) {
        self.order(Order::Close);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Mouth {
    /// Says something; false means that nobody listens any more.
    pub fn say(&self, message: Value) -> bool {
        let sent = self.orders.send(Order::Say(message.clone())).is_ok();
        if sent {
            self.said.lock().unwrap().push(message);
        }
        sent
    }

    /// Ends the line.
    pub fn close(&self) {
        let _ = self.orders.send(Order::Close);
    }
}

/// Answers that a test holds back for a while.
#[derive(Default)]
pub struct Held {
    words: Vec<String>,
    kept: Vec<(Mouth, Vec<Value>)>,
}

impl Held {
    /// Holds back answers to whatever mentions a word.
    pub fn hold(&mut self, word: &str) {
        self.words.push(word.to_owned());
    }

    /// Returns whether the answers to a request are to be held back.
    pub fn holds(&self, request: &Value) -> bool {
        let request = request.to_string();
        self.words.iter().any(|word| request.contains(word))
    }

    /// Says answers, or keeps them where the request is one that is held.
    pub fn answer(&mut self, mouth: &Mouth, request: &Value, answers: Vec<Value>) {
        if self.holds(request) {
            self.kept.push((mouth.clone(), answers));
            return;
        }
        for answer in answers {
            mouth.say(answer);
        }
    }

    /// Returns how many requests wait for their answers.
    pub fn count(&self) -> usize {
        self.kept.len()
    }

    /// Says what was kept and holds back nothing more. The newest request is answered first.
    pub fn release(&mut self) {
        self.words.clear();
        for (mouth, answers) in self.kept.drain(..).rev() {
            for answer in answers {
                mouth.say(answer);
            }
        }
    }
}
