//! `tabwire sessions`: who is connected, who waits to be let in, one session in full; and forgetting.

use std::{fmt::Display, io::Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{
    api::{self, Api},
    cli::{Sessions, SessionsChange, Target},
    failure::Failure,
    terminal,
};

pub fn run(options: &Sessions) -> Result<(), Failure> {
    api::block_on(async {
        if let Some(change) = &options.change {
            return make(change).await;
        }
        let api = Api::new(&options.target);
        match &options.session {
            None => list(&api, options.target.json).await,
            Some(name) => show(&api, name, options).await,
        }
    })
}

async fn make(change: &SessionsChange) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    match change {
        SessionsChange::Forget { session, away, target } => {
            let mut body = json!({ "away": away });
            if let Some(session) = session {
                body = json!({ "session": session });
            }
            let done = Api::new(target).post("/api/forget", &body).await?;
            if target.json {
                writeln!(out, "{done}")?;
                return Ok(());
            }
            let names = done["forgotten"].as_array().cloned().unwrap_or_default();
            let names: Vec<_> = names.iter().map(text).collect();
            match names.is_empty() {
                true => writeln!(out, "nobody is away")?,
                false => writeln!(out, "forgotten: {}", names.join(", "))?,
            }
        }
        SessionsChange::Allow { origin, target } => {
            let body = json!({"origin": origin, "allowed": true});
            Api::new(target).post("/api/apps", &body).await?;
            say(target, &format!("web apps of {origin} may connect"))?;
        }
        SessionsChange::Deny { origin, target } => {
            let body = json!({"origin": origin, "allowed": false});
            Api::new(target).post("/api/apps", &body).await?;
            say(target, &format!("web apps of {origin} may not connect"))?;
        }
    }
    Ok(())
}

fn say(target: &Target, words: &str) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    match target.json {
        true => writeln!(out, "{{}}")?,
        false => writeln!(out, "{words}")?,
    }
    Ok(())
}

async fn list(api: &Api, as_json: bool) -> Result<(), Failure> {
    let body = api.get("/api/sessions").await?;
    let mut out = terminal::stdout();
    if as_json {
        writeln!(out, "{}", body["sessions"])?;
        return Ok(());
    }
    let sessions = body["sessions"].as_array().cloned().unwrap_or_default();
    if sessions.is_empty() {
        writeln!(out, "no browser or app has connected yet")?;
    }
    for session in sessions {
        let connected = if session["connected"] == true { "connected" } else { "away" };
        writeln!(
            out,
            "{:<20} {:<16} {:<8} {:<10} {:>3} tools {:>3} tabs",
            text(&session["name"]),
            text(&session["id"]),
            text(&session["kind"]),
            connected,
            count(&session["tools"]),
            count(&session["tabs"]),
        )?;
    }
    // An older hub that still runs knows of no such list.
    let apps = api.get("/api/apps").await.unwrap_or_default();
    for origin in apps["waiting"].as_array().into_iter().flatten() {
        let origin = text(origin);
        writeln!(out, "{origin} waits to be let in: tabwire sessions allow {origin}")?;
    }
    Ok(())
}

async fn show(api: &Api, name: &str, options: &Sessions) -> Result<(), Failure> {
    let path = format!("/api/sessions/{}", encode(name));
    let mut session = api.get(&path).await?;
    let refresh = if options.refresh { "?forceRefresh=true" } else { "" };
    // A session without a state is worth showing too.
    session["state"] = match api.get(&format!("{path}/state{refresh}")).await {
        Ok(state) => state,
        Err(failure) if options.refresh => return Err(failure),
        Err(_) => json!(null),
    };
    let mut out = terminal::stdout();
    match options.target.json {
        true => writeln!(out, "{session}")?,
        false => writeln!(out, "{session:#}")?,
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

/// Makes a text safe as one part of a path.
pub fn encode(text: &str) -> impl Display {
    const SPECIAL: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-').remove(b'~');
    utf8_percent_encode(text, SPECIAL)
}
