//! `tabwire token`: the token that HTTP clients show, with the lines that set them up.

use std::io::Write;

use guard::own_token;
use serde_json::{Value, json};

use crate::{api, cli::Token, failure::Failure, terminal};

pub fn run(options: &Token) -> Result<(), Failure> {
    let data = options.data.path();
    machine::folder::open(&data).map_err(Failure::failed)?;
    let token = own_token::ensure(&data).map_err(Failure::failed)?;
    let port = options.port.unwrap_or_else(|| api::find_hub(&data).0);
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
