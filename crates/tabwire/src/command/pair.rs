//! `tabwire pair`: shows a code and waits until a browser has used it; lists who is paired.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use guard::{
    Pairings,
    pairing::{By, CODE_LIFE, CodeState, Offer, Paired},
};
use machine::discovery::iso_time;
use serde_json::{Value, json};

use crate::{api, cli::Pair, failure::Failure, terminal};

/// How often it is looked whether the code was used.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(options: &Pair) -> Result<(), Failure> {
    let data = options.data.path();
    let pairings = open(&data)?;
    if options.list {
        return list(&pairings, options.json);
    }
    api::block_on(async {
        if !options.no_wait {
            must_run(&data).await?;
        }
        if let Some(notice) = pairings.notice().map_err(Failure::failed)? {
            terminal::tell(notice);
        }
        let offer = pairings.offer_code().map_err(Failure::failed)?;
        show(&offer, options.json)?;
        if options.no_wait {
            return Ok(());
        }
        // Both arms are cancel-safe: a code that is left is withdrawn.
        tokio::select! {
            waited = wait(&pairings, &offer, options.json) => waited,
            _ = tokio::signal::ctrl_c() => {
                pairings.withdraw_code(&offer.id).map_err(Failure::failed)?;
                Err(Failure::failed("the code was withdrawn"))
            }
        }
    })
}

/// Opens the pairings of a data folder, which is made private where it does not exist.
pub fn open(data: &Path) -> Result<Pairings, Failure> {
    machine::folder::open(data).map_err(Failure::failed)?;
    Ok(Pairings::of(data))
}

/// Shows a paired browser to programs.
pub fn for_programs(paired: &Paired) -> Value {
    let by = match paired.by {
        By::Native => "native",
        By::Code => "code",
    };
    json!({
        "instance": paired.instance.as_str(), "name": paired.name, "launch": paired.launch,
        "by": by, "pairedAt": iso(paired.paired_at),
    })
}

/// Shows a paired browser to people.
pub fn for_people(paired: &Paired) -> String {
    match &paired.name {
        Some(name) => format!("{} ({})", terminal::one_line(name), paired.instance),
        None => paired.instance.to_string(),
    }
}

async fn must_run(data: &Path) -> Result<(), Failure> {
    match machine::status(data).await.map_err(Failure::failed)? {
        machine::Status::Running(_) => Ok(()),
        machine::Status::Unresponsive(_) => Err(Failure::failed("the hub does not answer")),
        machine::Status::Stale(_) | machine::Status::NotRunning => Err(Failure::no_hub(
            "no hub runs that a browser could be paired with; start one with `tabwire serve`, or \
             use --no-wait",
        )),
    }
}

fn show(offer: &Offer, as_json: bool) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let (code, minutes) = (&offer.code, CODE_LIFE.as_secs() / 60);
    match as_json {
        true => writeln!(
            out,
            "{}",
            json!({"code": code, "expiresAt": iso(offer.expires_at), "expiresInMs": CODE_LIFE.as_millis() as u64})
        )?,
        false => writeln!(
            out,
            "{code}\nPaste this code into the Tabwire extension. It is valid once, for {minutes} \
             minutes (until {}).",
            iso(offer.expires_at)
        )?,
    }
    Ok(out.flush()?)
}

async fn wait(pairings: &Pairings, offer: &Offer, as_json: bool) -> Result<(), Failure> {
    loop {
        match pairings.code_state(&offer.id).map_err(Failure::failed)? {
            CodeState::Waiting => tokio::time::sleep(LOOK).await,
            CodeState::Used(paired) => {
                let mut out = terminal::stdout();
                match as_json {
                    true => writeln!(out, "{}", json!({"paired": for_programs(&paired)}))?,
                    false => writeln!(out, "paired with {}", for_people(&paired))?,
                }
                return Ok(());
            }
            CodeState::Over => {
                let message = "the code was not used in time, or another has taken its place";
                return Err(Failure::failed(message));
            }
        }
    }
}

fn list(pairings: &Pairings, as_json: bool) -> Result<(), Failure> {
    let paired = pairings.list().map_err(Failure::failed)?;
    if let Some(notice) = pairings.notice().map_err(Failure::failed)? {
        terminal::tell(notice);
    }
    let mut out = terminal::stdout();
    if as_json {
        let all: Vec<_> = paired.iter().map(for_programs).collect();
        return Ok(writeln!(out, "{}", json!(all))?);
    }
    if paired.is_empty() && std::io::stdout().is_terminal() {
        writeln!(out, "no browser is paired; pair one with `tabwire pair`")?;
    }
    for one in &paired {
        let by = if one.by == By::Code { "code" } else { "native" };
        let name = terminal::one_line(one.name.as_deref().unwrap_or("-"));
        writeln!(out, "{name:<20} {:<38} {by:<8} {}", one.instance.as_str(), iso(one.paired_at))?;
    }
    Ok(())
}

fn iso(ms: u64) -> String {
    iso_time(UNIX_EPOCH + Duration::from_millis(ms))
}
