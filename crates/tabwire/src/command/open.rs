//! `tabwire open viewer`: opens a page of the hub in the user's browser, or prints a link for one on
//! another machine; starts a hub if none runs.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use machine::{JoinError, JoinHello, ReachError};
use serde_json::{Value, json};

use super::stdio::joiner;
use crate::{
    api::{self, Api},
    cli::Open,
    failure::Failure,
    terminal,
};

pub fn run(options: &Open) -> Result<(), Failure> {
    let joiner = joiner(&options.hub)?;
    let hello = JoinHello {
        term: 0,
        client_id: format!("open-{}", model::id::random_text(26)),
        binding: None,
        folder: None,
    };
    let port = api::block_on(async {
        let joined = joiner.join(&hello, true).await;
        let joined = joined.map_err(|error| match error {
            JoinError::Reach(ReachError::NoHub(_)) => Failure::no_hub(error),
            _ => Failure::failed(error),
        })?;
        Ok(joined.welcome.port)
    })?;
    if options.link {
        return print_link(options);
    }
    let url = format!("http://127.0.0.1:{port}/{}/{}", options.page.as_str(), query(options));
    let is_shown = !options.print && show(&url);
    let mut out = terminal::stdout();
    match options.json {
        true => writeln!(out, "{}", json!({"url": url, "opened": is_shown}))?,
        false => writeln!(out, "{url}")?,
    }
    if !is_shown && !options.print {
        terminal::tell("no browser could be opened here; open the address in one");
    }
    Ok(())
}

fn print_link(options: &Open) -> Result<(), Failure> {
    let api = Api::of(&options.hub.data.path());
    let made = api::block_on(async { api.post("/api/links", &json!({})).await })?;
    let hosts = made["hosts"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let hosts: Vec<_> = hosts.collect();
    let is_elsewhere =
        |host: &&&str| !["127.", "localhost", "[::1]"].iter().any(|own| host.starts_with(own));
    let found = hosts.iter().find(is_elsewhere).or(hosts.first()).map(|host| (*host).to_owned());
    let Some(host) = options.host.clone().or(found) else {
        return Err(Failure::failed("the hub does not say where it is reached"));
    };
    let code = made["code"].as_str().unwrap_or_default();
    let url = format!("http://{host}/{}/{}#code={code}", options.page.as_str(), query(options));
    let mut out = terminal::stdout();
    match options.json {
        true => writeln!(out, "{}", json!({"url": url, "opened": false}))?,
        false => writeln!(out, "{url}")?,
    }
    if !hosts.contains(&host.as_str()) {
        terminal::tell(format!(
            "the hub is not known as {host}; start it with --allow-host {host}"
        ));
    } else if !is_elsewhere(&&host.as_str()) {
        terminal::tell("the hub is reached on this machine only; see --bind");
    }
    Ok(())
}

/// The name is a word of our own or what `--name` took, so it needs no escaping.
fn query(options: &Open) -> String {
    options.name.as_ref().map_or_else(String::new, |name| format!("?name={name}"))
}

/// Asks the desktop to show an address; returns whether it took it.
fn show(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let nothing = || (Stdio::null(), Stdio::null(), Stdio::null());
    let (input, output, errors) = nothing();
    Command::new(opener)
        .arg(url)
        .stdin(input)
        .stdout(output)
        .stderr(errors)
        .status()
        .is_ok_and(|status| status.success())
}

/// Reads a name for a page: what a session can be called.
pub fn page_name(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match (1..=32).contains(&text.len()) && text.bytes().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("a name has 1 to 32 of a-z, 0-9 and -".to_owned()),
    }
}
