//! Requests of a tab that are answered by mocks, blocked, or sent with headers that go along: in
//! their own tab only, and until their client is through with it.

use serde_json::{Value, json};
use testkit::eventually;

use crate::{
    network::{addresses, ended, got, network, requests, text},
    processes,
    stage::{Driver, Stage, until_it_works, with},
};

/// Waits until the log has a request that fits; returns all that do.
async fn logged(client: &Driver, wanted: Value) -> Vec<Value> {
    eventually(&format!("{wanted} is in the log"), async || {
        Some(requests(client, wanted.clone()).await).filter(|list| !list.is_empty())
    })
    .await
}

/// What the page got that a mock answered with a text.
fn loaded(body: &str) -> Value {
    let kind = "text/plain; charset=utf-8";
    json!({"path": "/data?loaded", "status": 200, "kind": kind, "body": body})
}

#[tokio::test]
async fn a_mock_answers_instead_of_the_site_also_after_a_reload() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    // What the first page got is told before what the next one gets.
    stage.site.report("got").await;
    let mock = json!({"url": "/data?start", "status": 201, "body": "{\"mocked\":true}"});
    let mocked = text(client, "mock", mock).await;
    assert!(mocked.contains("/data?start gets 201"), "{mocked}");
    stage.site.forget();
    let asked = stage.site.asked().len();
    client.call("browser_navigate", json!({"action": "reload"})).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["status"], 201, "{told}");
    assert_eq!(told["body"], "{\"mocked\":true}");
    assert_eq!(told["kind"], "application/json");
    network(client, "mock", json!({"url": "/data?loaded", "body": "loaded"})).await;
    let clicked = client.click("#load").await;
    assert_eq!(clicked.get("busy"), None, "a mocked request has an end: {clicked}");
    stage.site.reported("got", loaded("loaded")).await;
    let asked = stage.site.asked().split_off(asked);
    assert!(!asked.iter().any(|path| path == "/data?start"), "{asked:?}");

    // Another tab of the same client goes to the site itself.
    stage.site.forget();
    let other = client.new_tab(&stage.site.url("/network.html")).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["status"], 200, "{told}");
    client.tab("close", json!({"tab": other})).await;
}

#[tokio::test]
async fn mocks_have_methods_ends_and_failures() {
    let stage = &Stage::start().await;
    let client = &stage.client;
    let tab = client.new_tab(&stage.site.url("/network.html")).await;
    let here = json!({"tab": tab});
    let on = |more: Value| with(json!({"tab": tab}), more);
    let headers = json!({"X-Mock": "yes", "Content-Type": "text/csv"});
    let mock = json!({"url": "/data?m", "method": "POST", "body": "a,b", "headers": headers});
    network(client, "mock", on(mock)).await;
    network(client, "mock", on(json!({"url": "*/data?twice", "times": 1, "body": "once"}))).await;
    network(client, "mock", on(json!({"url": "/data.f/", "fail": true}))).await;
    let posted = got(stage, "'/data?m', {method: 'POST'}", here.clone()).await;
    assert_eq!((&posted["body"], &posted["kind"]), (&json!("a,b"), &json!("text/csv")));
    let gotten = got(stage, "'/data?m'", here.clone()).await;
    assert_eq!(gotten["kind"], "application/json", "another method is not mocked: {gotten}");
    assert_eq!(got(stage, "'/data?twice'", here.clone()).await["body"], "once");
    assert_ne!(got(stage, "'/data?twice'", here.clone()).await["body"], "once");
    assert_eq!(got(stage, "'/data?f'", here.clone()).await["failed"], true);
    let failed = eventually("the failure is in the log", async || {
        let list = requests(client, on(json!({"url": "/data?f"}))).await;
        list.into_iter().find(|request| request["error"].is_string())
    })
    .await;
    assert!(failed["error"].as_str().unwrap().contains("BLOCKED_BY_CLIENT"), "{failed}");

    let words = client
        .fails(
            "browser_network",
            on(json!({"action": "unmock", "url": "/nothing"})),
            "INVALID_ARGUMENT",
        )
        .await;
    assert!(words.contains("/nothing") && words.contains("/data?m"), "{words}");
    network(client, "unmock", on(json!({"url": "/data?m"}))).await;
    let posted = got(stage, "'/data?m', {method: 'POST'}", here.clone()).await;
    assert_eq!(posted["kind"], "application/json", "{posted}");
    let left = network(client, "unmock", here.clone()).await;
    assert_eq!(left["mocks"], json!([]));
    assert_eq!(got(stage, "'/data?f'", here).await["status"], 200);
    client.tab("close", json!({"tab": tab})).await;
}

#[tokio::test]
async fn what_is_intercepted_is_blocked_until_it_is_let_through() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    let patterns =
        json!([{"urlPattern": "*/data?b*"}, {"urlPattern": "*", "resourceType": "image"}]);
    network(client, "intercept", json!({"enabled": true, "patterns": patterns})).await;
    assert_eq!(got(stage, "'/data?blocked'", json!({})).await["failed"], true);
    assert_eq!(got(stage, "'/data?open'", json!({})).await["status"], 200);
    network(client, "intercept", json!({"enabled": false})).await;
    assert_eq!(got(stage, "'/data?blocked'", json!({})).await["status"], 200);
}

#[tokio::test]
async fn a_frame_of_another_site_is_mocked_and_listed_too() {
    let stage = &Stage::start().await;
    let client = &stage.client;
    let tab = client.new_tab(&stage.site.url("/tab.html")).await;
    let on = |more: Value| with(json!({"tab": tab}), more);
    network(client, "mock", on(json!({"url": "/data?start-framed", "body": "mocked"}))).await;
    stage.site.forget();
    let go = json!({"url": stage.site.url("/network-frame.html"), "tab": tab});
    client.call("browser_navigate", go).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["body"], "mocked", "{told}");
    let list = logged(client, on(json!({"url": "start-framed"}))).await;
    assert_eq!(addresses(&list), [stage.site.elsewhere("/data?start-framed")]);
    client.tab("close", json!({"tab": tab})).await;
}

#[tokio::test]
async fn workers_of_a_page_go_on_and_are_mocked_too() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    network(client, "mock", json!({"url": "/data?worker", "body": "mocked"})).await;
    for (start, expected) in [
        ("worker('Worker')", "mocked"),
        ("worker('SharedWorker')", "up"),
        ("navigator.serviceWorker.register('/worker.js').then((it) => it.scope && 'up')", "up"),
    ] {
        stage.site.forget();
        let expression = format!("void {start}.then((it) => report('worker', it))");
        client.evaluate(&expression).await;
        assert_eq!(stage.site.report("worker").await, expected, "{start}");
    }
    // The worker's request is in the log.
    logged(client, json!({"url": "/data?worker", "status": 200})).await;
    network(client, "unmock", json!({})).await;
}

#[tokio::test]
async fn mocks_survive_the_worker_and_end_with_their_client() {
    let stage = Stage::alone().await;
    stage.open("/network.html").await;
    let (site, client) = (&stage.site, &stage.client);
    let tabs = client.tab("list", json!({})).await;
    let own = tabs["tabs"].as_array().unwrap().iter().find(|tab| tab["owner"] == "yours").unwrap();
    let tab = own["tab"].clone();
    network(client, "mock", json!({"url": "/data?loaded", "body": "mocked"})).await;
    let before = ended(client, "/data?start").await;
    processes::kill_worker(&stage.hub).await;
    let load = json!({"action": "click", "selector": "#load"});
    until_it_works(async || client.result("browser_interact", load.clone()).await).await;
    site.reported("got", loaded("mocked")).await;
    let list = requests(client, json!({})).await;
    let ids: Vec<_> = list.iter().map(|request| request["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&before.as_str()), "the log is still there: {ids:?}");
    let mut apart = ids.clone();
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), ids.len(), "no number is given twice: {ids:?}");

    client.tab("release", json!({"tab": tab})).await;
    let other = stage.another_client("another");
    eventually("the mock is gone", async || {
        site.forget();
        other.interact("click", json!({"selector": "#load", "tab": tab})).await;
        (site.report("got").await["body"] != "mocked").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_tab_has_so_many_mocks_and_no_more() {
    let stage = Stage::at("/network.html").await;
    for number in 0..50 {
        network(&stage.client, "mock", json!({"url": format!("/mock/{number}")})).await;
    }
    let more = json!({"action": "mock", "url": "/one/more"});
    let words = stage.client.fails("browser_network", more, "TOO_LARGE").await;
    assert!(words.contains("50"), "{words}");
}

#[tokio::test]
async fn headers_go_along_until_they_are_taken_back() {
    let stage = Stage::at("/network.html").await;
    let client = &stage.client;
    ended(client, "/data?start").await;
    let headers = json!({"X-Tabwire": "there", "Accept-Language": "eo"});
    let told = text(client, "set_headers", json!({"headers": headers})).await;
    assert!(told.contains("X-Tabwire"), "{told}");
    let echoed = got(&stage, "'/echo'", json!({})).await;
    let echoed: Value = serde_json::from_str(echoed["body"].as_str().unwrap()).unwrap();
    assert_eq!(echoed["headers"]["x-tabwire"], "there", "{echoed}");
    assert_eq!(echoed["headers"]["accept-language"], "eo", "{echoed}");
    network(client, "set_headers", json!({"headers": {}})).await;
    let echoed = got(&stage, "'/echo'", json!({})).await;
    assert!(!echoed["body"].as_str().unwrap().contains("x-tabwire"), "{echoed}");
}
