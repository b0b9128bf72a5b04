//! `wait_for` and `sleep`: a client learns of changes without being pushed to, and without polling.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Era, FakeBrowser, HubProcess, McpStdio};

use crate::{
    mcp_scene::{app, every_way, http, stdio},
    scene::hub,
};

/// Asks to wait, with a limit that no test reaches.
async fn wait(client: &mut McpStdio, mut args: Value) -> u64 {
    if args.get("timeoutMs").is_none() {
        args["timeoutMs"] = json!(300_000);
    }
    client.ask("tools/call", json!({"name": "wait_for", "arguments": args})).await
}

async fn waited(client: &mut McpStdio, id: u64) -> Value {
    let result = client.answer(id).await.result();
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].clone()
}

/// Fails the test when an answer has come to any but this request: nothing else was met.
async fn still_waits(client: &mut McpStdio, id: u64) {
    client.request("tools/list", json!({})).await.result();
    let answered = client.call("sleep", json!({"durationMs": 30})).await;
    answered.result();
    let early = |message: &Value| message["id"] == id;
    assert!(!client.kept().any(early), "{id} was answered too early");
}

async fn scene() -> (HubProcess, FakeBrowser, McpStdio) {
    let hub = hub(&[]).await;
    let north = app(&hub, "north", json!({"color": "red", "size": 1})).await;
    let mut client = stdio(&hub, Era::Modern).await;
    // A tool is made ready by its first call, and meanwhile later requests may overtake it.
    let met = json!({"until": "state", "path": "/color", "equals": "red"});
    client.call("wait_for", met).await.result();
    (hub, north, client)
}

#[tokio::test]
async fn a_change_of_state_ends_the_waiting() {
    let (_hub, mut north, mut client) = scene().await;
    let id = wait(&mut client, json!({"until": "state", "path": "/color"})).await;
    // Whether the waiting has begun cannot be seen, so the state changes until it ends.
    let changing = async {
        for version in 2u64.. {
            north.publish_state("first", version, json!({"color": version, "size": 1})).await;
            north.settle().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let changed = tokio::select! {
        changed = waited(&mut client, id) => changed,
        () = changing => unreachable!("it changes for ever"),
    };
    assert_eq!((&changed["happened"], &changed["session"]), (&json!(true), &json!("north")));
    assert_eq!(changed["value"], changed["version"], "the value that goes with the version");
}

#[tokio::test]
async fn a_state_since_a_version_misses_nothing_in_between() {
    let (_hub, mut north, mut client) = scene().await;
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "since": 1})).await;
    still_waits(&mut client, id).await;
    north.publish_state("first", 2, json!({"color": "blue", "size": 1})).await;
    let changed = waited(&mut client, id).await;
    assert_eq!((&changed["value"], &changed["version"]), (&json!("blue"), &json!(2)));
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "since": 1})).await;
    assert_eq!(waited(&mut client, id).await["version"], 2, "it had changed already");
    let id = wait(&mut client, json!({"until": "state", "path": "/gone", "since": 1})).await;
    assert_eq!(waited(&mut client, id).await["value"], json!(null), "what is absent is null");
}

#[tokio::test]
async fn a_state_that_changed_elsewhere_goes_on_waiting() {
    let (_hub, mut north, mut client) = scene().await;
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "since": 1})).await;
    still_waits(&mut client, id).await;
    north.publish_state("first", 2, json!({"color": "red", "size": 2})).await;
    north.settle().await;
    still_waits(&mut client, id).await;
    north.publish_state("first", 3, json!({"color": "blue", "size": 2})).await;
    assert_eq!(waited(&mut client, id).await["value"], "blue", "only the path counts");
}

#[tokio::test]
async fn a_value_that_is_waited_for_ends_the_waiting_and_no_other() {
    let (_hub, mut north, mut client) = scene().await;
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "equals": "red"})).await;
    assert_eq!(waited(&mut client, id).await["version"], 1, "it is so already");
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "equals": "blue"})).await;
    for (version, color) in [(2, "green"), (3, "yellow")] {
        north.publish_state("first", version, json!({"color": color})).await;
        north.settle().await;
        still_waits(&mut client, id).await;
    }
    north.publish_state("first", 4, json!({"color": "blue"})).await;
    let met = waited(&mut client, id).await;
    assert_eq!((&met["value"], &met["version"]), (&json!("blue"), &json!(4)));
    let size = json!({"until": "state", "equals": {"size": {"w": 1, "h": [2]}}});
    let id = wait(&mut client, size).await;
    north.publish_state("first", 5, json!({"size": {"h": [2], "w": 1}})).await;
    assert_eq!(waited(&mut client, id).await["version"], 5, "whole objects are compared by value");
}

#[tokio::test]
async fn nothing_is_a_value_that_can_be_waited_for() {
    let (_hub, mut north, mut client) = scene().await;
    let id = wait(&mut client, json!({"until": "state", "path": "/color", "equals": null})).await;
    still_waits(&mut client, id).await;
    north.publish_state("first", 2, json!({"color": "blue"})).await;
    north.settle().await;
    still_waits(&mut client, id).await;
    north.publish_state("first", 3, json!({"color": null})).await;
    assert_eq!(waited(&mut client, id).await["version"], 3);
}

#[tokio::test]
async fn an_event_ends_the_waiting_and_its_cursor_goes_on() {
    let (_hub, mut north, mut client) = scene().await;
    north.publish_event("other", json!({"n": 0})).await;
    north.publish_event("click", json!({"n": 1})).await;
    north.settle().await;
    let id = wait(&mut client, json!({"until": "event", "event": "click", "since": 0})).await;
    let first = waited(&mut client, id).await;
    assert_eq!(first["events"].as_array().unwrap().len(), 1, "only those of that name: {first}");
    assert_eq!(first["events"][0]["data"], json!({"n": 1}));
    let next = &first["next"];
    let id = wait(&mut client, json!({"until": "event", "event": "click", "since": next})).await;
    still_waits(&mut client, id).await;
    north.publish_event("other", json!({"n": 2})).await;
    north.publish_event("click", json!({"n": 3})).await;
    north.publish_event("click", json!({"n": 4})).await;
    let second = waited(&mut client, id).await;
    assert_eq!(second["events"][0]["data"], json!({"n": 3}), "nothing twice, nothing lost");
    north.settle().await;
    let next = &second["next"];
    let id = wait(&mut client, json!({"until": "event", "since": next})).await;
    north.publish_event("click", json!({"n": 5})).await;
    let third = waited(&mut client, id).await;
    let all =
        second["events"].as_array().unwrap().iter().chain(third["events"].as_array().unwrap());
    let mut numbers: Vec<_> = all.map(|event| event["data"]["n"].as_u64().unwrap()).collect();
    if !numbers.contains(&5) {
        let id = wait(&mut client, json!({"until": "event", "since": third["next"]})).await;
        let fourth = waited(&mut client, id).await;
        numbers.extend(fourth["events"][0]["data"]["n"].as_u64());
    }
    assert_eq!(numbers, [3, 4, 5]);
}

#[tokio::test]
async fn a_session_that_connects_ends_the_waiting() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    let any = wait(&mut client, json!({"until": "connected"})).await;
    let named = wait(&mut client, json!({"until": "connected", "session": "south"})).await;
    still_waits(&mut client, any).await;
    let mut north = FakeBrowser::connected(hub.port(), "north").await;
    assert_eq!(waited(&mut client, any).await, json!({"happened": true, "session": "north"}));
    still_waits(&mut client, named).await;
    let _south = FakeBrowser::connected(hub.port(), "south").await;
    assert_eq!(waited(&mut client, named).await, json!({"happened": true, "session": "south"}));
    north.vanish();
    hub.api().until_connected("north", false).await;
    let again = wait(&mut client, json!({"until": "connected", "session": "north"})).await;
    still_waits(&mut client, again).await;
    north.connect().await;
    assert_eq!(waited(&mut client, again).await["session"], "north", "one that comes back counts");
}

#[tokio::test]
async fn running_out_of_time_is_an_answer() {
    let hub = hub(&[]).await;
    let _north = app(&hub, "north", json!({"color": "red"})).await;
    for (way, mut client) in every_way(&hub).await {
        for args in [
            json!({"until": "state", "timeoutMs": 30}),
            json!({"until": "state", "equals": 1, "timeoutMs": 30}),
            json!({"until": "event", "timeoutMs": 30}),
            json!({"until": "connected", "session": "south", "timeoutMs": 30}),
        ] {
            let started = Instant::now();
            let result = client.call("wait_for", args.clone()).await.result();
            assert_ne!(result["isError"], true, "{way:?} {args}: {result}");
            assert_eq!(result["structuredContent"]["happened"], false, "{way:?} {args}");
            assert!(testkit::mcp::text(&result).contains("30 ms"), "{way:?}: {result}");
            assert!(started.elapsed() >= Duration::from_millis(30), "{way:?} {args}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_said_at_once() {
    let hub = hub(&[]).await;
    let _north = app(&hub, "north", json!({})).await;
    let _south = app(&hub, "south", json!({})).await;
    let client = http(&hub, Era::Modern).await;
    for (args, part) in [
        (json!({}), "`until`"),
        (json!({"until": "doomsday"}), "`until`"),
        (json!({"until": "state", "timeoutMs": -1}), "`timeoutMs`"),
        (json!({"until": "state", "timeoutMs": 300_001}), "`timeoutMs`"),
        (json!({"until": "state", "since": -1}), "`since`"),
        (json!({"until": "state", "session": "east"}), "unknown_session"),
        (json!({"until": "state"}), "ambiguous_session"),
        (json!({"until": "event"}), "ambiguous_session"),
    ] {
        let (failed, said) = client.call("wait_for", args.clone()).await.told();
        assert!(failed && said.contains(part), "{args}: {said}");
    }
}

#[tokio::test]
async fn sleeping_takes_as_long_as_it_says_under_either_name() {
    let hub = hub(&[]).await;
    for (way, mut client) in every_way(&hub).await {
        for name in ["durationMs", "duration"] {
            let started = Instant::now();
            let result = client.call("sleep", json!({name: 40})).await.result();
            assert_eq!(result["structuredContent"], json!({"sleptMs": 40}), "{way:?}");
            let slept = started.elapsed();
            assert!(slept >= Duration::from_millis(40), "{way:?}: {slept:?}");
        }
        for (args, part) in [
            (json!({}), "`durationMs` is missing"),
            (json!({"durationMs": 1, "duration": 1}), "`duration`"),
            (json!({"durationMs": 60_001}), "`durationMs`"),
            (json!({"durationMs": -1}), "`durationMs`"),
            (json!({"durationMs": "1s"}), "`durationMs`"),
            (json!({"durationMs": 1, "unit": "ms"}), "`unit`"),
        ] {
            let (failed, said) = client.call("sleep", args.clone()).await.told();
            assert!(failed && said.contains(part), "{way:?} {args}: {said}");
        }
    }
}
