//! Several clients and several sessions at once: each reaches what it names, nothing is mixed up.

use std::collections::HashMap;

use serde_json::{Value, json};
use testkit::{Answer, Era, FakeApp, FakeBrowser, HubProcess, McpHttp, McpStdio, Rng};

use crate::{
    mcp_scene::{LEGACY, every_way, http, stdio},
    scene::hub,
};

const APPS: [&str; 3] = ["north", "south", "east"];

/// Three apps with the same tools, which say who they are and what they were given.
async fn apps(hub: &HubProcess) -> Vec<FakeApp> {
    let mut apps = Vec::new();
    for name in APPS {
        let peer = FakeBrowser::app(hub.port(), name);
        let tools = ["look?", "paint"];
        let app = FakeApp::start(peer, &tools, move |call| {
            Answer::Result(json!({"app": name, "tool": call["toolName"], "got": call["args"]}))
        });
        apps.push(app.await);
    }
    apps
}

/// One call: which tool, with what, and what must come back.
struct Errand {
    tool: &'static str,
    args: Value,
    expected: Value,
}

fn errands(rng: &mut Rng, client: &str, count: u64) -> Vec<Errand> {
    let errand = |number: u64| {
        let name = APPS[rng.between(0, 3) as usize];
        let tool = if rng.percent(70) { "look" } else { "paint" };
        let filling = "x".repeat(rng.between(0, 2000) as usize);
        let got = json!({"client": client, "number": number, "filling": filling});
        let mut args = got.clone();
        args["session"] = json!(name);
        Errand { tool, args, expected: json!({"app": name, "tool": tool, "got": got}) }
    };
    (0..count).map(errand).collect()
}

#[track_caller]
fn check(result: &Value, errand: &Errand) {
    assert_eq!(result["structuredContent"], errand.expected);
    let text: Value = serde_json::from_str(&testkit::mcp::text(result)).unwrap();
    assert_eq!(text, errand.expected, "words and structure say the same");
    assert_eq!(result["_meta"]["tabwire"]["session"], errand.expected["app"]);
}

/// Sends many calls before it takes the answers, in whatever order they come.
async fn run_stdio(client: &mut McpStdio, errands: Vec<Errand>) {
    let mut errands = errands.into_iter().peekable();
    while errands.peek().is_some() {
        let mut open = HashMap::new();
        for errand in errands.by_ref().take(50) {
            let params = json!({"name": errand.tool, "arguments": errand.args});
            open.insert(client.ask("tools/call", params).await, errand);
        }
        while !open.is_empty() {
            // News about tools may come too.
            let is_answer = |message: &Value| message.get("method").is_none();
            let answer = client.until("an answer", is_answer).await;
            let errand = open.remove(&answer["id"].as_u64().unwrap()).expect("one that was asked");
            check(&testkit::mcp::Reply(answer).result(), &errand);
        }
    }
}

/// Has several requests under way at the same time, each on its own connection.
async fn run_http(client: &McpHttp, errands: Vec<Errand>) {
    for together in errands.chunks(5) {
        let [first, second, third, fourth, fifth] = together else { panic!("not in fives") };
        let one = async |errand: &Errand| {
            check(&client.call(errand.tool, errand.args.clone()).await.result(), errand);
        };
        tokio::join!(one(first), one(second), one(third), one(fourth), one(fifth));
    }
}

#[tokio::test]
async fn a_thousand_interleaved_calls_of_two_clients_reach_three_sessions_unmixed() {
    let hub = hub(&[]).await;
    let apps = apps(&hub).await;
    let mut rng = Rng::seeded(1000);
    let mut by_stdio = stdio(&hub, LEGACY).await;
    let by_http = http(&hub, Era::Modern).await;
    let (first, second) = (errands(&mut rng, "stdio", 500), errands(&mut rng, "http", 500));
    tokio::join!(run_stdio(&mut by_stdio, first), run_http(&by_http, second));
    let received: Vec<_> = apps.iter().map(|app| app.received("callTool").len()).collect();
    assert_eq!(received.iter().sum::<usize>(), 1000, "each call once: {received:?}");
    assert!(received.iter().all(|count| *count > 200), "{received:?}");
    assert_eq!(hub.api().metrics().await.sum("tabwire_calls_in_flight"), 0.0);
}

#[tokio::test]
async fn clients_of_both_eras_and_transports_do_not_get_in_each_others_way() {
    let hub = hub(&[]).await;
    let _apps = apps(&hub).await;
    let mut rng = Rng::seeded(7);
    let mut newer = stdio(&hub, Era::Modern).await;
    let mut older = stdio(&hub, LEGACY).await;
    let (newer_http, older_http) = (http(&hub, Era::Modern).await, http(&hub, LEGACY).await);
    let [one, two, three, four] =
        ["one", "two", "three", "four"].map(|client| errands(&mut rng, client, 60));
    tokio::join!(
        run_stdio(&mut newer, one),
        run_stdio(&mut older, two),
        run_http(&newer_http, three),
        run_http(&older_http, four),
    );
}

#[tokio::test]
async fn a_session_that_hangs_holds_up_nobody_else() {
    let hub = hub(&[]).await;
    let mut hung = FakeBrowser::with_tools(hub.port(), "hung", &["paint"]).await;
    let _apps = apps(&hub).await;
    let mut client = stdio(&hub, Era::Modern).await;
    let params = json!({"name": "paint", "arguments": {"session": "hung"}});
    let waits = client.ask("tools/call", params).await;
    let call = hung.call().await;
    let mut rng = Rng::seeded(3);
    for errand in errands(&mut rng, "other", 20) {
        check(&client.call(errand.tool, errand.args.clone()).await.result(), &errand);
    }
    hung.answer(&call, json!("at last")).await;
    assert_eq!(client.answer(waits).await.result()["structuredContent"]["result"], "at last");
}

#[tokio::test]
async fn a_large_and_awkward_result_arrives_whole() {
    let hub = hub(&[]).await;
    let awkward = "line\nend\r\n\u{2028}\u{0}\u{1F600}\"\\ data: x\n\n";
    let text = format!("{awkward}{}", "x".repeat(3 << 20));
    let answer = text.clone();
    // The whole is there, with what cannot be seen written out too.
    let visible = "line\nend\n\\u{2028}\\u{0}\u{1F600}\"\\ data: x\n\n";
    let visible = text.replacen(awkward, visible, 1);
    let peer = FakeBrowser::app(hub.port(), "north");
    let _north = FakeApp::start(peer, &["look?"], move |_| Answer::Result(json!(answer))).await;
    for (way, mut client) in every_way(&hub).await {
        let result = client.call("look", json!({})).await.result();
        let shown = testkit::mcp::text(&result);
        // As content is shown: indented, with what cannot be seen written out.
        let beginning = "  line\n  end\n  \\u{2028}\\u{0}\u{1F600}\"\\ data: x\n\n  xxx";
        assert!(shown.starts_with(beginning) && shown.len() < 25_000, "{way:?}");
        let uri = &result["structuredContent"]["uri"];
        let whole = client.request("resources/read", json!({ "uri": uri })).await.result();
        assert!(whole["contents"][0]["text"] == json!(visible), "{way:?}");
    }
}

#[tokio::test]
async fn one_client_has_as_many_calls_under_way_as_a_session_may_have() {
    // Many more than a client has without the setting; what waits is refused after a while.
    let hub = hub(&["--calls-per-session", "400"]).await;
    let mut north = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    let mut asked = Vec::new();
    for _ in 0..400 {
        asked.push(client.ask("tools/call", json!({"name": "look", "arguments": {}})).await);
    }
    let mut calls = Vec::new();
    for _ in 0..400 {
        calls.push(north.call().await);
    }
    for call in &calls {
        north.answer(call, json!("seen")).await;
    }
    for id in asked {
        assert_eq!(client.answer(id).await.result()["structuredContent"]["result"], "seen");
    }
}
