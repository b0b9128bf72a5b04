//! `tabwire stdio` as a program: how it begins and ends, and the socket it joins the hub by.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    Era, FakeBrowser, HubOptions, HubProcess, McpStdio, Place, Signal, StdioOptions, eventually,
    machine::is_alive, mcp::stdio::data_of, strict,
};

use crate::{
    mcp_scene::{LEGACY, stdio},
    scene::{PROGRAM, hub},
};

const ERAS: [Era; 2] = [Era::Modern, LEGACY];
/// An end that nothing is waited for takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Returns the permissions of a file.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A relay whose input has ended and that waits for the answer to a call, for as long as last words
/// may take. Whatever ends meanwhile has not waited for that.
struct Leaving(McpStdio);

impl Leaving {
    async fn begin(hub: &HubProcess) -> Self {
        let mut client = stdio(hub, Era::Modern).await;
        client.request("tools/list", json!({})).await.result();
        let params = json!({"name": "sleep", "arguments": {"durationMs": 60_000}});
        client.ask("tools/call", params).await;
        client.close_input();
        Self(client)
    }

    #[track_caller]
    fn must_go_on(&self) {
        assert!(is_alive(self.0.pid()), "at once: who left before and waits has ended already");
    }
}

/// Starts a hub on a data folder.
fn on(data: &Path) -> HubOptions {
    HubOptions::new(PROGRAM).flags(&["--data", data.to_str().unwrap()])
}

/// Fails the test unless a client of the folder's hub is answered.
async fn check_serves(data: &Path) {
    let mut client = StdioOptions::new(PROGRAM, data).connect(Era::Modern).await;
    client.request("tools/list", json!({})).await.result();
}

#[tokio::test]
async fn without_a_hub_it_says_so_and_nothing_else() {
    let place = Place::create();
    for data in [place.folder("empty"), place.path().join("missing")] {
        let mut client = StdioOptions::new(PROGRAM, &data).start();
        // An error means that it is gone already.
        let _ =
            client.try_send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await;
        let ended = client.ended().await;
        assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
        // A request that was read before the end is answered with an error, and nothing else said.
        let is_answer = |said: &Value| said["id"] == 1 && said["error"].is_object();
        assert!(ended.messages.iter().all(is_answer), "{:?}", ended.messages);
        assert!(ended.messages.len() <= 1, "{:?}", ended.messages);
        assert!(ended.stderr.contains("tabwire serve"), "{}", ended.stderr);
        assert!(ended.stderr.contains(data.to_str().unwrap()), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
}

#[tokio::test]
async fn the_data_folder_is_found_by_flag_and_by_variable() {
    let place = Place::create();
    let data = place.path().join("data");
    let _hub = on(&data).start().await;
    check_serves(&data).await;
    let nowhere = place.path().join("nowhere");
    let commands = testkit::Commands::new(PROGRAM, &place);
    let message = Era::Modern.request(1, "tools/list", json!({}), "testkit");
    let commands = commands.variable("TABWIRE_DATA", data.to_str().unwrap());
    let done = commands.run_with(&["stdio"], &format!("{message}\n")).await.must_exit(0);
    assert_eq!(done.json()["id"], 1);
    let flags = ["stdio", "--no-start", "--data", nowhere.to_str().unwrap()];
    commands.run_with(&flags, "").await.must_exit(3);
}

#[tokio::test]
async fn it_ends_well_when_its_input_ends() {
    let hub = hub(&[]).await;
    let untouched = StdioOptions::of(PROGRAM, &hub).start().finish().await;
    assert_eq!(untouched.status.code(), Some(0), "{}", untouched.stderr);
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let leaving = Leaving::begin(&hub).await;
        client.request("tools/list", json!({})).await.result();
        let started = Instant::now();
        let ended = client.finish().await;
        leaving.must_go_on();
        strict(AT_ONCE, started.elapsed(), "the end of a relay");
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert_eq!((ended.messages.len(), ended.stderr.as_str()), (0, ""));
    }
}

#[tokio::test]
async fn what_was_asked_before_the_input_ended_is_answered() {
    let hub = hub(&[]).await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let mut ids = Vec::new();
        for duration in [0, 100, 300] {
            let params = json!({"name": "sleep", "arguments": {"durationMs": duration}});
            ids.push(client.ask("tools/call", params).await);
        }
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        for id in ids {
            let answered = ended.messages.iter().any(|answer| answer["id"] == id);
            assert!(answered, "{era:?} {id}: {:?}", ended.messages);
        }
    }
}

#[tokio::test]
async fn a_listener_ends_with_the_input() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    let leaving = Leaving::begin(&hub).await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    let id = client.ask("subscriptions/listen", params).await;
    client.notification("notifications/subscriptions/acknowledged").await;
    let started = Instant::now();
    let ended = client.finish().await;
    leaving.must_go_on();
    strict(AT_ONCE, started.elapsed(), "the end of a relay with a listener");
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.messages.iter().all(|answer| answer["id"] == id), "{:?}", ended.messages);
}

#[tokio::test]
async fn a_hub_that_is_killed_leaves_its_relays_to_the_next_one() {
    let place = Place::create();
    let data = place.path().join("data");
    let hub = on(&data).start().await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    let mut clients = Vec::new();
    for era in ERAS {
        let mut client = StdioOptions::new(PROGRAM, &data).connect(era).await;
        let id = client.ask("tools/call", json!({"name": "look", "arguments": {}})).await;
        app.call().await;
        clients.push((client, id));
    }
    // Dropping kills.
    drop(hub);
    for (client, call) in &mut clients {
        let (failed, said) = client.answer(*call).await.told();
        assert!(failed && said.contains("outcome_unknown"), "{said}");
    }
    let mut waiting = Vec::new();
    for (client, _) in &mut clients {
        waiting.push(client.ask("tools/list", json!({})).await);
    }
    let _next = on(&data).start().await;
    for ((mut client, _), id) in clients.into_iter().zip(waiting) {
        client.answer(id).await.result();
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        let answered = ended.messages.iter().any(|message| message.get("method").is_none());
        assert!(!answered && ended.stderr.is_empty(), "{ended:?}");
    }
}

#[tokio::test]
async fn a_hub_that_stops_answers_first_and_its_relays_stay() {
    let mut hub = hub(&["--drain-timeout", "15s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    let mut calls = Vec::new();
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let id = client.ask("tools/call", json!({"name": "look", "arguments": {}})).await;
        calls.push((client, id, app.call().await));
    }
    hub.signal(Signal::Terminate);
    eventually("the hub drains", async || hub.stderr().contains("draining").then_some(())).await;
    for (_, _, call) in &calls {
        app.answer(call, json!("in time")).await;
    }
    for (client, id, _) in &mut calls {
        let answer = client.answer(*id).await.result();
        assert_eq!(answer["structuredContent"]["result"], "in time");
    }
    assert_eq!(hub.exited().await.code(), Some(0));
    for (client, _, _) in calls {
        // It is there until its client is not; and the hub's end was nobody's fault.
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        let answered = ended.messages.iter().any(|message| message.get("method").is_none());
        assert!(!answered && ended.stderr.is_empty(), "{ended:?}");
    }
}

#[tokio::test]
async fn a_listener_is_told_that_its_hub_stops() {
    let mut hub = hub(&[]).await;
    let mut listener = stdio(&hub, Era::Modern).await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    let listening = listener.ask("subscriptions/listen", params).await;
    listener.notification("notifications/subscriptions/acknowledged").await;
    assert_eq!(hub.terminate().await.code(), Some(0));
    listener.answer(listening).await.result();
    assert_eq!(listener.finish().await.status.code(), Some(0));
}

#[tokio::test]
async fn the_socket_and_its_folder_are_private() {
    let hub = hub(&[]).await;
    let data = data_of(&hub);
    let socket = data.join("hub.sock");
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!((mode(&data), mode(&socket)), (0o700, 0o600));
}

#[tokio::test]
async fn a_folder_that_others_may_enter_is_refused() {
    let place = Place::create();
    for (name, mode) in [("world", 0o755), ("group", 0o750), ("passers-by", 0o711)] {
        let data = place.folder(name);
        fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
        let (status, said) = on(&data).try_start().await.err().expect("a refusal");
        assert_ne!(status.code(), Some(0), "{said}");
        let data = data.to_str().unwrap();
        assert!(said.contains(data) && said.contains("chmod 700"), "{mode:o}: {said}");
        assert!(!Path::new(data).join("hub.sock").exists());
        fs::set_permissions(data, fs::Permissions::from_mode(0o700)).unwrap();
        let _hub = on(Path::new(data)).start().await;
    }
}

#[tokio::test]
async fn a_second_hub_on_the_same_folder_is_refused_and_the_first_not_disturbed() {
    let place = Place::create();
    let data = place.path().join("data");
    let first = on(&data).start().await;
    let mut client = StdioOptions::new(PROGRAM, &data).connect(LEGACY).await;
    let (status, said) = on(&data).try_start().await.err().expect("a refusal");
    assert_ne!(status.code(), Some(0), "{said}");
    assert!(said.contains("another hub") && said.contains("--data"), "{said}");
    client.request("ping", json!({})).await.result();
    check_serves(&data).await;
    first.api().get("/health").await.must_be(200);
}

#[tokio::test]
async fn a_socket_that_a_killed_hub_left_behind_is_replaced() {
    let place = Place::create();
    let data = place.path().join("data");
    // Dropping kills.
    drop(on(&data).start().await);
    assert!(data.join("hub.sock").exists(), "left behind");
    let ended = StdioOptions::new(PROGRAM, &data).start().ended().await;
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    let mut second = on(&data).start().await;
    check_serves(&data).await;
    assert_eq!(mode(&data.join("hub.sock")), 0o600);
    assert_eq!(second.terminate().await.code(), Some(0));
    assert!(!data.join("hub.sock").exists(), "a hub that stops leaves nothing behind");
}

#[tokio::test]
async fn something_else_in_the_sockets_place_is_not_touched() {
    let place = Place::create();
    let data = place.folder("data");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(data.join("hub.sock"), "precious").unwrap();
    let (status, said) = on(&data).try_start().await.err().expect("a refusal");
    assert_ne!(status.code(), Some(0), "{said}");
    assert!(said.contains("hub.sock"), "{said}");
    assert_eq!(fs::read_to_string(data.join("hub.sock")).unwrap(), "precious");
}

#[tokio::test]
async fn whoever_joins_without_a_hello_is_turned_away() {
    let hub: HubProcess = hub(&[]).await;
    let socket = data_of(&hub).join("hub.sock");
    for said in ["not json\n", "{}\n", &format!("{{\"clientId\":\"{}\"}}\n", "x".repeat(5000))] {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        // A reset is as good an end as any.
        let _ = testkit::within(testkit::PATIENCE, "the end", read).await;
        assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    }
    let mut client = stdio(&hub, Era::Modern).await;
    client.request("tools/list", json!({})).await.result();
}
