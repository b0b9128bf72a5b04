//! Both eras over both transports: how a conversation begins, and what every answer looks like.

use serde_json::{Value, json};
use testkit::{Era, FakeApp, McpHttp, StdioOptions, mcp::MODERN};

use crate::{
    mcp_scene::{LEGACY, LINK, OURS, app, every_way, http, stdio},
    scene::{PROGRAM, hub},
};

#[track_caller]
fn check_handshake(result: &Value, version: &str) {
    assert_eq!(result["protocolVersion"], version, "{result}");
    assert_eq!(result["serverInfo"]["name"], "tabwire");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let capabilities = &result["capabilities"];
    assert_eq!(capabilities["tools"]["listChanged"], true);
    assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
    assert!(capabilities["prompts"].is_object() && capabilities["completions"].is_object());
    assert!(result["instructions"].as_str().unwrap().contains("browser_instance"));
    assert!(result.get("resultType").is_none(), "not known to older clients: {result}");
}

#[tokio::test]
async fn an_older_client_gets_the_revision_it_asks_for() {
    let hub = hub(&[]).await;
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let era = Era::Legacy(version);
        let mut by_stdio = StdioOptions::of(PROGRAM, &hub).start();
        check_handshake(&by_stdio.open(era).await, version);
        assert_eq!(by_stdio.request("ping", json!({})).await.result(), json!({}));
        let mut by_http = McpHttp::new(hub.port(), era);
        check_handshake(&by_http.open().await, version);
        assert_eq!(by_http.request("ping", json!({})).await.result(), json!({}));
    }
}

#[tokio::test]
async fn an_older_client_that_asks_for_the_unknown_is_offered_what_is_known() {
    let hub = hub(&[]).await;
    for version in ["1999-01-01", "2099-01-01", MODERN] {
        let era = Era::Legacy(version);
        let mut by_stdio = StdioOptions::of(PROGRAM, &hub).start();
        let offered = by_stdio.open(era).await;
        let known = offered["protocolVersion"].as_str().unwrap();
        assert!(["2025-11-25", "2025-06-18"].contains(&known), "{version}: {offered}");
        by_stdio.request("tools/list", json!({})).await.result();
    }
}

#[tokio::test]
async fn discovery_lists_both_eras() {
    let hub = hub(&[]).await;
    let mut by_stdio = stdio(&hub, Era::Modern).await;
    let by_http = http(&hub, Era::Modern).await;
    let found = by_stdio.request("server/discover", json!({})).await.result();
    assert_eq!(by_http.request("server/discover", json!({})).await.result(), found);
    let versions = found["supportedVersions"].as_array().unwrap();
    for version in [MODERN, "2025-11-25", "2025-06-18", "2024-11-05"] {
        assert!(versions.contains(&json!(version)), "{version} in {found}");
    }
    assert_eq!(found["capabilities"]["tools"]["listChanged"], true);
    assert!(found["instructions"].as_str().unwrap().contains("browser_instance"));
    assert_eq!(found["resultType"], "complete");
}

#[tokio::test]
async fn a_client_that_probes_may_still_be_an_older_one() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    client.request("server/discover", json!({})).await.result();
    check_handshake(&client.open(LEGACY).await, "2025-11-25");
    let list = client.request("tools/list", json!({})).await.result();
    assert!(list.get("resultType").is_none(), "{list}");
}

#[tokio::test]
async fn one_endpoint_serves_both_eras_at_the_same_time() {
    let hub = hub(&[]).await;
    let (older, newer) = (http(&hub, LEGACY).await, http(&hub, Era::Modern).await);
    for _ in 0..3 {
        let list = older.request("tools/list", json!({})).await.result();
        assert!(list.get("resultType").is_none(), "{list}");
        let list = newer.request("tools/list", json!({})).await.result();
        assert_eq!(list["resultType"], "complete");
    }
}

#[tokio::test]
async fn methods_of_the_other_era_are_unknown() {
    let hub = hub(&[]).await;
    for ((by, era), mut client) in every_way(&hub).await {
        let (ours, others): (&[&str], &[&str]) = match era {
            Era::Modern => (
                // Before anything else, a ping may come from a client of either era.
                &["server/discover", "tools/list"],
                &["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"],
            ),
            Era::Legacy(_) => (&["ping"], &["subscriptions/listen"]),
        };
        for method in ours {
            client.request(method, json!({})).await.result();
        }
        for method in others {
            let params = json!({
                "level": "info", "uri": "tabwire://sessions",
                "notifications": {"toolsListChanged": true},
            });
            let (code, said) = client.request(method, params).await.error();
            assert_eq!(code, -32601, "{by:?} {era:?} {method}: {said}");
        }
        let (code, _) = client.request("no/such/method", json!({})).await.error();
        assert_eq!(code, -32601, "{by:?} {era:?}");
    }
}

/// Every request that can be made of a hub with an app `north` that has a state.
fn requests() -> Vec<(&'static str, Value, bool)> {
    let prompt = json!({"type": "ref/prompt", "name": "explore_app"});
    let argument = json!({"name": "session", "value": "n"});
    vec![
        ("tools/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/read", json!({"uri": "tabwire://sessions"}), true),
        ("resources/read", json!({"uri": "tabwire://session/north/state"}), true),
        ("resources/read", json!({"uri": "tabwire://session/north/events?since=0"}), true),
        ("prompts/get", json!({"name": "explore_app", "arguments": {"session": "north"}}), false),
        ("completion/complete", json!({"ref": prompt, "argument": argument}), false),
        ("tools/call", json!({"name": "browser_instance", "arguments": {}}), false),
        ("tools/call", json!({"name": "app_state", "arguments": {}}), false),
        ("tools/call", json!({"name": "sleep", "arguments": {"durationMs": 0}}), false),
    ]
}

#[tokio::test]
async fn results_are_marked_complete_and_cacheable_for_newer_clients_only() {
    let hub = hub(&[]).await;
    let _app = app(&hub, "north", json!({"color": "red"})).await;
    for ((by, era), mut client) in every_way(&hub).await {
        for (method, params, cacheable) in requests() {
            let result = client.request(method, params.clone()).await.result();
            let shown = format!("{by:?} {era:?} {method} {params}: {result}");
            match era {
                Era::Modern => assert_eq!(result["resultType"], "complete", "{shown}"),
                Era::Legacy(_) => assert!(result.get("resultType").is_none(), "{shown}"),
            }
            if era.is_modern() && cacheable {
                assert!(result["ttlMs"].is_u64(), "{shown}");
                assert_eq!(result["cacheScope"], "private", "{shown}");
            }
        }
    }
}

#[tokio::test]
async fn the_list_begins_with_our_own_tools_and_is_the_same_for_everybody() {
    let hub = hub(&[]).await;
    let _north = FakeApp::echo(hub.port(), "north", &["zoom", "aim"]).await;
    let mut first = None;
    for (way, mut client) in every_way(&hub).await {
        let listed = client.request("tools/list", json!({})).await.result();
        let names = crate::mcp_scene::each(&listed["tools"], "name");
        assert_eq!(names, [&OURS[..], &["aim", LINK, "zoom"]].concat(), "{way:?}");
        assert!(listed.get("nextCursor").is_none());
        // A call must not change the list.
        client.call("zoom", json!({})).await.result();
        let again = client.request("tools/list", json!({})).await.result();
        assert_eq!(again["tools"], listed["tools"], "{way:?}");
        assert_eq!(*first.get_or_insert(listed["tools"].clone()), listed["tools"], "{way:?}");
    }
}

/// Checks a value against the few words of JSON Schema that our own tools use.
fn check_schema(schema: &Value, value: &Value, path: &str) {
    let kind = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{path}: an unexpected type {other}"),
    };
    match &schema["type"] {
        Value::String(name) => assert!(kind(name), "{path} is no {name}: {value}"),
        Value::Array(names) => {
            let fits = names.iter().any(|name| kind(name.as_str().unwrap()));
            assert!(fits, "{path} is none of {names:?}: {value}");
        }
        _ => {}
    }
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{path} is none of {choices:?}: {value}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{path} has no {name}: {value}");
    }
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            check_schema(part, value, &format!("{path}/{name}"));
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        check_schema(&schema["items"], item, &format!("{path}/{number}"));
    }
}

#[tokio::test]
async fn every_tool_of_ours_answers_in_words_and_as_its_schema_says() {
    let hub = hub(&[]).await;
    let _app = app(&hub, "north", json!({"color": "red"})).await;
    let calls = [
        ("app_state", json!({"path": "/color"})),
        ("browser_instance", json!({"action": "list"})),
        ("page_tools", json!({"action": "list"})),
        ("sleep", json!({"durationMs": 0})),
        ("wait_for", json!({"until": "connected"})),
        ("wait_for", json!({"until": "state", "timeoutMs": 1})),
        ("wait_for", json!({"until": "state", "since": 0})),
    ];
    for (way, mut client) in every_way(&hub).await {
        let listed = client.request("tools/list", json!({})).await.result();
        for (name, args) in &calls {
            let tools = listed["tools"].as_array().unwrap();
            let definition = tools.iter().find(|tool| tool["name"] == *name).unwrap();
            assert_eq!(definition["inputSchema"]["type"], "object", "{name}");
            let reads = !["browser_instance", "page_tools"].contains(name);
            assert_eq!(definition["annotations"]["readOnlyHint"] == true, reads, "{name}");
            let result = client.call(name, args.clone()).await.result();
            assert_ne!(result["isError"], true, "{way:?} {name}: {result}");
            assert!(!testkit::mcp::text(&result).is_empty(), "{way:?} {name}: {result}");
            let structured = &result["structuredContent"];
            assert!(structured.is_object(), "{way:?} {name}: {result}");
            check_schema(&definition["outputSchema"], structured, name);
        }
    }
}
