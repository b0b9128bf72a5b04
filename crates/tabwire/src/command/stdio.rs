//! `tabwire stdio`: what an AI client starts as its MCP server; joins the hub of this machine, or
//! starts one in the background.

use std::{
    ffi::OsString,
    os::fd::AsFd,
    path::{Path, PathBuf},
    time::Duration,
};

use machine::{
    JoinError, JoinHello, Joiner, ReachError, RelayError, StartHub, relay, relay::Limits,
};

use tokio::{io::Interest, net::unix::pipe};

use crate::{
    api,
    cli::{JoinedHub, Stdio},
    failure::Failure,
};

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
        folder: None,
    };
    // Told to every hub that it joins. A folder that was removed is none.
    let hello = match std::env::current_dir() {
        Ok(folder) => hello.working_in(&folder),
        Err(_) => hello,
    };
    let joiner = joiner(&options.hub)?;
    let limits = Limits {
        line: mcp::stream::Limits::default().line,
        request: options.request_timeout,
        ..Limits::default()
    };
    api::block_on(async {
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        let relayed = relay(joiner, hello, limits, streams, output_unread()).await;
        relayed.map_err(|error| match error {
            RelayError::Join(JoinError::Reach(ReachError::NoHub(_))) => Failure::no_hub(error),
            RelayError::Join(_) | RelayError::HubGone | RelayError::Broken(_) => {
                Failure::failed(error)
            }
        })
    })
}

/// Waits until nobody reads standard output any more; for ever where that cannot be told, as with a
/// file.
async fn output_unread() {
    // A pipe without a reader is in error. A socket without one is at its end, which Linux tells
    // among what is urgent; elsewhere it is noticed when something is written.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const UNREAD: Interest = Interest::ERROR.add(Interest::PRIORITY);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const UNREAD: Interest = Interest::ERROR;
    let output = std::io::stdout().as_fd().try_clone_to_owned();
    // Not checked to be a pipe, and left blocking: nothing is written through it.
    if let Ok(output) = output.and_then(pipe::Sender::from_owned_fd_unchecked)
        && output.ready(UNREAD).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Makes the way to the hub that is meant, which is started where none runs and one may be.
pub fn joiner(hub: &JoinedHub) -> Result<Joiner, Failure> {
    let data = hub.data.path();
    let start = match hub.no_start {
        true => None,
        false => Some(background_hub(&data, hub.idle_exit, hub.port)?),
    };
    Ok(Joiner::new(data, start))
}

/// Says how to start the hub that is to be joined. The environment goes with it.
fn background_hub(
    data: &Path,
    idle_exit: Duration,
    port: Option<u16>,
) -> Result<StartHub, Failure> {
    let data = std::path::absolute(data)?;
    let mut args: Vec<OsString> = vec!["serve".into(), "--data".into(), data.into()];
    let idle = humantime::format_duration(idle_exit).to_string().replace(' ', "");
    args.extend(["--idle-exit".into(), idle.into()]);
    if let Some(port) = port {
        args.extend(["--port".into(), port.to_string().into()]);
    }
    Ok(StartHub { program: own_program()?, args })
}

/// The program as it is now: Linux marks the path of one that was replaced by a newer one.
pub fn own_program() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let newer =
        program.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(newer.filter(|newer| newer.exists()).unwrap_or(program))
}
