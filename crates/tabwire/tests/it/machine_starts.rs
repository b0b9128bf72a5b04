//! How the hub of a machine comes to be: whoever needs it first starts it, and there is one.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;
use testkit::{
    Era, FakeBrowser, HubOptions, Machine, StdioOptions, eventually,
    machine::{gone, is_alive},
    rounds,
};

use crate::{mcp_scene::LEGACY, scene::PROGRAM};

const CROWD: usize = 8;
/// After how long without anybody a hub ends, where that is tried.
const IDLE_EXIT: &str = "2s";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Waits until no process but this one wants to be the hub.
async fn one_hub(machine: &Machine) -> u32 {
    eventually("there is one hub", async || match machine.hubs().as_slice() {
        [pid] => Some(*pid),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn eight_that_start_at_once_share_one_hub() {
    for round in 0..rounds(3, 50) {
        let machine = Machine::new(PROGRAM);
        let mut clients: Vec<_> = (0..CROWD).map(|_| machine.relay().start()).collect();
        let mut calls = Vec::new();
        for (number, client) in clients.iter_mut().enumerate() {
            client.open(if number % 2 == 0 { Era::Modern } else { LEGACY }).await;
            calls.push((
                client.ask("tools/list", json!({})).await,
                client
                    .ask("tools/call", json!({"name": "sleep", "arguments": {"durationMs": 1}}))
                    .await,
            ));
        }
        for (client, (list, call)) in clients.iter_mut().zip(calls) {
            client.answer(list).await.result();
            let (failed, said) = client.answer(call).await.told();
            assert!(!failed, "round {round}: {said}");
        }
        let pid = one_hub(&machine).await;
        let status = machine.running().await;
        assert_eq!((status["pid"].as_u64(), machine.pid()), (Some(pid.into()), pid));
        assert_eq!(status["port"], machine.port());
        for client in clients {
            let ended = client.finish().await;
            assert_eq!(ended.status.code(), Some(0), "round {round}: {}", ended.stderr);
            // News about tools may have come; answers may not.
            let answered = ended.messages.iter().any(|message| message.get("method").is_none());
            assert!(!answered && ended.stderr.is_empty(), "{ended:?}");
        }
        machine.run(&["stop"]).await.must_exit(0);
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_hub_outlives_the_relay_that_started_it() {
    let machine = Machine::new(PROGRAM);
    let mut first = machine.relay().connect(LEGACY).await;
    let pid = machine.pid();
    let mut second = machine.relay().connect(LEGACY).await;
    first.kill();
    second.request("tools/list", json!({})).await.result();
    assert_eq!((machine.pid(), machine.hubs()), (pid, vec![pid]));
}

#[tokio::test]
async fn a_hub_in_the_foreground_is_joined_like_any_other() {
    let machine = Machine::new(PROGRAM);
    let data = machine.data().to_str().unwrap();
    let hub = HubOptions::new(PROGRAM).flags(&["--data", data]).start().await;
    let mut client = machine.relay().connect(Era::Modern).await;
    client.request("tools/list", json!({})).await.result();
    assert_eq!(machine.running().await["port"], hub.port());
    assert_eq!(machine.hubs().len(), 1);
}

#[tokio::test]
async fn two_data_folders_are_two_hubs_side_by_side() {
    let machines = [Machine::new(PROGRAM), Machine::new(PROGRAM)];
    let mut clients = Vec::new();
    for (machine, tool) in machines.iter().zip(["paint", "look"]) {
        let mut client = machine.relay().connect(LEGACY).await;
        let app = FakeBrowser::with_tools(machine.port(), "app", &[tool]).await;
        let listed = client.request("tools/list", json!({})).await.result();
        clients.push((client, app, listed.to_string()));
    }
    assert_ne!(machines[0].pid(), machines[1].pid());
    assert!(clients[0].2.contains("\"paint\"") && !clients[0].2.contains("\"look\""));
    assert!(clients[1].2.contains("\"look\"") && !clients[1].2.contains("\"paint\""));
    machines[0].run(&["stop"]).await.must_exit(0);
    assert_eq!(machines[0].status().await["state"], "not_running");
    clients[1].0.request("tools/list", json!({})).await.result();
    assert_eq!(machines[1].running().await["port"], machines[1].port());
}

#[tokio::test]
async fn a_second_hub_in_the_foreground_says_so_and_ends() {
    let machine = Machine::new(PROGRAM);
    let mut client = machine.relay().connect(LEGACY).await;
    let pid = machine.pid();
    let data = machine.data().to_str().unwrap();
    let second = machine.run(&["serve", "--port", "0"]).await.must_exit(1);
    assert!(second.stderr.contains("another hub"), "{}", second.stderr);
    assert!(second.stderr.contains(data), "{}", second.stderr);
    assert_eq!((second.stdout.as_str(), second.stderr.lines().count()), ("", 1));
    client.request("ping", json!({})).await.result();
    assert_eq!((machine.pid(), machine.hubs()), (pid, vec![pid]));
}

#[tokio::test]
async fn a_foreign_program_on_the_port_is_a_clear_error() {
    let machine = Machine::new(PROGRAM);
    let port = machine.port();
    let _foreign = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let mut client = machine.relay().start();
    // An error means that it is gone already.
    let request = Era::Modern.request(1, "tools/list", json!({}), "testkit");
    let _ = client.try_send_bytes(format!("{request}\n").as_bytes()).await;
    let ended = client.ended().await;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(&port.to_string()), "{}", ended.stderr);
    assert!(ended.stderr.contains("in use"), "{}", ended.stderr);
    for answer in &ended.messages {
        assert_eq!(answer["error"]["data"]["code"], "not_delivered", "{answer}");
    }
    assert!(ended.messages.len() <= 1, "{:?}", ended.messages);
    assert!(machine.hubs().is_empty());
    assert_eq!(machine.record()["port"], 0, "no other port was opened");
    machine.run(&["status"]).await.must_exit(3);
}

#[tokio::test]
async fn once_the_port_is_free_the_next_start_succeeds() {
    let machine = Machine::new(PROGRAM);
    let foreign = TcpListener::bind(("127.0.0.1", machine.port())).unwrap();
    let ended = machine.relay().start().ended().await;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    drop(foreign);
    let mut client = machine.relay().connect(Era::Modern).await;
    client.request("tools/list", json!({})).await.result();
    assert_eq!(machine.running().await["port"], machine.port());
}

/// Waits for as long as a hub takes to end that nobody uses, on a machine of its own.
async fn longer_than_idle() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay_with(&["--idle-exit", IDLE_EXIT]).connect(LEGACY).await;
    let pid = machine.pid();
    client.finish().await;
    gone(pid).await;
}

#[tokio::test]
async fn a_hub_that_nobody_uses_ends() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay_with(&["--idle-exit", IDLE_EXIT]).connect(LEGACY).await;
    let pid = machine.pid();
    // A connected client is enough, even one that says nothing.
    longer_than_idle().await;
    assert!(is_alive(pid), "it ended while a client was there");
    assert_eq!(client.finish().await.status.code(), Some(0));
    gone(pid).await;
    assert_eq!(machine.status().await, json!({"state": "not_running"}));
    assert!(!machine.data().join("hub.sock").exists(), "it leaves no socket behind");
}

#[tokio::test]
async fn a_browser_keeps_the_hub_alive() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay_with(&["--idle-exit", IDLE_EXIT]).connect(LEGACY).await;
    let pid = machine.pid();
    let mut app = FakeBrowser::with_tools(machine.port(), "app", &["paint"]).await;
    client.finish().await;
    longer_than_idle().await;
    app.settle().await;
    assert!(is_alive(pid), "it ended while a browser was there");
    app.vanish();
    gone(pid).await;
}

#[tokio::test]
async fn everything_in_the_data_folder_is_private() {
    let machine = Machine::new(PROGRAM);
    let _client = machine.relay().connect(LEGACY).await;
    let data = machine.data();
    assert_eq!(mode(data), 0o700);
    for file in ["hub.json", "hub.lock", "hub.sock", "hub.log", "start.lock"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    for entry in fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[tokio::test]
async fn a_folder_that_others_may_enter_is_refused_by_everybody() {
    let machine = Machine::new(PROGRAM);
    let data = machine.data();
    fs::create_dir(data).unwrap();
    for open in [0o755, 0o750, 0o701] {
        fs::set_permissions(data, fs::Permissions::from_mode(open)).unwrap();
        for options in [machine.relay(), StdioOptions::new(PROGRAM, data)] {
            let ended = options.start().ended().await;
            assert_eq!(ended.status.code(), Some(1), "{open:o}: {}", ended.stderr);
            assert!(ended.stderr.contains("chmod 700"), "{open:o}: {}", ended.stderr);
        }
        for command in ["status", "stop"] {
            let refused = machine.run(&[command]).await.must_exit(1);
            assert!(refused.stderr.contains("chmod 700"), "{command}: {}", refused.stderr);
        }
        assert_eq!(fs::read_dir(data).unwrap().count(), 0, "nothing was written");
    }
    fs::set_permissions(data, fs::Permissions::from_mode(0o700)).unwrap();
    machine.relay().connect(LEGACY).await;
}

#[tokio::test]
async fn a_hub_that_cannot_start_says_why_through_its_relay() {
    let machine = Machine::new(PROGRAM);
    let options = machine.relay().variable("TABWIRE_CALL_TIMEOUT", "soon");
    let ended = options.start().ended().await;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("call_timeout"), "{}", ended.stderr);
    assert!(machine.hubs().is_empty());
}
