//! `tabwire demo`: a hub, a browser with the 3D viewer, and the side of an AI client, played.
//!
//! Everything is its own and in one folder that is gone at the end: the user's hub, settings and
//! browsers are left alone. Signals end it at any moment, with all that it has started. What it
//! shows it also checks, so that it fails where the viewer does not do what it is told.
//!
//! - [`stage`]: the hub and the folder; [`client`]: MCP as an AI client speaks it;
//! - [`script`]: what is asked and changed.

mod client;
mod script;
mod stage;

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::json;

use self::{client::Client, script::Played, stage::Stage};
use super::{serve::Signals, stdio::own_program};
use crate::{api, cli::Demo, failure::Failure, launcher, pages, terminal};

pub fn run(options: &Demo) -> Result<(), Failure> {
    if pages::find("viewer", "index.html").is_none() {
        return Err(Failure::failed(
            "this program was built without its viewer, so there is nothing to show; run \
             `npm ci && npm run build` in web, then build the program again",
        ));
    }
    let found = launcher::usual_browser()?;
    let is_headless = options.headless || !launcher::has_display();
    api::block_on(async {
        let mut signals = Signals::new()?;
        let mut stage = Stage::open(&found)?;
        let wishes = Wishes { is_headless, stays: options.stay || !is_headless };
        // Both arms are cancel-safe: whatever the show has begun is in the stage, which is closed.
        let played = tokio::select! {
            played = show(&mut stage, wishes) => played,
            _ = signals.next() => Err(Failure::interrupted()),
        };
        let played = match played {
            Ok(()) if wishes.stays => stay(&mut stage, &mut signals).await,
            played => played,
        };
        // Both arms are cancel-safe: the second finishes what the first has begun, at once.
        let closed = tokio::select! {
            closed = stage.close() => closed,
            _ = signals.next() => stage.close_at_once().await,
        };
        played.and(closed)?;
        if !wishes.stays {
            say("\nEverything is stopped now; `tabwire demo --stay` keeps it running.");
        }
        Ok(())
    })
}

/// How it is to be shown.
#[derive(Clone, Copy)]
struct Wishes {
    is_headless: bool,
    stays: bool,
}

/// Plays everything, once.
async fn show(stage: &mut Stage, wishes: Wishes) -> Result<(), Failure> {
    let hub = stage.until_listening().await?;
    say(&format!("hub         {hub}"));
    let mut client = Client::start(stage.data())?;
    let played = script::play(&mut client, wishes.is_headless).await?;
    let picture = keep_picture(&played)?;
    say(&format!("\npicture     {}", picture.display()));
    say(&format!("viewer      {}", played.viewer));
    say(&connecting(&stage.data(), wishes.stays)?);
    Ok(())
}

/// Waits until the user has had enough.
async fn stay(stage: &mut Stage, signals: &mut Signals) -> Result<(), Failure> {
    say("\nHub, browser and viewer stay until Ctrl-C: drag the model, or ask an AI client.");
    // Both arms are cancel-safe: they only wait.
    tokio::select! {
        _ = signals.next() => Ok(()),
        failure = stage.until_ended() => Err(failure),
    }
}

/// Writes the picture into the folder that the user is in.
fn keep_picture(played: &Played) -> Result<PathBuf, Failure> {
    let now = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
    let name = format!("demo-{}.png", now.trim_end_matches('Z').replace([':', '.'], "-"));
    let path = env::current_dir().map_err(Failure::failed)?.join(name);
    std::fs::write(&path, &played.picture).map_err(|error| {
        Failure::failed(format!("the picture cannot be written to {}: {error}", path.display()))
    })?;
    Ok(path)
}

/// Says how an AI client is connected: to the user's own hub, and to this one while it is there.
fn connecting(data: &Path, stays: bool) -> Result<String, Failure> {
    let program = match is_on_path() {
        true => "tabwire".to_owned(),
        false => own_program()?.display().to_string(),
    };
    let server = json!({"mcpServers": {"tabwire": {"command": program, "args": ["stdio"]}}});
    let mut text = format!(
        "\nConnect an AI client:\n  claude mcp add tabwire -- {program} stdio\nor, in the \
         configuration of any other:\n  {server}"
    );
    if stays {
        let data = data.display();
        text += &format!(
            "\nor only to this hub, while it runs:\n  claude mcp add tabwire-demo -- {program} \
             stdio --no-start --data {data}"
        );
    }
    Ok(text)
}

/// Whether the shell would find a `tabwire`.
fn is_on_path() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("tabwire").is_file())
}

/// Prints a line. A reader that has left is no reason to leave a browser behind.
fn say(line: &str) {
    let mut out = terminal::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
