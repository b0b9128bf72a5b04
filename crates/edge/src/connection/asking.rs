//! Web apps that need their user's word: told to the browsers that are paired here, whose window asks.
//!
//! The page is closed with a code that says "later", and comes back by itself. What the user says
//! reaches [`answer`] from the extension or the command line.

use std::{io, sync::Arc};

use hub::{AppAnswer, Session};
use model::{CloseReason, Closing, Json, Kind, Level};
use serde_json::json;
use tokio::{sync::broadcast::Receiver, task::spawn_blocking};

use crate::{Edge, gate::origin};

/// The event that names who waits.
const WAITING: &str = "appsWaiting";

/// Notes that an app waits, and returns why its socket is closed.
pub fn ask_for(edge: &Edge, origin: &str) -> Closing {
    if edge.app_origins.wait(origin) {
        tracing::info!(origin, "a web app waits to be let in; see `tabwire sessions`");
        tell_all(edge);
    }
    let message = "not allowed yet: allow it in the extension or with `tabwire sessions allow`";
    Closing::new(CloseReason::NotAllowedYet, message)
}

/// Takes the user's word on an origin; after a no its apps are put out.
pub fn answer(edge: &Edge, origin: &str, is_allowed: bool) -> io::Result<()> {
    edge.app_origins.answer(origin, is_allowed)?;
    tracing::info!(origin, is_allowed, "the user has answered for a web app");
    if !is_allowed {
        for app in edge.hub.filtered(|session| session.app_origin() == Some(origin)) {
            let message = "its user does not let it in";
            app.close(Closing::new(CloseReason::NotAllowedYet, message));
        }
    }
    tell_all(edge);
    Ok(())
}

/// Takes what the user says in a browser's window, one word after the other, until the edge stops.
pub async fn hear_answers(edge: Arc<Edge>, mut answers: Receiver<AppAnswer>) {
    loop {
        // Cancel-safe: an answer is taken whole or not at all. What was said before the end is kept.
        let heard = tokio::select! {
            biased;
            heard = answers.recv() => heard,
            () = edge.stop.cancelled() => return,
        };
        // The sender is the hub's own: an error means that some were lost, because they were too many.
        let Ok((origin, is_allowed)) = heard else { continue };
        if origin::is_loopback_page(&origin) {
            let (edge, app) = (edge.clone(), origin.clone());
            // It writes a file.
            let answered = spawn_blocking(move || answer(&edge, &app, is_allowed)).await;
            if let Ok(Err(error)) = answered {
                tracing::error!(origin, %error, "the user's word on a web app is not kept");
            }
        }
    }
}

/// Tells a browser that has come who waits; nobody is worth saying too, since it may show who waited
/// at the hub before.
pub fn tell(edge: &Edge, session: &Arc<Session>) {
    if can_ask(session) {
        say(session, &edge.app_origins.waiting());
    }
}

fn tell_all(edge: &Edge) {
    let waiting = edge.app_origins.waiting();
    for session in edge.hub.filtered(can_ask) {
        say(&session, &waiting);
    }
}

/// Only a browser of this user shows it: one that has proven itself and is on this machine.
fn can_ask(session: &Session) -> bool {
    session.kind == Kind::Browser && session.is_at_home()
}

fn say(session: &Arc<Session>, waiting: &[String]) {
    session.notify(WAITING, Level::Info, Json::of(&json!({ "origins": waiting })));
}
