//! The hub, the browser or the extension's worker dies in the middle of a call: the client gets one
//! honest answer, and then everything works again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Era, McpStdio, PATIENCE, Site, StdioOptions, eventually, mcp::text, strict};

use crate::{
    processes,
    stage::{Driver, PROGRAM, Stage, code, works_within},
};

/// How many starts of a hub with a browser it may take until an extension is back, which is a part
/// of such a start. One that has nothing but its alarm to come back with takes up to 30 s, which is
/// many more.
const STARTS: u32 = 8;
/// How long it may take on a machine that does nothing else.
const SOON: Duration = Duration::from_secs(5);
/// A call that the page has begun and will never end.
const ENDLESS: &str = "report('begun'), new Promise(() => {})";
/// Codes that do not promise what nobody knows.
const HONEST: [&str; 2] = ["outcome_unknown", "not_delivered"];

fn endless() -> Value {
    json!({"name": "browser_execute", "arguments": {"expression": ENDLESS}})
}

#[track_caller]
fn check_honest(result: &Value) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(HONEST.contains(&code(result)), "{result}");
    assert!(text(result).contains("retry"), "{result}");
}

/// Runs the endless call and ends something as soon as the page has begun it.
async fn interrupted(client: &Driver, site: &Site, end: impl Future<Output = ()>) -> Value {
    let call = client.result("browser_execute", json!({"expression": ENDLESS}));
    let (result, ()) = tokio::join!(call, async {
        site.report("begun").await;
        end.await;
    });
    result
}

async fn relay(stage: &Stage) -> McpStdio {
    let mut relay =
        StdioOptions::of(PROGRAM, &stage.hub).start().named("relayed").patient(2 * PATIENCE);
    relay.open(Era::Modern).await;
    relay
}

#[tokio::test]
async fn a_hub_that_is_killed_in_the_middle_of_a_call_comes_back_with_its_browser_and_tabs() {
    let started = Instant::now();
    let mut stage = Stage::alone().await;
    let start = started.elapsed();
    let mut relay = relay(&stage).await;
    let go = json!({"url": stage.site.url("/tab.html?its")});
    let gone = relay.call("browser_navigate", go).await.result();
    assert!(text(&gone).starts_with("opened tab "), "{gone}");
    let call = relay.ask("tools/call", endless()).await;
    stage.site.report("begun").await;
    stage.hub.kill();
    let killed = Instant::now();
    stage.hub.restart().await;
    let answer = relay.answer(call).await.result();
    check_honest(&answer);

    let click = json!({"action": "click", "selector": "#mark"});
    let call = async || relay.call("browser_interact", click.clone()).await.result();
    let clicked = works_within(STARTS * start, call).await;
    strict(SOON, killed.elapsed(), "the browser is back at a new hub");
    assert_eq!(clicked["structuredContent"]["url"], stage.site.url("/tab.html?its"));
    let told = json!({"expression": "tell('after')"});
    relay.call("browser_execute", told).await.result();
    assert_eq!(stage.site.report("after").await, json!(["click mark"]));
    assert_eq!(stage.site.reports("begun").len(), 1, "nothing was done twice");
    // It is the same tab, and still the client's own.
    let list = relay.call("browser_tab", json!({"action": "list"})).await.result();
    let tabs = list["structuredContent"]["tabs"].as_array().unwrap().clone();
    let own: Vec<_> = tabs.iter().filter(|tab| tab["owner"] == "yours").collect();
    assert_eq!(own.len(), 1, "{list}");
    assert_eq!(own[0]["url"], stage.site.url("/tab.html?its"));
    assert_eq!(relay.kept().count(), 0, "one answer to each request");
}

#[tokio::test]
async fn a_browser_that_is_killed_in_the_middle_of_a_call_is_told_and_another_can_be_started() {
    let stage = Stage::alone().await;
    stage.open("/tab.html?its").await;
    let (site, client) = (&stage.site, &stage.client);
    let pid = processes::browser(&stage.hub).await;
    let result = interrupted(client, site, processes::kill_and_wait(pid)).await;
    check_honest(&result);
    let args = json!({"expression": "1"});
    let words = client.fails("browser_execute", args, "not_connected|unknown_tab").await;
    assert!(words.contains("browser"), "{words}");

    let session = client.start_browser(json!({})).await;
    let client = Driver::bound(&stage.hub, "claude", &session);
    client.go(&site.url("/tab.html?new")).await;
    client.click("#mark").await;
    assert_eq!(client.seen(site, json!({})).await, ["click mark"]);
    assert_eq!(site.reports("begun").len(), 1, "nothing was done twice");
}

#[tokio::test]
async fn a_worker_that_is_killed_in_the_middle_of_a_call_comes_back_and_the_tab_is_still_driven() {
    let started = Instant::now();
    let stage = Stage::alone().await;
    stage.open("/tab.html?its").await;
    let start = started.elapsed();
    let (site, client) = (&stage.site, &stage.client);
    let shown = client.snapshot().await;
    let mark = crate::stage::reference_in(&shown, "button \"Mark\"");
    let result = interrupted(client, site, processes::kill_worker(&stage.hub)).await;
    check_honest(&result);
    let click = json!({"action": "click", "ref": mark});
    let killed = Instant::now();
    let call = async || client.result("browser_interact", click.clone()).await;
    works_within(STARTS * start, call).await;
    strict(SOON, killed.elapsed(), "the worker is back");
    assert_eq!(client.seen(site, json!({})).await, ["click mark"]);
    assert_eq!(site.reports("begun").len(), 1, "nothing was done twice");
}

#[tokio::test]
async fn a_tab_that_is_closed_or_left_in_the_middle_of_a_call_is_told() {
    let stage = Stage::start().await;
    let (site, client) = (&stage.site, &stage.client);
    for leave in ["location.href = '/arrived.html'", "close()"] {
        site.forget();
        let opener = client.new_tab(&site.url("/signals.html")).await;
        let clicked = client.interact("click", json!({"tab": opener, "selector": "#open"})).await;
        let tab = clicked["newTab"]["tab"].as_u64().unwrap();
        site.reported("loaded", json!("opened")).await;
        let expression =
            format!("setTimeout(() => {leave}), report('begun'), new Promise(() => {{}})");
        let args = json!({"tab": tab, "expression": expression, "timeoutMs": 25_000});
        let codes = "EVALUATION_FAILED|TAB_NOT_FOUND|NAVIGATION_FAILED|unknown_tab|outcome_unknown";
        let words = client.fails("browser_execute", args, codes).await;
        assert!(!words.is_empty());
    }
    let gone = eventually("the tab is gone", async || {
        let list = client.tab("list", json!({})).await;
        let tabs = list["tabs"].as_array().unwrap();
        let open = tabs.iter().filter(|tab| tab["url"] == site.url("/tab.html?opened"));
        (open.count() == 0).then_some(list)
    });
    gone.await;
    stage.open("/arrived.html").await;
    assert_eq!(client.evaluate("document.title").await, "Arrived");
}
