//! `tabwire browser`: starts, lists and closes browsers through the hub, as an AI client would.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::{
    api::{self, Api},
    cli::{Browser, BrowserAction},
    failure::Failure,
    terminal,
};

pub fn run(options: &Browser) -> Result<(), Failure> {
    let (target, args) = match &options.action {
        BrowserAction::New(new) => {
            let args = [
                ("headless", new.headless.then_some(json!(true))),
                ("profile", new.profile.as_ref().map(|text| json!(text))),
                ("name", new.name.as_ref().map(|text| json!(text))),
                ("browser", new.browser.as_ref().map(|text| json!(text))),
                ("url", new.url.as_ref().map(|text| json!(text))),
            ];
            (&new.target, with("new", args))
        }
        BrowserAction::List(list) => (&list.target, with("list", [])),
        BrowserAction::Close(close) => {
            (&close.target, with("close", [("session", Some(json!(close.browser)))]))
        }
        BrowserAction::Profiles(profiles) => (&profiles.target, with("profiles", [])),
    };
    let body = json!({"tool": "browser_instance", "args": args});
    api::block_on(async {
        let answer = Api::new(target).post("/api/call", &body).await?;
        let mut out = terminal::stdout();
        match target.json {
            true => writeln!(out, "{}", answer["result"])?,
            false => writeln!(out, "{}", answer["text"].as_str().unwrap_or_default())?,
        }
        Ok(())
    })
}

fn with<const COUNT: usize>(action: &str, args: [(&str, Option<Value>); COUNT]) -> Value {
    let args = args.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut args: Map<_, _> = args.collect();
    args.insert("action".to_owned(), json!(action));
    Value::Object(args)
}
