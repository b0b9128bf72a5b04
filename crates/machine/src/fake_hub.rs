//! A hub for tests that is a process of its own: this test program, told to be one.
//!
//! It takes the lock, answers on the private socket and ends when it is asked to. Of the protocol
//! it knows that a request has an id; it answers with its process id.

use std::{ffi::OsString, path::Path, process::exit, time::Duration};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::{
    control::{self, ControlError},
    join::{LOST, StartHub},
    lock::{Lease, LeaseError},
    private::{Arrival, Joined, PrivateSocket, welcome},
};

/// The variable that turns the test below into a hub.
const FOLDER: &str = "TABWIRE_TEST_HUB";

/// Returns how to start a hub for a folder.
pub(crate) fn program(folder: &Path) -> StartHub {
    let mut role = OsString::from(format!("{FOLDER}="));
    role.push(folder);
    let own = std::env::current_exe().unwrap().into_os_string();
    let test = ["--exact", "fake_hub::be_a_hub", "--nocapture"].map(OsString::from);
    StartHub { program: "/usr/bin/env".into(), args: [role, own].into_iter().chain(test).collect() }
}

/// Ends the hub of a folder and waits until it is gone.
pub(crate) async fn end(folder: &Path) {
    let patience = Duration::from_secs(30);
    let mut stopped = control::stop(folder, false, patience).await;
    // On a busy machine it may have been asked and not have answered in time; then it is ending.
    while let Err(ControlError::Unresponsive(_)) = stopped {
        stopped = match control::stop(folder, false, patience).await {
            Err(ControlError::NotRunning(_)) => return,
            stopped => stopped,
        };
    }
    stopped.unwrap();
}

#[test]
fn be_a_hub() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut lease = match Lease::take(Path::new(&folder), || 0) {
        Ok(lease) => lease,
        Err(LeaseError::Taken(_)) => exit(i32::from(LOST)),
        Err(error) => panic!("{error}"),
    };
    let us = lease.announce(8765, "fake").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = PrivateSocket::open(Path::new(&folder)).await.unwrap();
        loop {
            match welcome(socket.accept().await.unwrap(), &us).await {
                Ok(Arrival::Relay(joined)) => drop(tokio::spawn(answer(joined))),
                Ok(Arrival::Stop(_parting)) => {
                    lease.retire();
                    drop(socket);
                    exit(0);
                }
                _ => {}
            }
        }
    });
}

/// Answers every request of a relay.
async fn answer(mut relay: Joined) {
    let mut line = String::new();
    while relay.reading.read_line(&mut line).await.is_ok_and(|count| count > 0) {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        line.clear();
        if request["id"].is_null() {
            continue;
        }
        let answer = json!({"id": request["id"], "result": {"pid": std::process::id()}});
        if relay.writing.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}
