//! The 3D viewer on the hub's own page: asked, changed, pushed, dragged and closed, through MCP.
//!
//! The page is opened by the address that a client gets, which makes it that client's own. What
//! the client is told is compared with what the page itself says. The browser is driven by
//! another client, as a person would.

use std::fs;

use serde_json::{Value, json};
use testkit::{
    Era, HubOptions, McpStdio, Site, StdioOptions, eventually,
    mcp::client::{McpClient, Transport},
};

use crate::stage::{Driver, PROGRAM, Stage, with};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/viewer/dist/main.js");
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/hello3d.toml");
/// What a new viewer shows.
pub const FIRST_COLOUR: &str = "#e4572e";

/// Fails with words where there is nothing to open.
pub fn must_be_built() {
    assert!(std::path::Path::new(BUNDLE).exists(), "build the viewer first: npm run build in web/");
}

/// Starts a hub whose viewers may take their time, and a browser: where several draw without a GPU,
/// the two seconds that a client usually waits for a page are too few.
pub async fn start(flags: &[&str]) -> Stage {
    must_be_built();
    let options = HubOptions::new(PROGRAM).flags(&["--state-timeout", "25s"]).flags(flags);
    let shipped = fs::read_to_string(MANIFEST).unwrap();
    let patient = shipped.replace("timeoutMs = 2000\n", "timeoutMs = 25000\n");
    assert_ne!(patient, shipped, "the manifest says how long a page may take");
    let apps = options.place().folder("apps");
    fs::write(apps.join("hello3d.toml"), patient).unwrap();
    Stage::of(options.flags(&["--apps", apps.to_str().unwrap()])).await
}

/// Opens a viewer in a tab of its own and waits until it is connected; returns the tab.
pub async fn open(stage: &Stage, url: &str, session: &str) -> u64 {
    must_be_built();
    let tab = stage.client.tab("new", json!({"url": url, "active": true})).await["tab"].clone();
    connected(&stage.client, session).await;
    tab.as_u64().unwrap()
}

/// Waits until a session is connected and its own tools are listed.
pub async fn connected(client: &Driver, session: &str) {
    let until = json!({"until": "connected", "session": session, "timeoutMs": 60000});
    let found = client.call("wait_for", until).await;
    assert_eq!(found["happened"], true, "{session}: {found}");
    let listed = async || client.tools().await.contains(&"undo".to_owned()).then_some(());
    eventually("the viewer's tools", listed).await;
}

/// Returns the address that is this hub's, for a viewer of a name.
pub fn address(stage: &Stage, query: &str) -> String {
    format!("http://127.0.0.1:{}/viewer/{query}", stage.hub.port())
}

/// Asks the page what its state is; waits for nothing.
pub async fn truth(stage: &Stage, tab: u64, path: &str) -> Value {
    let asked = json!({"tab": tab, "expression": "tabwireViewer.state()"});
    let answer = stage.client.call("browser_execute", asked).await;
    let state = answer.get("result").unwrap_or(&answer);
    state.pointer(path).unwrap_or_else(|| panic!("no {path} in {answer}")).clone()
}

/// Calls a tool that must work; returns the structured result.
async fn call(client: &mut McpClient, tool: &str, args: Value) -> Value {
    let result = client.call(tool, args).await.result();
    assert_ne!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"].clone()
}

/// Looks at a part of an answer without its age.
#[track_caller]
fn check(answer: &Value, value: Value, source: &str) {
    assert_eq!((&answer["value"], &answer["source"]), (&value, &json!(source)), "{answer}");
    assert!(answer["version"].is_u64() && answer["ageMs"].is_u64(), "{answer}");
}

async fn the_round_trip(way: (Transport, Era)) {
    let stage = start(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &stage.hub, way).await;
    // Nobody has the tool yet; what there is, is named.
    let (_, words) = client.call("get_model_color", json!({})).await.error();
    assert!(words.contains("get_browser_connection_url"), "{words}");
    let link = call(&mut client, "get_browser_connection_url", json!({})).await;
    let tab = open(&stage, link["url"].as_str().unwrap(), "viewer").await;
    let link = call(&mut client, "get_browser_connection_url", json!({})).await;
    assert_eq!(link["connected"], true, "{link}");
    // Another viewer is no reason to ask which one is meant: the first is this client's own.
    open(&stage, &address(&stage, "?name=other"), "other").await;

    // Query: the page has told its state by itself, so that nobody has to be asked.
    let pushed = async || {
        let told = client.call("get_model_color", json!({})).await.result();
        (told["structuredContent"]["source"] == "cache").then(|| told["structuredContent"].clone())
    };
    check(&eventually("the first push", pushed).await, json!(FIRST_COLOUR), "cache");

    // Change, push, query again.
    let changed = call(&mut client, "change_model_color", json!({"color": "#cc0000"})).await;
    assert_eq!((&changed["confirmed"], &changed["session"]), (&json!(true), &json!("viewer")));
    let now = call(&mut client, "get_model_color", json!({})).await;
    check(&now, json!("#cc0000"), "cache");
    assert_eq!(now["version"], changed["version"], "what was pushed with the answer: {now}");
    assert_eq!(truth(&stage, tab, "/model/color").await, "#cc0000");
    let other = json!({"session": "other"});
    let other = call(&mut client, "get_model_color", other).await;
    assert_eq!(other["value"], FIRST_COLOUR, "the other viewer is untouched");

    // By hand: no forced refresh is needed.
    let drag = json!({"tab": tab, "x": 500, "y": 300, "toX": 600, "toY": 300});
    stage.client.interact("drag", drag).await;
    let turned = truth(&stage, tab, "/model/rotation").await;
    assert!((turned["y"].as_f64().unwrap() - 40.0).abs() < 1.0, "100 pixels turn it: {turned}");
    let told = eventually("the drag is pushed", async || {
        let told = call(&mut client, "get_model_rotation", json!({})).await;
        (told["value"] == turned).then_some(told)
    });
    check(&told.await, turned.clone(), "cache");

    // Forced refresh: the page itself is asked.
    let fresh = call(&mut client, "get_model_rotation", json!({"forceRefresh": true})).await;
    check(&fresh, turned.clone(), "live");
    let too_old = json!({"session": "viewer", "path": "/model/rotation", "maxAgeMs": 0});
    let asked = call(&mut client, "app_state", too_old).await;
    check(&asked, turned.clone(), "live");

    // Its own tools go to the same page, though two viewers have them.
    let undone = call(&mut client, "undo", json!({})).await;
    assert_eq!(undone["undone"], 1, "a drag is one step: {undone}");
    let back = call(&mut client, "get_model_rotation", json!({})).await;
    check(&back, json!({"x": 0, "y": 0, "z": 0}), "cache");
}

#[tokio::test]
async fn a_client_over_stdio_asks_changes_and_sees_what_hands_do() {
    the_round_trip((Transport::Stdio, Era::Legacy("2025-11-25"))).await;
}

#[tokio::test]
async fn a_client_over_http_asks_changes_and_sees_what_hands_do() {
    the_round_trip((Transport::Http, Era::Modern)).await;
}

#[tokio::test]
async fn a_page_that_has_told_nothing_yet_is_asked() {
    let stage = start(&[]).await;
    let site = Site::start(REPOSITORY).await;
    // The real viewer, but its pushes are held back.
    let page = "/crates/tabwire/tests/browser/pages/viewer-late.html";
    let url = site.url(&format!("{page}?hub=http://127.0.0.1:{}", stage.hub.port()));
    stage.client.new_tab(&url).await;
    let until = json!({"until": "connected", "session": "viewer", "timeoutMs": 60000});
    stage.client.call("wait_for", until).await;
    let client = &stage.client;
    let miss = client.call("get_model_color", json!({})).await;
    check(&miss, json!(FIRST_COLOUR), "live");
    let hit = client.call("get_model_color", json!({})).await;
    check(&hit, json!(FIRST_COLOUR), "cache");
    client.evaluate("letGo()").await;
    client.works("change_model_color", json!({"color": "#123456"})).await;
    check(&client.call("get_model_color", json!({})).await, json!("#123456"), "cache");
}

/// A client over stdio, whose own page is open and connected.
async fn own_page(stage: &Stage) -> (McpStdio, u64) {
    let mut client = StdioOptions::of(PROGRAM, &stage.hub).connect(Era::Modern).await;
    let link = client.call("get_browser_connection_url", json!({})).await.result();
    let url = link["structuredContent"]["url"].as_str().unwrap().to_owned();
    let tab = open(stage, &url, "viewer").await;
    client.call("change_model_color", json!({"color": "#cc0000"})).await.result();
    (client.patient(std::time::Duration::from_secs(40)), tab)
}

#[tokio::test]
async fn a_page_that_is_closed_during_a_query_leaves_its_last_state_marked_as_stale() {
    let stage = start(&[]).await;
    let (mut client, tab) = own_page(&stage).await;
    // The page stands still, so that nothing answers the query.
    let url = stage.site.url("/hold/still");
    let wait = format!(
        "setTimeout(() => {{ const it = new XMLHttpRequest(); it.open('GET', '{url}', false); \
         it.send(); }})"
    );
    stage.client.call("browser_execute", json!({"tab": tab, "expression": wait})).await;
    stage.site.until_asked("/hold/still").await;
    let ask = json!({
        "session": "viewer", "path": "/model/color", "forceRefresh": true, "timeoutMs": 60000,
    });
    let query = client.ask("tools/call", json!({"name": "app_state", "arguments": ask})).await;
    stage.client.tab("close", json!({"tab": tab})).await;
    let answer = client.answer(query).await.result()["structuredContent"].clone();
    check(&answer, json!("#cc0000"), "stale");
    assert_eq!(answer["connected"], false, "{answer}");
    assert!(answer["stale"].as_str().is_some_and(|reason| !reason.is_empty()), "{answer}");
    // And so does everybody who asks later: the value with its age, or a plain error.
    let later = client.call("get_model_color", json!({})).await.result();
    assert_eq!(later["structuredContent"]["connected"], false, "{later}");
    assert!(testkit::mcp::text(&later).contains("the page is away"), "{later}");
    let (failed, words) = client.call("change_model_color", json!({"color": "snow"})).await.told();
    assert!(failed && words.contains("get_browser_connection_url"), "{words}");
}

#[tokio::test]
async fn a_page_that_is_closed_during_a_command_is_told_and_never_as_done() {
    let stage = start(&["--resume-grace", "200ms"]).await;
    let (mut client, tab) = own_page(&stage).await;
    let model = json!({"url": stage.site.url("/hold/model.glb")});
    let command = client.ask("tools/call", json!({"name": "load_model", "arguments": model}));
    let command = command.await;
    stage.site.until_asked("/hold/model.glb").await;
    stage.client.tab("close", json!({"tab": tab})).await;
    let result = client.answer(command).await.result();
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(crate::stage::code(&result), "outcome_unknown", "{result}");
    // What was never sent is told as such.
    let after = client.call("undo", with(json!({}), json!({"session": "viewer"}))).await.result();
    assert_eq!(crate::stage::code(&after), "not_connected", "{after}");
}
