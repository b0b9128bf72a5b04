//! `tabwire tail`: what happens in the sessions, as it happens.

use std::io::Write;

use model::json::shorten;
use serde_json::Value;

use super::sessions::encode;
use crate::{
    api::{self, Api},
    cli::Tail,
    failure::Failure,
    terminal,
};

/// Longest payload that is shown on a line for people.
const SHOWN: usize = 160;

pub fn run(options: &Tail) -> Result<(), Failure> {
    let path = match &options.session {
        Some(session) => format!("/api/tail?session={}", encode(session)),
        None => "/api/tail".to_owned(),
    };
    api::block_on(async {
        let api = Api::new(&options.target);
        api.lines(&path, |line| {
            let mut out = terminal::stdout();
            match options.target.json {
                true => writeln!(out, "{line}")?,
                false => writeln!(out, "{}", terminal::one_line(&for_people(line)))?,
            }
            out.flush()?;
            Ok(())
        })
        .await
    })
}

fn for_people(line: &str) -> String {
    let Ok(item) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    if text("kind") == "missed" {
        return format!("… {} entries were missed: too many at once", item["count"]);
    }
    let seconds = item["atMs"].as_u64().unwrap_or_default() / 1000 % 86_400;
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let body = match &item["body"] {
        Value::Null => String::new(),
        body => shorten(&body.to_string(), SHOWN),
    };
    let what = format!("{} {}", text("kind"), text("name"));
    format!("{clock} {:<20} {:<8} {} {body}", text("session"), text("level"), what.trim_end())
}
