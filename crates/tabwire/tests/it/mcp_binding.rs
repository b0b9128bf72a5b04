//! Which session a client is bound to, and who it is: the address, headers, variables and flags.

use serde_json::json;
use testkit::{
    Era, FakeApp, HubOptions, HubProcess, McpClient, McpHttp, StdioOptions,
    mcp::{Reply, client::WAYS},
};

use crate::{
    mcp_scene::{LEGACY, http, stdio},
    scene::{PROGRAM, hub},
};

/// A hub with two apps that offer the same.
async fn scene() -> (HubProcess, [FakeApp; 2]) {
    let hub = hub(&[]).await;
    let north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let south = FakeApp::echo(hub.port(), "south", &["paint"]).await;
    (hub, [north, south])
}

/// Returns the session that answered, or the code of the fault.
fn whose(reply: Reply) -> String {
    let result = reply.result();
    let tabwire = &result["_meta"]["tabwire"];
    let found = tabwire["session"].as_str().or(tabwire["error"]["code"].as_str());
    found.unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// Returns the clients whose calls a session has had.
async fn callers(hub: &HubProcess, session: &str) -> Vec<String> {
    let feed = hub.api().feed(session).await;
    let calls = feed.iter().filter(|item| item["kind"] == "call");
    calls.map(|item| item["body"]["client"].as_str().unwrap().to_owned()).collect()
}

async fn bound(hub: &HubProcess, era: Era, change: impl Fn(McpHttp) -> McpHttp) -> McpHttp {
    let mut client = change(McpHttp::new(hub.port(), era));
    client.open().await;
    client
}

#[tokio::test]
async fn the_address_and_the_header_bind_a_client_over_http() {
    let (hub, [_north, south]) = scene().await;
    for era in [Era::Modern, LEGACY] {
        for client in [
            bound(&hub, era, |client| client.path("/mcp/south")).await,
            bound(&hub, era, |client| client.path(&format!("/mcp/{}", south.session))).await,
            bound(&hub, era, |client| client.header("X-MCP-Instance", "south")).await,
        ] {
            assert_eq!(whose(client.call("paint", json!({})).await), "south", "{era:?}");
            let named = client.call("paint", json!({"session": "north"})).await;
            assert_eq!(whose(named), "north", "{era:?}: what is named goes before");
        }
    }
}

#[tokio::test]
async fn a_flag_and_a_variable_bind_a_client_of_a_relay() {
    let (hub, _apps) = scene().await;
    let options = || StdioOptions::of(PROGRAM, &hub);
    for era in [Era::Modern, LEGACY] {
        for options in [
            options().flags(&["--session", "south"]),
            options().variable("MCP_INSTANCE_ID", "south"),
            options().variable("MCP_INSTANCE_ID", "north").flags(&["--session", "south"]),
        ] {
            let mut client = options.connect(era).await;
            assert_eq!(whose(client.call("paint", json!({})).await), "south", "{era:?}");
            let named = client.call("paint", json!({"session": "north"})).await;
            assert_eq!(whose(named), "north", "{era:?}: what is named goes before");
        }
    }
}

#[tokio::test]
async fn a_binding_to_nothing_leaves_it_to_the_other_rules() {
    let (hub, [north, south]) = scene().await;
    let by_path = bound(&hub, Era::Modern, |client| client.path("/mcp/nowhere")).await;
    let by_header = bound(&hub, LEGACY, |client| client.header("X-MCP-Instance", "nowhere")).await;
    let mut by_flag =
        StdioOptions::of(PROGRAM, &hub).flags(&["--session", "nowhere"]).connect(LEGACY).await;
    let variable = StdioOptions::of(PROGRAM, &hub).variable("MCP_INSTANCE_ID", "my-editor");
    let mut by_variable = variable.connect(Era::Modern).await;
    assert_eq!(whose(by_path.call("paint", json!({})).await), "ambiguous_session");
    assert_eq!(whose(by_header.call("paint", json!({})).await), "ambiguous_session");
    assert_eq!(whose(by_flag.call("paint", json!({})).await), "ambiguous_session");
    assert_eq!(whose(by_variable.call("paint", json!({})).await), "ambiguous_session");
    drop(north);
    hub.api().until_connected("north", false).await;
    assert_eq!(whose(by_path.call("paint", json!({})).await), south.name, "the only one left");
    assert_eq!(whose(by_flag.call("paint", json!({})).await), south.name);
}

#[tokio::test]
async fn a_binding_counts_for_states_and_waiting_too() {
    let (hub, apps) = scene().await;
    for (app, color) in apps.iter().zip(["red", "blue"]) {
        let state = json!({"color": color});
        app.publish(json!({
            "type": "stateUpdate", "state": state, "stateEpoch": "first", "version": 1,
        }));
        testkit::eventually("the hub has the state", async || {
            let answer = hub.api().state(&app.name, "").await;
            (answer.status == 200).then_some(())
        })
        .await;
    }
    let client = bound(&hub, Era::Modern, |client| client.path("/mcp/south")).await;
    let state = client.call("app_state", json!({"path": "/color"})).await.result();
    assert_eq!(state["structuredContent"]["value"], "blue");
    let args = json!({"until": "state", "path": "/color", "since": 0});
    let waited = client.call("wait_for", args).await.result();
    assert_eq!(waited["structuredContent"]["session"], "south");
}

#[tokio::test]
async fn a_client_over_http_is_what_its_header_says() {
    let (hub, _apps) = scene().await;
    for era in [Era::Modern, LEGACY] {
        let client = bound(&hub, era, |client| client.header("Tabwire-Client", "my-editor"));
        client.await.call("paint", json!({"session": "north"})).await.result();
    }
    assert_eq!(callers(&hub, "north").await, ["my-editor", "my-editor"]);
    let wrong = bound(&hub, Era::Modern, |client| client.header("Tabwire-Client", "a b/c")).await;
    let (code, said) = wrong.call("paint", json!({"session": "north"})).await.error();
    assert_eq!(code, -32602, "{said}");
}

#[tokio::test]
async fn without_a_header_it_is_whom_it_proves_to_be_and_what_it_calls_itself() {
    let (hub, _apps) = scene().await;
    for era in [Era::Modern, LEGACY] {
        let client = bound(&hub, era, |client| client.named("Some Editor (beta)")).await;
        client.call("paint", json!({"session": "south"})).await.result();
    }
    assert_eq!(callers(&hub, "south").await, ["local:Some-Editor--beta-"; 2]);
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("tokens", "alice = open-sesame-9b1f4c7d\n");
    let guarded = options.flags(&["--token-file", file.to_str().unwrap()]).start().await;
    let _app = FakeApp::echo(guarded.port(), "north", &["paint"]).await;
    let bearer = "Bearer open-sesame-9b1f4c7d";
    let client =
        bound(&guarded, Era::Modern, |client| client.header("Authorization", bearer)).await;
    client.call("paint", json!({})).await.result();
    assert_eq!(callers(&guarded, "north").await, ["alice:testkit"]);
}

#[tokio::test]
async fn a_session_of_http_proves_nothing() {
    let options = HubOptions::new(PROGRAM);
    let tokens = "alice = open-sesame-9b1f4c7d\nbob = another-secret-51e0aa\n";
    let file = options.place().write("tokens", tokens);
    let hub = options.flags(&["--token-file", file.to_str().unwrap()]).start().await;
    let _app = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let as_user = |secret: &'static str| {
        move |client: McpHttp| client.header("Authorization", &format!("Bearer {secret}"))
    };
    let alice = bound(&hub, LEGACY, as_user("open-sesame-9b1f4c7d")).await;
    alice.call("paint", json!({})).await.result();
    let mut bob = as_user("another-secret-51e0aa")(McpHttp::new(hub.port(), LEGACY));
    bob.session = alice.session.clone();
    // Whether the hub takes it or not, it is not alice who calls.
    let mut stream = bob.stream("tools/call", json!({"name": "paint", "arguments": {}})).await;
    if stream.head.status == 200 {
        stream.next().await;
    }
    let callers = callers(&hub, "north").await;
    assert_eq!(callers.iter().filter(|caller| caller.starts_with("alice")).count(), 1);
}

#[tokio::test]
async fn every_relay_is_a_client_of_its_own_unless_it_is_told_who_it_is() {
    let (hub, _apps) = scene().await;
    let (mut one, mut other) = (stdio(&hub, Era::Modern).await, stdio(&hub, LEGACY).await);
    for client in [&mut one, &mut other] {
        for _ in 0..2 {
            client.call("paint", json!({"session": "north"})).await.result();
        }
    }
    let ids = callers(&hub, "north").await;
    assert_eq!((&ids[0], &ids[2]), (&ids[1], &ids[3]), "the same over all of its calls");
    assert_ne!(ids[0], ids[2]);
    let options = StdioOptions::of(PROGRAM, &hub).variable("MCP_INSTANCE_ID", "my-editor");
    let mut named = options.connect(Era::Modern).await;
    named.call("paint", json!({"session": "south"})).await.result();
    assert_eq!(callers(&hub, "south").await, ["my-editor"]);
}

#[tokio::test]
async fn an_id_that_cannot_be_one_is_said() {
    let (hub, _apps) = scene().await;
    let options = StdioOptions::of(PROGRAM, &hub).variable("MCP_INSTANCE_ID", "a b/c");
    let mut client = options.connect(Era::Modern).await;
    let (code, said) = client.call("paint", json!({"session": "north"})).await.error();
    assert_eq!(code, -32602);
    assert!(said.contains("id"), "{said}");
    let none = http(&hub, Era::Modern).await.named("");
    none.call("paint", json!({"session": "north"})).await.result();
    assert_eq!(callers(&hub, "north").await, ["local:"]);
}

#[tokio::test]
async fn the_trace_of_a_call_is_carried_into_the_feed_and_nothing_else_is() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (hub, _apps) = scene().await;
    for way in WAYS {
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        for trace in [TRACE, "not a trace\n"] {
            let call = json!({
                "name": "paint",
                "arguments": {"session": "north"},
                "_meta": {"traceparent": trace},
            });
            client.request("tools/call", call).await.result();
            let feed = hub.api().feed("north").await;
            let last = feed.iter().rev().find(|item| item["kind"] == "call").unwrap();
            let carried = last["body"]["traceparent"].as_str();
            assert_eq!(carried, Some(TRACE).filter(|good| *good == trace), "{way:?}");
        }
    }
}
