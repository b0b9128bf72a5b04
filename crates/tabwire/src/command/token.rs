//! `tabwire token`: the token that HTTP clients show, with the lines that set them up.

use std::io::Write;

use guard::own_token;
use serde_json::{Value, json};

use crate::{api, cli::Token, failure::Failure, terminal};

pub fn run(options: &Token) -> Result<(), Failure> {
    let data = api::data_folder(options.data.as_ref());
    machine::folder::open(&data).map_err(Failure::failed)?;
    let token = own_token::ensure(&data).map_err(Failure::failed)?;
    let port = match options.port {
        Some(port) => port,
        None => api::block_on(async { Ok(last_port(&data).await) })?,
    };
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut out = terminal::stdout();
    match options.json {
        true => {
            let file = own_token::path(&data);
            writeln!(out, "{}", json!({"token": token, "file": file, "url": url}))?;
        }
        false => writeln!(out, "{}", for_people(&token, &url))?,
    }
    Ok(())
}

/// Returns the port of the hub that runs, or of the last one, or the usual one.
async fn last_port(data: &std::path::Path) -> u16 {
    let port = match machine::status(data).await {
        Ok(machine::Status::Running(hub)) => hub.port,
        _ => machine::record::read(data).ok().flatten().map_or(0, |record| record.port),
    };
    match port {
        0 => edge::Config::default().port,
        port => port,
    }
}

fn for_people(token: &str, url: &str) -> String {
    let header = format!("Authorization: Bearer {token}");
    let entry: Value = json!({"type": "http", "url": url, "headers": {
        "Authorization": format!("Bearer {token}"),
    }});
    let config = json!({"mcpServers": {"tabwire": entry}});
    format!(
        "{token}\n\nClaude Code:\n  claude mcp add --transport http tabwire {url} --header \
         \"{header}\"\n\nOther clients:\n  {config}\n\nA client that cannot send headers uses \
         `tabwire stdio`, which needs no token."
    )
}
