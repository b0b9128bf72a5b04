//! `tabwire call`: a tool call on the path that an AI client takes.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::{
    api::{self, Api},
    cli::Call,
    failure::Failure,
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
        let answer = Api::new(&options.target)?.post("/api/call", &body).await?;
        let mut out = std::io::stdout();
        match (options.target.json, &answer["result"]) {
            (true, _) => writeln!(out, "{answer}")?,
            (false, Value::Null) if answer["text"].is_string() => {
                writeln!(out, "{}", answer["text"].as_str().unwrap_or_default())?;
            }
            (false, Value::String(text)) => writeln!(out, "{text}")?,
            (false, result) => writeln!(out, "{result:#}")?,
        }
        Ok(())
    })
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
