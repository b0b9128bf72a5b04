//! Results that are too large for an answer, batches, and tools that are not offered.

use serde_json::{Value, json};
use testkit::{Answer, Ask, FakeApp, FakeBrowser, HubOptions, HubProcess, McpHttp, Place};

use crate::{
    mcp_scene::{each, every_way},
    scene::{PROGRAM, hub},
};

/// A browser whose page is long, prints on 30,000 bytes, and has no button.
async fn browser(hub: &HubProcess) -> FakeApp {
    let peer = FakeBrowser::browser(hub.port(), "chrome");
    FakeApp::start(peer, &[], |call| match call["toolName"].as_str() {
        Some("browser_pdf") => {
            let data = "JVBE".repeat(10_000);
            let file = json!({"mimeType": "application/pdf", "data": data, "name": "page.pdf"});
            Answer::Result(json!({"file": file, "pages": 1}))
        }
        Some("browser_get_content") => Answer::Result(json!("word ".repeat(10_000))),
        Some("browser_mouse_click") => Answer::Error("ELEMENT_NOT_FOUND", "no such button"),
        _ => Answer::Result(json!({"url": "https://a.example/"})),
    })
    .await
}

fn link(result: &Value) -> &Value {
    let content = result["content"].as_array().unwrap();
    content.iter().find(|block| block["type"] == "resource_link").unwrap()
}

#[tokio::test]
async fn a_large_result_is_linked_and_read_as_a_resource() {
    let hub = hub(&[]).await;
    let _chrome = browser(&hub).await;
    for (way, mut client) in every_way(&hub).await {
        let result = client.call("browser_content", json!({"action": "pdf"})).await.result();
        let linked = link(&result).clone();
        let about = (&linked["name"], &linked["mimeType"], &linked["size"]);
        assert_eq!(about, (&json!("page.pdf"), &json!("application/pdf"), &json!(30_000)));
        assert_eq!(result["structuredContent"]["file"]["uri"], linked["uri"], "{way:?}");
        assert!(result.to_string().len() < 2000, "{way:?}: the bytes are not in the answer");
        let uri = linked["uri"].as_str().unwrap();
        let read = client.request("resources/read", json!({ "uri": uri })).await.result();
        assert_eq!(read["contents"][0]["blob"], "JVBE".repeat(10_000), "{way:?}");
        let result = client.call("browser_content", json!({"action": "get"})).await.result();
        let uri = link(&result)["uri"].as_str().unwrap();
        assert!(testkit::mcp::text(&result).ends_with(uri), "{way:?}");
        let read = client.request("resources/read", json!({ "uri": uri })).await.result();
        assert_eq!(read["contents"][0]["text"], "word ".repeat(10_000), "{way:?}");
        assert_eq!(read["contents"][0]["mimeType"], "text/plain");
        let listed = client.request("resources/list", json!({})).await.result();
        assert!(!each(&listed["resources"], "uri").iter().any(|uri| uri.contains("/result/")));
    }
}

#[tokio::test]
async fn a_large_result_is_for_its_principal_only() {
    let options = HubOptions::new(PROGRAM);
    let file =
        options.place().write("tokens", "ann = secret-of-ann-123456\nbob = secret-of-bob-123456\n");
    let hub = options.flags(&["--token-file", file.to_str().unwrap()]).start().await;
    let _chrome = browser(&hub).await;
    let client = |token: &str| {
        McpHttp::modern(hub.port()).header("Authorization", &format!("Bearer {token}"))
    };
    let (ann, bob) = (client("secret-of-ann-123456"), client("secret-of-bob-123456"));
    let result = ann.call("browser_content", json!({"action": "pdf"})).await.result();
    let uri = link(&result)["uri"].as_str().unwrap();
    ann.request("resources/read", json!({ "uri": uri })).await.result();
    let (_, said) = bob.request("resources/read", json!({ "uri": uri })).await.error();
    assert!(said.contains("there is no result") && said.contains("15 minutes"), "{said}");
    let path = format!("/api/results/{}", uri.rsplit('/').next().unwrap());
    let ask = |token: &str| Ask::get(&path).bearer(token);
    ask("secret-of-ann-123456").send(hub.port()).await.must_be(200);
    ask("secret-of-bob-123456").send(hub.port()).await.must_be(404);
    Ask::own_get(&path).send(hub.port()).await.must_be(404);
}

#[tokio::test]
async fn the_api_links_large_results_and_serves_them() {
    let hub = hub(&[]).await;
    let _chrome = browser(&hub).await;
    let ask = json!({"tool": "browser_content", "args": {"action": "pdf"}});
    let answer = Ask::own_post("/api/call", &ask).send(hub.port()).await.must_be(200).json();
    let uri = answer["links"][0]["uri"].as_str().unwrap();
    let id = uri.strip_prefix("tabwire://result/").unwrap();
    let served = Ask::own_get(&format!("/api/results/{id}")).send(hub.port()).await.must_be(200);
    assert_eq!(served.header("content-type"), Some("application/pdf"));
    let saved = served.header("content-disposition").unwrap();
    assert_eq!(saved, "attachment; filename=\"page.pdf\"", "a browser does not show it");
    assert_eq!(served.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert!(served.text().starts_with("%PD%PD"), "the bytes as they are");
    let unknown = Ask::own_get("/api/results/nothing").send(hub.port()).await;
    assert_eq!((unknown.status, unknown.fault().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn the_command_line_saves_what_an_answer_links_to() {
    let hub = hub(&[]).await;
    let _chrome = browser(&hub).await;
    let place = Place::create();
    let path = place.path().join("page.pdf");
    let out = ["--out", path.to_str().unwrap()];
    let args = ["call", "browser_content", r#"{"action":"pdf"}"#];
    hub.commands(PROGRAM).run(&[&args[..], &out[..]].concat()).await.must_exit(0);
    assert_eq!(std::fs::read(&path).unwrap().len(), 30_000);
    let args = ["call", "sleep", r#"{"durationMs":0}"#];
    let nothing = hub.commands(PROGRAM).run(&[&args[..], &out[..]].concat()).await.must_exit(1);
    assert!(nothing.stderr.contains("no file"), "{}", nothing.stderr);
    let steps =
        r#"{"steps":[{"tool":"sleep","durationMs":0},{"tool":"browser_click","ref":"e1"}]}"#;
    let stopped = hub.commands(PROGRAM).run(&["call", "batch", steps]).await.must_exit(1);
    assert_eq!(stopped.json()["failed"]["step"], 2, "{}", stopped.stdout);
    assert!(stopped.stderr.contains("a step failed"), "{}", stopped.stderr);
}

#[tokio::test]
async fn a_batch_that_stops_is_an_error_with_what_was_done() {
    let hub = hub(&[]).await;
    let _chrome = browser(&hub).await;
    for (way, mut client) in every_way(&hub).await {
        let steps = json!([
            {"tool": "browser_navigate", "url": "https://a.example/"},
            {"tool": "browser_interact", "action": "click", "text": "Buy"},
            {"tool": "sleep", "durationMs": 60_000},
        ]);
        let result = client.call("batch", json!({ "steps": steps })).await.result();
        assert_eq!(result["isError"], true, "{way:?}: {result}");
        let structured = &result["structuredContent"];
        assert_eq!((&structured["done"], &structured["failed"]["step"]), (&json!(1), &json!(2)));
        let text = testkit::mcp::text(&result);
        assert!(text.ends_with("(step 1 was done, step 3 was not)"), "{way:?}: {text}");
    }
}

#[tokio::test]
async fn tools_that_are_not_selected_are_not_there() {
    let hub = hub(&["--tools", "wait,batch"]).await;
    for (way, mut client) in every_way(&hub).await {
        let listed = client.request("tools/list", json!({})).await.result();
        assert_eq!(each(&listed["tools"], "name"), ["batch", "sleep", "wait_for"], "{way:?}");
        let (_, said) = client.call("browser_click", json!({"ref": "e1"})).await.error();
        assert!(said.contains("setting `tools`"), "{way:?}: {said}");
        let steps = json!([{"tool": "browser_tab", "action": "list"}]);
        let result = client.call("batch", json!({ "steps": steps })).await.result();
        assert!(testkit::mcp::text(&result).contains("setting `tools`"), "{way:?}: {result}");
    }
    let place = Place::create();
    let commands = testkit::Commands::new(PROGRAM, &place);
    let refused = commands.run(&["serve", "--tools", "browze"]).await.must_exit(2);
    assert!(refused.stderr.contains("did you mean browse?"), "{}", refused.stderr);
}
