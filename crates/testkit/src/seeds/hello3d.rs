//! The page of hello3d: one 3D model that can be looked at and changed.
//!
//! It registers under the id from its address, tells its state when asked, does flat commands
//! without ids and pushes its state after each one. It says nothing about a command that it does
//! not know or that throws, nothing about a change by mouse, and never pings. [`scene`] is what it
//! shows; [`Page`] decides what it says; [`Hello3d`] is the page with its connection.

pub mod scene;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};

use self::scene::Scene;
use super::wire::{End, Heard, Order, Reaction, live};
use crate::{Dial, PATIENCE, eventually, within};

/// Where the page is served from while it is developed.
pub const ORIGIN: &str = "http://localhost:5173";

/// How a page answers when it is asked for its state.
#[derive(Debug, Clone, PartialEq)]
pub enum Queries {
    /// At once.
    Answer,
    /// When the test lets it.
    Hold,
    /// Not at all.
    Ignore,
    /// With an error.
    Fail(&'static str),
    /// With these texts, in which `$id` stands for the request's id.
    Garble(&'static [&'static str]),
    /// It is gone.
    Leave,
}

/// What a page does about a command that it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Does it and pushes its state.
    Obey,
    /// Does it, and pushes its state when the test lets it.
    Hold,
    /// Throws, which nobody hears of.
    Throw,
    /// It is gone.
    Leave,
}

/// What the page's own code does, without a connection.
#[derive(Debug)]
pub struct Page {
    /// What it shows.
    pub scene: Scene,
    /// How it answers questions.
    pub queries: Queries,
    /// What it does about commands.
    pub doing: Doing,
    /// What it has told its user about tools that are running.
    pub toasts: Vec<String>,
    held: Vec<Value>,
}

impl Page {
    /// Opens the page.
    pub fn new() -> Self {
        Self {
            scene: Scene::default(),
            queries: Queries::Answer,
            doing: Doing::Obey,
            toasts: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Takes any text; what is not JSON is passed over.
    pub fn take_text(&mut self, text: &str) -> Vec<Reaction> {
        serde_json::from_str(text).map(|message| self.take(&message)).unwrap_or_default()
    }

    /// Takes a message.
    pub fn take(&mut self, message: &Value) -> Vec<Reaction> {
        let kind = message["type"].as_str().unwrap_or_default();
        if kind == "requestState" && message["requestId"].is_string() {
            return self.tell(&message["requestId"]);
        }
        let asks = kind.starts_with("get") || kind == "toolCall";
        if !asks && self.doing == Doing::Leave && self.scene.clone().apply(message).is_some() {
            return vec![Reaction::Leave];
        }
        if !asks && self.doing == Doing::Throw {
            return Vec::new();
        }
        match self.scene.apply(message) {
            Some(Ok(())) if kind == "toolCall" => {
                self.toasts.push(message["toolName"].as_str().unwrap_or_default().to_owned());
                Vec::new()
            }
            Some(Ok(())) if !asks => {
                let push = self.push();
                self.say_or_hold(push, self.doing == Doing::Hold)
            }
            _ => Vec::new(),
        }
    }

    /// Returns what was held back, in order, and answers at once from now on.
    pub fn release(&mut self) -> Vec<Value> {
        (self.queries, self.doing) = (Queries::Answer, Doing::Obey);
        std::mem::take(&mut self.held)
    }

    /// Writes the message with the whole state that follows a command.
    pub fn push(&self) -> Value {
        let (state, now) = (self.scene.state(), 1_704_067_200_000_u64);
        json!({"type": "stateUpdate", "state": state, "timestamp": now})
    }

    fn tell(&mut self, id: &Value) -> Vec<Reaction> {
        let state = self.scene.state();
        let answer = json!({"type": "stateResponse", "requestId": id, "state": state});
        match &self.queries {
            Queries::Answer => self.say_or_hold(answer, false),
            Queries::Hold => self.say_or_hold(answer, true),
            Queries::Ignore => Vec::new(),
            Queries::Fail(error) => {
                let error = json!({"type": "stateError", "requestId": id, "error": error});
                vec![Reaction::Say(error)]
            }
            Queries::Garble(texts) => {
                let text = |text: &&str| text.replace("$id", id.as_str().unwrap_or_default());
                texts.iter().map(text).map(Reaction::Text).collect()
            }
            Queries::Leave => vec![Reaction::Leave],
        }
    }

    fn say_or_hold(&mut self, message: Value, hold: bool) -> Vec<Reaction> {
        if hold {
            self.held.push(message);
            return Vec::new();
        }
        vec![Reaction::Say(message)]
    }
}

impl Default for Page {
    fn default() -> Self {
        Self::new()
    }
}

/// A page with its connection. It leaves when this is dropped.
pub struct Hello3d {
    /// The id in its address.
    pub session: String,
    dial: Dial,
    page: Arc<Mutex<Page>>,
    heard: Heard,
    orders: mpsc::UnboundedSender<Order>,
    task: JoinHandle<End>,
}

impl Hello3d {
    /// Opens a page under an id and waits until the hub has registered it.
    pub async fn open(port: u16, session: &str) -> Self {
        let page = Self::dialled(Self::dial(port), session).await;
        page.until("sessionRegistered", 1).await;
        page
    }

    /// Opens a page that says that it is registered, whatever the hub thinks of that.
    pub async fn dialled(dial: Dial, session: &str) -> Self {
        let (page, heard) = (Arc::default(), Heard::default());
        let (orders, task) = connect(&dial, session, &page, &heard).await;
        Self { session: session.to_owned(), dial, page, heard, orders, task }
    }

    /// Returns how a page dials: the root, from its development server, without a subprotocol.
    pub fn dial(port: u16) -> Dial {
        Dial::root(port).offer_only(&[]).origin(ORIGIN)
    }

    /// Connects again as the page does after a loss: the same id, and nothing forgotten.
    pub async fn reconnect(&mut self) {
        self.task.abort();
        let registered = self.heard("sessionRegistered").len();
        (self.orders, self.task) =
            connect(&self.dial, &self.session, &self.page, &self.heard).await;
        self.until("sessionRegistered", registered + 1).await;
    }

    /// Looks at the page, or changes how it behaves.
    pub fn with<T>(&self, change: impl FnOnce(&mut Page) -> T) -> T {
        change(&mut self.page.lock().unwrap())
    }

    /// Returns the state as the page would tell it.
    pub fn state(&self) -> Value {
        self.with(|page| page.scene.state())
    }

    /// Turns the model with the mouse, which nobody hears of.
    pub fn drag(&self, degrees: f64) {
        self.with(|page| page.scene.drag(degrees));
    }

    /// Lets it say what it held back, and answer at once from now on.
    pub fn release(&self) {
        for message in self.with(Page::release) {
            self.order(Order::Say(message));
        }
    }

    /// Tells it to do something.
    pub fn order(&self, order: Order) {
        // An error means that its connection has ended already.
        let _ = self.orders.send(order);
    }

    /// Returns everything of one type that it has heard.
    pub fn heard(&self, kind: &str) -> Vec<Value> {
        self.heard.of(kind)
    }

    /// Returns the commands that it has heard.
    pub fn commands(&self) -> Vec<Value> {
        let mut heard = self.heard.all();
        let other = ["sessionRegistered", "error", "requestState", "toolCall"];
        heard.retain(|message| !other.contains(&message["type"].as_str().unwrap_or_default()));
        heard
    }

    /// Returns everything that it has heard, in order.
    pub fn everything(&self) -> Vec<Value> {
        self.heard.all()
    }

    /// Waits until it has heard so many of a type; returns all of these.
    pub async fn until(&self, kind: &str, count: usize) -> Vec<Value> {
        eventually(&format!("{count} times {kind}"), async || {
            Some(self.heard(kind)).filter(|heard| heard.len() >= count)
        })
        .await
    }

    /// Is gone, without a word; waits until that is so.
    pub async fn vanish(&mut self) {
        self.order(Order::Leave);
        self.ended().await;
    }

    /// Waits until its connection has ended.
    pub async fn ended(&mut self) -> End {
        within(PATIENCE, "the page's connection ends", &mut self.task).await.unwrap()
    }

    /// Returns whether its connection is open.
    pub fn is_connected(&self) -> bool {
        !self.task.is_finished()
    }
}

impl Drop for Hello3d {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects, registers and lives.
async fn connect(
    dial: &Dial,
    session: &str,
    page: &Arc<Mutex<Page>>,
    heard: &Heard,
) -> (mpsc::UnboundedSender<Order>, JoinHandle<End>) {
    let mut socket = dial.connect().await;
    socket.send(&json!({"type": "registerSession", "sessionId": session})).await;
    let (orders, mut ordered) = mpsc::unbounded_channel();
    let (page, heard) = (Arc::clone(page), heard.clone());
    let task = tokio::spawn(async move {
        live(socket, &mut ordered, &heard, |message| page.lock().unwrap().take(message)).await
    });
    (orders, task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(page: &mut Page, message: &Value) -> Vec<Value> {
        let said = page.take_text(&message.to_string());
        said.into_iter()
            .map(|reaction| match reaction {
                Reaction::Say(message) => message,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_question_is_answered_with_its_id_and_one_without_is_passed_over() {
        let mut page = Page::new();
        let said = take(&mut page, &json!({"type": "requestState", "requestId": "q1"}));
        assert_eq!(
            (&said[0]["type"], &said[0]["requestId"]),
            (&json!("stateResponse"), &json!("q1"))
        );
        assert_eq!(said[0]["state"], page.scene.state());
        assert_eq!(take(&mut page, &json!({"type": "requestState"})), [] as [Value; 0]);
    }

    #[test]
    fn only_a_command_that_was_done_is_followed_by_the_state() {
        let mut page = Page::new();
        let said = take(&mut page, &json!({"type": "changeColor", "color": "#CC0000"}));
        assert_eq!(said[0]["state"]["model"]["color"], "#cc0000");
        for silent in [
            json!({"type": "getModelColor"}),
            json!({"type": "toolCall", "toolName": "get_model_color"}),
            json!({"type": "changeColor"}),
            json!({"type": "unknown"}),
            json!("text"),
        ] {
            assert_eq!(take(&mut page, &silent), [] as [Value; 0], "{silent}");
        }
        assert_eq!(page.take_text("not JSON"), []);
        assert_eq!(page.toasts, ["get_model_color"]);
    }
}
