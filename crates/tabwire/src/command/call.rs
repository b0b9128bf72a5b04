//! `tabwire call`: a tool call on the path that an AI client takes.

use std::{
    io::{Read, Write},
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tools::shelf::PREFIX;

use crate::{
    api::{self, Api},
    cli::Call,
    failure::Failure,
    terminal,
};

pub fn run(options: &Call) -> Result<(), Failure> {
    let args = arguments(&options.args)?;
    let mut body = json!({"tool": options.tool, "args": args});
    if let Some(session) = &options.session {
        body["session"] = json!(session);
    }
    if let Some(tab) = options.tab {
        body["tab"] = json!(tab);
        body["target"] = json!("page");
    }
    if let Some(timeout) = options.timeout {
        body["timeoutMs"] = json!(timeout.as_millis() as u64);
    }
    api::block_on(async {
        let api = Api::new(&options.target);
        let answer = api.post("/api/call", &body).await?;
        if let Some(path) = &options.out {
            save(&api, &answer, path).await?;
        }
        let mut out = terminal::stdout();
        match (options.target.json, &answer["result"]) {
            (true, _) => writeln!(out, "{answer}")?,
            (false, Value::Null) if answer["text"].is_string() => {
                writeln!(out, "{}", answer["text"].as_str().unwrap_or_default())?;
            }
            (false, Value::String(text)) => writeln!(out, "{text}")?,
            (false, result) => writeln!(out, "{result:#}")?,
        }
        match answer["failed"] == true {
            true => Err(Failure::failed("a step failed; see above what was done and what was not")),
            false => Ok(()),
        }
    })
}

/// Saves what the answer links to, else the file or picture that stands in it.
async fn save(api: &Api, answer: &Value, path: &Path) -> Result<(), Failure> {
    let link = answer["links"][0]["uri"].as_str().and_then(|uri| uri.strip_prefix(PREFIX));
    let inside = [&answer["result"]["file"]["data"], &answer["images"][0]["data"]];
    let bytes = match (link, inside.into_iter().find_map(Value::as_str)) {
        (Some(id), _) => api.bytes(&format!("/api/results/{id}")).await?,
        (None, Some(data)) => STANDARD.decode(data).map_err(Failure::failed)?,
        (None, None) => {
            return Err(Failure::failed("the answer has no file, picture or long text to save"));
        }
    };
    std::fs::write(path, bytes)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

fn arguments(text: &str) -> Result<Value, Failure> {
    let mut typed = text.to_owned();
    if text == "-" {
        typed.clear();
        std::io::stdin().read_to_string(&mut typed)?;
    }
    let value: Value = serde_json::from_str(&typed)
        .map_err(|error| Failure::usage(format!("the arguments are not JSON: {error}")))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(Failure::usage("the arguments are a JSON object, such as '{\"color\":\"red\"}'"))
    }
}
