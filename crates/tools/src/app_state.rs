//! Tool `app_state`: what an app's state is, with where it comes from and how old it is.

use std::time::Duration;

use hub::{Route, Source, StateQuery};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Toolbox, answer,
    definition::{self, Annotations, Client, CoreTool, Definition, Output, Work, decode},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool = CoreTool::own("app_state", "apps", define, run);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    session: Option<String>,
    path: Option<String>,
    max_age_ms: Option<u64>,
    #[serde(default)]
    force_refresh: bool,
    timeout_ms: Option<u64>,
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description: "State of a connected app, from a cache that the app keeps fresh.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "session": {"type": "string"},
                "path": {"type": "string", "description": "JSON pointer"},
                "maxAgeMs": {
                    "type": "integer", "minimum": 0, "description": "ask the app if older",
                },
                "forceRefresh": {
                    "type": "boolean", "description": "ask the app", "unlisted": true,
                },
                "timeoutMs": {
                    "type": "integer", "minimum": 1, "description": "for asking", "unlisted": true,
                },
            },
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {
                "session": {"type": "string"},
                "value": {},
                "source": {"enum": ["cache", "live", "stale"]},
                "stale": {"type": "string"},
                "ageMs": {"type": "integer"},
                "version": {"type": "integer"},
                "connected": {"type": "boolean"},
            },
            "required": ["session", "value", "source", "ageMs", "version", "connected"],
        })),
        annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        let route = Route { session: args.session, binding: client.binding.clone() };
        let has_state = |session: &hub::Session| session.snapshot().is_some();
        let session = match toolbox.hub.route(&route, "a state", has_state) {
            // Nobody has told a state yet: the only session there is may be asked for one.
            Err(_) if route.session.is_none() => toolbox.hub.route(&route, "a state", |_| true)?,
            found => found?,
        };
        let query = StateQuery {
            path: args.path,
            max_age: args.max_age_ms.map(Duration::from_millis),
            force_refresh: args.force_refresh,
            timeout: args.timeout_ms.map(Duration::from_millis),
        };
        let found = toolbox.hub.state(&session, &query).await?;
        let shown = answer::of_state(&found.value);
        let (source, stale) = match &found.source {
            Source::Cache => ("cache", None),
            Source::Live => ("live", None),
            Source::Stale(reason) => ("stale", Some(reason)),
        };
        let age = found.age.as_millis() as u64;
        let note = match stale {
            Some(reason) => format!("STALE: {reason}"),
            None => format!("{source}, {age} ms old, version {}", found.version),
        };
        let mut structured = json!({
            "session": &*session.name,
            "value": shown.structured,
            "source": source,
            "ageMs": age,
            "version": found.version,
            "connected": found.connected,
        });
        if let Some(reason) = stale {
            structured["stale"] = json!(reason);
        }
        Ok(Output {
            text: format!("{}\n({note})", shown.text),
            structured,
            source: Some(definition::Source::of(&session)),
            ..shown
        })
    })
}
