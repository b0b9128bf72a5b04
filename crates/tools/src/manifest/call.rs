//! A call of a manifest's tool: arguments first, then the page, then the notice, then the work.
//!
//! Nothing reaches a page before every argument was checked. A command that a page does not
//! confirm in time is no error, because it was sent; the answer says so.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hub::{CallRequest, Session, Source, StateAnswer, StateQuery};
use model::{Code, Effect, Fault, Json, Reply, Retry, Target, Work, page_text};
use serde_json::{Map, Value, json};

use super::{
    Apps, Confirm, Manifest,
    prepare::{Prepared, invalid, prepare, refuse_unknown, take_force_refresh},
    template::{Template, show},
    tool::{Action, Command},
};
use crate::{
    Toolbox,
    apps::take_session,
    definition::{self, Client, Output},
};

/// Calls a tool of a manifest; none means that no manifest in force has it.
pub async fn call(
    apps: &Apps,
    toolbox: &Toolbox,
    client: &Client,
    name: &str,
    args: Value,
) -> Option<Result<Output, Fault>> {
    let owned = apps.find(&toolbox.hub, name)?;
    let call = Call { manifest: &owned.manifest, toolbox, client, name };
    Some(call.run(&owned.tool().action, args).await)
}

/// A call under way.
struct Call<'a> {
    manifest: &'a Manifest,
    toolbox: &'a Toolbox,
    client: &'a Client,
    name: &'a str,
}

impl Call<'_> {
    async fn run(&self, action: &Action, args: Value) -> Result<Output, Fault> {
        let mut fields = match args {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            _ => return Err(invalid("the arguments must be an object")),
        };
        // Some clients write null for what they leave out.
        fields.retain(|_, value| !value.is_null());
        let named = take_session(&mut fields)?;
        match action {
            Action::Get { pointer, label, show } => {
                let force_refresh = take_force_refresh(&mut fields)?;
                let label = label.as_str();
                let got = self.get(named, pointer, label, show.as_ref(), force_refresh).await;
                got.map_err(|fault| labelled(label, fault))
            }
            Action::Do(command) => {
                let prepared = prepare(command, fields)?;
                self.send(named, command, prepared).await
            }
            Action::Link => {
                refuse_unknown(&fields, &[])?;
                self.manifest.link(self.toolbox, self.client, named)
            }
        }
    }

    async fn get(
        &self,
        named: Option<String>,
        pointer: &str,
        label: &str,
        template: Option<&Template>,
        force_refresh: bool,
    ) -> Result<Output, Fault> {
        let session = self.open(named)?;
        let query = StateQuery {
            path: Some(pointer.to_owned()),
            force_refresh,
            timeout: self.timeout(&session),
            ..StateQuery::default()
        };
        let answer = self.toolbox.hub.state(&session, &query).await.map_err(|fault| {
            match fault.code {
                // The path is the manifest's, not the caller's.
                Code::InvalidArgument => Fault {
                    code: Code::StateUnavailable,
                    retry: Code::StateUnavailable.retry(),
                    ..fault
                },
                _ if session.is_connected() => fault,
                _ => self.manifest.with_link(fault),
            }
        })?;
        Ok(state_output(&session, label, template, &answer))
    }

    async fn send(
        &self,
        named: Option<String>,
        command: &Command,
        prepared: Prepared,
    ) -> Result<Output, Fault> {
        let session = self.open(named)?;
        let args = Value::Object(prepared.wire);
        let request = CallRequest {
            caller: self.client.caller.clone(),
            tab: None,
            effect: Effect::Act,
            work: Work::Tool {
                target: Target::App,
                name: command.name.clone(),
                args: Json::of(&args),
            },
            timeout: self.timeout(&session),
            progress: self.client.progress.clone(),
        };
        let mut structured =
            json!({"session": &*session.name, "command": command.name, "args": args});
        let text = match self.toolbox.hub.call(&session, request).await {
            Ok(Reply::Result(result)) => {
                structured["confirmed"] = json!(true);
                if self.manifest.confirm == Confirm::Reply {
                    structured["result"] = result.to_value().unwrap_or_default();
                }
                let now = where_it_stands(&session, command, &mut structured);
                let note = self.note_of(&session, &result, &mut structured);
                prepared.reply + &now + &note
            }
            Ok(Reply::State(_) | Reply::Tools(_)) => {
                return Err(Fault::new(Code::MalformedReply, "the page answered another question"));
            }
            Err(fault) if self.is_unconfirmed(&session, &fault) => {
                structured["confirmed"] = json!(false);
                format!(
                    "{} was sent, but is unconfirmed: the page did not push its state within {}s; \
                     read it with forceRefresh before repeating the call",
                    self.name,
                    self.timeout(&session).unwrap_or_default().as_secs_f64()
                )
            }
            Err(fault) if fault.code == Code::NotConnected => {
                return Err(self.manifest.with_link(fault));
            }
            Err(fault) => return Err(fault),
        };
        Ok(Output {
            text,
            structured,
            source: Some(definition::Source::of(&session)),
            ..Output::default()
        })
    }

    /// Chooses the page and tells it what is about to be called.
    fn open(&self, named: Option<String>) -> Result<Arc<Session>, Fault> {
        let session = self.manifest.route(self.toolbox, self.client, self.name, named)?;
        // A notice is for people who look at the page now; nobody wants it after a reconnect.
        if let Some(notice) = &self.manifest.notice
            && session.is_connected()
        {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let data = json!({"toolName": self.name, "timestamp": now.as_millis() as u64});
            session.mention(notice, Json::of(&data));
        }
        Ok(session)
    }

    /// What a page that answers commands has to say besides, such as a limit that it met. Pages of
    /// the manifest's own dialect only push their state, which is no answer.
    fn note_of(&self, session: &Session, result: &Json, structured: &mut Value) -> String {
        if self.is_of_dialect(session) {
            return String::new();
        }
        let result = result.to_value().unwrap_or_default();
        let Some(note) = result["note"].as_str() else { return String::new() };
        structured["note"] = json!(note);
        format!("; {}", page_text::exact(note))
    }

    /// How long a page may take. The manifest speaks of pages of its dialect, which do not say when
    /// they are done; one on our own protocol does, and has the usual time.
    fn timeout(&self, session: &Session) -> Option<Duration> {
        let of_manifest = self.is_of_dialect(session).then_some(self.manifest.timeout);
        self.client.timeout.or(of_manifest)
    }

    fn is_of_dialect(&self, session: &Session) -> bool {
        *session.dialect == *self.manifest.dialect
    }

    /// A command that was sent and brought no state. One that only waited was not sent.
    fn is_unconfirmed(&self, session: &Session, fault: &Fault) -> bool {
        self.manifest.confirm == Confirm::State
            && self.is_of_dialect(session)
            && fault.code == Code::TimedOut
            && fault.retry == Retry::Check
    }
}

/// Shows a part of the state with all that must be known to trust it.
fn state_output(
    session: &Session,
    label: &str,
    template: Option<&Template>,
    answer: &StateAnswer,
) -> Output {
    let value = answer.value.to_value().unwrap_or_default();
    let shown = template.and_then(|template| template.fill_from(&value));
    let mut text = format!("{label}: {}", shown.unwrap_or_else(|| show(&value)));
    let (source_word, stale) = match &answer.source {
        Source::Cache => ("cache", None),
        Source::Live => ("live", None),
        Source::Stale(reason) => ("stale", Some(reason)),
    };
    let mut structured = json!({
        "session": &*session.name,
        "value": value,
        "source": source_word,
        "ageMs": answer.age.as_millis() as u64,
        "version": answer.version,
        "connected": answer.connected,
    });
    if let Some(reason) = stale {
        structured["stale"] = json!(reason);
        text += &format!(" (stale: {reason})");
    } else if !answer.connected {
        let age = answer.age.as_secs_f64();
        text += &format!(" (the page is away; this is what it told {age:.1}s ago)");
    }
    Output { text, structured, source: Some(definition::Source::of(session)), ..Output::default() }
}

/// Adds the state's version to what a program reads, and returns what a model reads of it.
fn where_it_stands(session: &Session, command: &Command, structured: &mut Value) -> String {
    let Some(snapshot) = session.snapshot() else { return String::new() };
    structured["version"] = json!(snapshot.version);
    let Some(now) = &command.now else { return String::new() };
    let state = snapshot.state.to_value().unwrap_or_default();
    now.fill_from(&state).map_or_else(String::new, |now| format!(" (now {now})"))
}

/// Says what could not be read.
fn labelled(label: &str, fault: Fault) -> Fault {
    let mut letters = label.chars();
    // "Model color" begins small in the middle of a line; "FOV" does not.
    let label = match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain([second]).chain(letters).collect()
        }
        _ => label.to_owned(),
    };
    Fault { message: format!("{label}: {}", fault.message), ..fault }
}
