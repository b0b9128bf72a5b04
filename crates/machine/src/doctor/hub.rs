//! Looks at the data folder, the hub that runs for it, and the port.

use std::{fs, io, net::TcpListener, path::Path};

use super::{Finding, InspectedSetup, port_owner};
use crate::{
    control::{self, Status},
    folder,
    private::JoinWelcome,
};

/// Looks at the data folder: private and writable.
pub fn data(data: &Path) -> Finding {
    let shown = data.display();
    if matches!(fs::exists(data), Ok(false)) {
        return Finding::ok("data", format!("{shown} is not there yet; it is made when needed"));
    }
    if let Err(error) = folder::check(data) {
        let fix = format!("chmod 700 {shown}, or name another folder with --data");
        return Finding::problem("data", error.to_string(), fix);
    }
    let draft = data.join(format!(".hub.doctor-{}", model::id::random_text(8)));
    match fs::write(&draft, "").and_then(|()| fs::remove_file(&draft)) {
        Ok(()) => Finding::ok("data", format!("{shown} is private and can be written")),
        Err(error) => Finding::problem(
            "data",
            format!("nothing can be written to {shown}: {error}"),
            "look whether the disk is full or mounted read-only",
        ),
    }
}

/// Looks at the hub; returns it if it answers.
pub async fn hub(setup: &InspectedSetup) -> (Vec<Finding>, Option<JoinWelcome>) {
    let force = "tabwire stop --force";
    let finding = match control::status(&setup.what.data).await {
        Ok(Status::Running(hub)) => {
            let message = format!("runs on port {} (process {})", hub.port, hub.pid);
            let findings = vec![
                Finding::ok("hub", message),
                Finding::ok("port", format!("{} is the hub's", hub.port)),
                version(setup, &hub.version),
            ];
            return (findings, Some(hub));
        }
        Ok(Status::Unresponsive(record)) => {
            let message = format!("runs (process {}) and does not answer", record.pid);
            return (vec![Finding::problem("hub", message, force)], None);
        }
        Ok(Status::Stale(record)) => Finding::warning(
            "hub",
            format!("none runs; the last one (process {}) did not end by itself", record.pid),
            "nothing to do: the next one takes over what it left; hub.log may say why",
        ),
        Ok(Status::NotRunning) => {
            Finding::ok("hub", "none runs; an AI client starts one when it needs it")
        }
        Err(error) => Finding::problem("hub", error.to_string(), force),
    };
    (vec![finding, port(setup.port)], None)
}

pub(super) fn version(setup: &InspectedSetup, running: &str) -> Finding {
    if running == setup.version {
        return Finding::ok("version", format!("the hub is version {running}, as this program"));
    }
    let message = format!("the hub is version {running}, this program is {}", setup.version);
    Finding::warning("version", message, "tabwire stop; the next client starts the new one")
}

/// Looks whether a hub could have its port.
fn port(port: u16) -> Finding {
    match TcpListener::bind(("127.0.0.1", port)) {
        Ok(_) => Finding::ok("port", format!("{port} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let owner = port_owner::find(port).unwrap_or_else(|| "another program".to_owned());
            let fix =
                "end that program, or choose another port: TABWIRE_PORT, or port in config.toml";
            Finding::problem("port", format!("{port} is taken by {owner}"), fix)
        }
        Err(error) => {
            let fix = "choose another port: TABWIRE_PORT, or port in config.toml";
            Finding::problem("port", format!("{port} cannot be used: {error}"), fix)
        }
    }
}
