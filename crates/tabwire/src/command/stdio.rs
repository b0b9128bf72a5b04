//! `tabwire stdio`: what an AI client starts as its MCP server; joins the running hub.

use machine::{JoinHello, RelayError, relay};

use crate::{api, cli::Stdio, config::Own, failure::Failure};

/// The seeds' name for who a client is and which session it means.
const INSTANCE: &str = "MCP_INSTANCE_ID";

pub fn run(options: &Stdio) -> Result<(), Failure> {
    let instance = std::env::var(INSTANCE).ok().filter(|instance| !instance.is_empty());
    let hello = JoinHello {
        term: 0,
        client_id: instance
            .clone()
            .unwrap_or_else(|| format!("stdio-{}", model::id::random_text(26))),
        binding: options.session.clone().or(instance),
    };
    let data = options.data.clone().unwrap_or_else(|| Own::default().data);
    api::block_on(async {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        relay(&data, &hello, input, output).await.map_err(|error| match error {
            RelayError::NoHub(_) => Failure::no_hub(error),
            RelayError::HubGone | RelayError::Broken(_) => Failure::failed(error),
        })
    })
}
