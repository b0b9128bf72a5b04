//! The tools of apps, as an AI client sees and calls them.

use serde_json::{Value, json};
use testkit::{Answer, FakeApp, FakeBrowser, HubProcess, McpHttp, eventually};

use crate::{
    mcp_scene::{declared, declared_names, each, every_way, http, tool},
    scene::hub,
};

/// Connects an app that echoes, with tools described in full.
async fn echo(hub: &HubProcess, name: &str, tools: Vec<Value>) -> FakeApp {
    let app = FakeApp::echo(hub.port(), name, &[]).await;
    let count = tools.len();
    app.publish(json!({"type": "toolsChanged", "tools": tools}));
    eventually("the hub knows the tools", async || {
        let known = hub.api().session(name).await["tools"].as_array().map(Vec::len);
        (known == Some(count)).then_some(())
    })
    .await;
    app
}

fn color() -> Value {
    json!({
        "type": "object",
        "properties": {
            "color": {"type": "string", "enum": ["red", "blue"], "description": "which"},
            "depth": {"type": "integer"},
        },
        "required": ["color"],
        "additionalProperties": false,
    })
}

async fn listed(client: &McpHttp) -> Vec<Value> {
    let list = client.request("tools/list", json!({})).await.result();
    declared(&list)
}

#[tokio::test]
async fn a_tool_is_listed_as_its_app_describes_it() {
    let hub = hub(&[]).await;
    let mut look = tool("look", &json!({"type": "object"}));
    look["annotations"] = json!({"readOnlyHint": true});
    let _north = echo(&hub, "north", vec![tool("paint", &color()), look]).await;
    let listed = listed(&http(&hub, testkit::Era::Modern).await).await;
    assert_eq!(each(&json!(listed), "name"), ["look", "paint"]);
    let paint = &listed[1];
    assert_eq!(paint["description"], "(app of the program north) Does paint.");
    let schema = &paint["inputSchema"];
    assert_eq!(schema["properties"]["color"], color()["properties"]["color"]);
    assert_eq!(schema["required"], json!(["color"]));
    assert_eq!(schema["properties"]["session"]["type"], "string", "which app is meant");
    assert_ne!(paint["annotations"]["readOnlyHint"], true);
    assert_eq!(listed[0]["annotations"]["readOnlyHint"], true);
}

#[tokio::test]
async fn an_app_answers_in_words_and_in_structure_and_is_named_as_the_source() {
    let hub = hub(&[]).await;
    let peer =
        FakeBrowser::app(hub.port(), "north").dialled(|dial| dial.origin("http://localhost:5173"));
    let say = |call: &Value| Answer::Result(call["args"]["say"].clone());
    let _north = FakeApp::start(peer, &["paint"], say).await;
    for (way, mut client) in every_way(&hub).await {
        for (said, words, structure) in [
            (json!({"x": 1}), r#"{"x":1}"#, json!({"x": 1})),
            (json!("painted"), "painted", json!({"result": "painted"})),
            (json!([1, 2]), "[1,2]", json!({"result": [1, 2]})),
            (json!(null), "null", json!({"result": null})),
        ] {
            let result = client.call("paint", json!({"say": said})).await.result();
            assert_eq!(testkit::mcp::text(&result), words, "{way:?}");
            assert_eq!(result["structuredContent"], structure, "{way:?}");
            let source = &result["_meta"]["tabwire"];
            assert_eq!((&source["session"], &source["untrusted"]), (&json!("north"), &json!(true)));
            assert_eq!(source["origin"], "http://localhost:5173");
        }
    }
}

#[tokio::test]
async fn apps_with_the_same_tool_share_one_entry_and_the_session_picks() {
    let hub = hub(&[]).await;
    let north = echo(&hub, "north", vec![tool("paint", &color())]).await;
    let south = echo(&hub, "south", vec![tool("paint", &color())]).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("tools/list", json!({})).await.result();
        assert_eq!(declared_names(&list), ["paint"], "{way:?}");
        for reference in ["south", south.session.as_str()] {
            let args = json!({"color": "red", "session": reference});
            let result = client.call("paint", args).await.result();
            assert_eq!(result["_meta"]["tabwire"]["session"], "south", "{way:?}");
            let taken = &result["structuredContent"];
            assert_eq!(*taken, json!({"color": "red"}), "which app is meant is not the app's");
        }
        let (failed, said) = client.call("paint", json!({"color": "red"})).await.told();
        assert!(failed && said.contains("ambiguous_session"), "{way:?}: {said}");
        assert!(said.contains("\"north\"") && said.contains("\"south\""), "{way:?}: {said}");
        let args = json!({"color": "red", "session": "east"});
        let (failed, said) = client.call("paint", args).await.told();
        assert!(failed && said.contains("unknown_session"), "{way:?}: {said}");
    }
    assert_eq!((north.received("callTool").len(), south.received("callTool").len()), (0, 8));
}

#[tokio::test]
async fn apps_with_different_schemas_are_listed_by_their_full_names() {
    let hub = hub(&[]).await;
    let north = echo(&hub, "north", vec![tool("paint", &color())]).await;
    let south = echo(&hub, "south", vec![tool("paint", &json!({"type": "object"}))]).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("tools/list", json!({})).await.result();
        assert_eq!(declared_names(&list), ["north.paint", "south.paint"], "{way:?}");
        let painted = client.call("north.paint", json!({"color": "blue"})).await.result();
        assert_eq!(painted["_meta"]["tabwire"]["session"], "north", "{way:?}");
        let painted = client.call("south.paint", json!({"any": 1})).await.result();
        assert_eq!(painted["_meta"]["tabwire"]["session"], "south", "{way:?}");
    }
    assert_eq!((north.received("callTool").len(), south.received("callTool").len()), (4, 4));
    assert_eq!(north.received("callTool")[0]["toolName"], "paint", "the app's own name for it");
}

#[tokio::test]
async fn an_app_cannot_take_the_name_of_a_tool_of_ours() {
    let hub = hub(&[]).await;
    let north = FakeApp::echo(hub.port(), "north", &["sleep", "app_state"]).await;
    let client = http(&hub, testkit::Era::Modern).await;
    let names = each(&json!(listed(&client).await), "name");
    assert_eq!(names, ["north.app_state", "north.sleep"]);
    let slept = client.call("sleep", json!({"durationMs": 1})).await.result();
    assert_eq!(slept["structuredContent"], json!({"sleptMs": 1}));
    assert!(north.received("callTool").is_empty());
    client.call("north.sleep", json!({})).await.result();
    assert_eq!(north.received("callTool").len(), 1);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anything_is_sent() {
    let hub = hub(&[]).await;
    let north = echo(&hub, "north", vec![tool("paint", &color())]).await;
    let mut sent = 0;
    for (way, mut client) in every_way(&hub).await {
        for (args, parts) in [
            (json!({}), &["`color`", "missing", "which"][..]),
            (json!({"color": "green"}), &["`color`", "\"red\"", "\"blue\"", "green"]),
            (json!({"color": 5}), &["`color`"]),
            (json!({"color": "red", "depth": "deep"}), &["`depth`"]),
            (json!({"color": "red", "colour": "blue"}), &["`colour`", "did you mean `color`"]),
            (json!({"color": "red", "session": 5}), &["`session`"]),
        ] {
            let (failed, said) = client.call("paint", args.clone()).await.told();
            assert!(failed && said.contains("invalid_argument"), "{way:?} {args}: {said}");
            for part in parts {
                assert!(said.contains(part), "{way:?} {args}: {part} in {said}");
            }
        }
        // Messages keep their order, so a call that was sent would have come before this one.
        client.call("paint", json!({"color": "red"})).await.result();
        sent += 1;
        assert_eq!(north.received("callTool").len(), sent, "{way:?}");
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_said_and_reaches_nowhere() {
    let hub = hub(&[]).await;
    let schema = json!({"type": "object", "$ref": "http://127.0.0.1:1/schema.json"});
    let north = echo(&hub, "north", vec![tool("paint", &schema)]).await;
    let client = http(&hub, testkit::Era::Modern).await;
    let (failed, said) = client.call("paint", json!({})).await.told();
    assert!(failed && said.contains("schema"), "{said}");
    assert!(north.received("callTool").is_empty());
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol_and_names_the_nearest() {
    let hub = hub(&[]).await;
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    for (way, mut client) in every_way(&hub).await {
        for (name, near) in [("pain", "paint"), ("browser_instanc", "browser_instance")] {
            let (code, said) = client.call(name, json!({})).await.error();
            assert_eq!(code, -32602, "{way:?}: {said}");
            assert!(said.contains(name) && said.contains(near), "{way:?}: {said}");
        }
        let (code, _) = client.call("", json!({})).await.error();
        assert_eq!(code, -32602, "{way:?}");
    }
}

#[tokio::test]
async fn a_tool_stays_listed_while_its_app_is_away_and_says_so() {
    let hub = hub(&[]).await;
    drop(FakeApp::echo(hub.port(), "north", &["paint"]).await);
    hub.api().until_connected("north", false).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("tools/list", json!({})).await.result();
        assert_eq!(declared_names(&list), ["paint"], "{way:?}");
        let result = client.call("paint", json!({})).await.result();
        assert_eq!(result["isError"], true, "{way:?}: {result}");
        let said = testkit::mcp::text(&result);
        assert!(said.contains("not_connected") && said.contains("north"), "{way:?}: {said}");
        let error = &result["_meta"]["tabwire"]["error"];
        assert_eq!((&error["code"], &error["retry"]), (&json!("not_connected"), &json!("later")));
    }
}

#[tokio::test]
async fn what_an_app_reports_as_failed_and_what_takes_too_long_is_for_the_model_to_read() {
    // Only the one that never answers has little time.
    let (patient, hasty) = (hub(&[]).await, hub(&["--call-timeout", "150ms"]).await);
    let peer = FakeBrowser::app(patient.port(), "north");
    let fail = |_: &Value| Answer::Error("NO_PAINT", "the tin is empty");
    let _north = FakeApp::start(peer, &["fail?"], fail).await;
    let peer = FakeBrowser::app(hasty.port(), "south");
    let _south = FakeApp::start(peer, &["hang?"], |_| Answer::Never).await;
    for (way, mut client) in every_way(&patient).await {
        let (failed, said) = client.call("fail", json!({})).await.told();
        assert!(failed && said.contains("the tin is empty"), "{way:?}: {said}");
    }
    for (way, mut client) in every_way(&hasty).await {
        let (failed, said) = client.call("hang", json!({})).await.told();
        assert!(failed && said.contains("timed_out"), "{way:?}: {said}");
    }
}

#[tokio::test]
async fn only_names_that_clients_accept_are_listed() {
    let hub = hub(&[]).await;
    let mut north = FakeBrowser::connected(hub.port(), "north").await;
    let any = json!({"type": "object"});
    let long = "x".repeat(129);
    let names = ["fine", "fine-2.b_c", "with space", "\u{fc}mlaut", "a/b", "new\nline", "", &long];
    let tools: Vec<_> = names.iter().map(|name| tool(name, &any)).collect();
    north.publish(json!({"type": "toolsChanged", "tools": tools})).await;
    // Whether it drops some of them or the whole app, the list stays usable.
    let _ = north.try_say(&json!({"type": "ping"})).await;
    let client = http(&hub, testkit::Era::Modern).await;
    eventually("the list has changed or the app was turned away", async || {
        let listed = listed(&client).await;
        let known = |letter: u8| letter.is_ascii_alphanumeric() || b"_.-".contains(&letter);
        for name in each(&json!(listed), "name") {
            let fits = (1..=128).contains(&name.len()) && name.bytes().all(known);
            assert!(fits, "{name:?}");
        }
        let away = hub.api().session("north").await["connected"] == false;
        (away || !listed.is_empty()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_picture_that_an_app_returns_is_an_image_and_not_text() {
    let hub = hub(&[]).await;
    let app = FakeBrowser::app(hub.port(), "north");
    let paint = |_: &Value| {
        let image = json!({"mimeType": "image/png", "data": "iVBORw0KGgo="});
        Answer::Result(json!({"image": image, "light": "key"}))
    };
    let _north = FakeApp::start(app, &["paint"], paint).await;
    for (way, mut client) in every_way(&hub).await {
        let result = client.call("paint", json!({})).await.result();
        let expected = json!({"image": {"mimeType": "image/png", "bytes": 8}, "light": "key"});
        assert_eq!(result["structuredContent"], expected, "{way:?}");
        let images = result["content"].as_array().unwrap().iter();
        let images: Vec<_> = images.filter(|part| part["type"] == "image").collect();
        assert_eq!(images.len(), 1, "{way:?}: {result}");
        assert_eq!(images[0]["data"], "iVBORw0KGgo=", "{way:?}");
        assert_eq!(result.to_string().matches("iVBORw0KGgo").count(), 1, "{way:?}: {result}");
    }
}

#[tokio::test]
async fn tools_of_a_clients_own_page_need_no_session() {
    let hub = hub(&[]).await;
    let client = |name: &str| McpHttp::modern(hub.port()).header("Tabwire-Client", name);
    let (mine, yours) = (client("me"), client("you"));
    let link = mine.call("get_browser_connection_url", json!({})).await.result();
    let own = link["structuredContent"]["instance"].as_str().unwrap().to_owned();
    let answering = async |instance: &str| {
        let said = instance.to_owned();
        let app = FakeBrowser::app(hub.port(), instance);
        FakeApp::start(app, &["paint"], move |_| Answer::Result(json!(said))).await
    };
    let (_own, _other) = (answering(&own).await, answering("other").await);
    let result = mine.call("paint", json!({})).await.result();
    assert_eq!(result["structuredContent"]["result"], own);
    let named = mine.call("paint", json!({"session": "other"})).await.result();
    assert_eq!(named["structuredContent"]["result"], "other");
    let (failed, words) = yours.call("paint", json!({})).await.told();
    assert!(failed && words.contains("other"), "{words}");
}
