//! Pages whose bytes come slowly: they are waited for, or said to be loading, and never shown as
//! empty.
//!
//! The site sends the rest of a page when the test says so, which is after the call has begun.

use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;

/// Enough for a call that does not wait to have its answer before the rest is sent. A call that
/// waits has the same answer whenever that is.
const MEANWHILE: Duration = Duration::from_millis(700);

/// Makes a call, and has the site send the rest of the page while it is under way.
async fn with_the_rest_to_come(
    stage: &Stage,
    held: &str,
    call: impl Future<Output = String>,
) -> String {
    let (answer, ()) = tokio::join!(call, async {
        tokio::time::sleep(MEANWHILE).await;
        stage.site.let_go(held);
    });
    answer
}

/// Opens a tab in the background by a link, and returns it at once.
async fn follow(stage: &Stage, link: &str) -> u64 {
    stage.open("/parts-links.html").await;
    let clicked = stage.client.click(link).await;
    clicked["newTab"]["tab"].as_u64().unwrap_or_else(|| panic!("{clicked}"))
}

/// Opens the page whose body is held, waits until its head is there, and calls a tool.
async fn in_a_page_without_a_body(tool: &str, args: Value) -> String {
    let stage = Stage::start().await;
    let tab = follow(&stage, "#parts").await;
    stage.site.report("begun").await;
    let args = crate::stage::with(args, json!({ "tab": tab }));
    with_the_rest_to_come(&stage, "page", stage.client.text(tool, args)).await
}

#[tokio::test]
async fn a_snapshot_waits_for_the_body() {
    let shown = in_a_page_without_a_body("browser_snapshot", json!({})).await;
    assert!(shown.contains("heading \"The rest\"") && shown.contains("\"Press\""), "{shown}");
    assert!(!shown.contains("loading"), "{shown}");
}

#[tokio::test]
async fn what_is_looked_for_is_waited_for() {
    let args = json!({"find": "the rest"});
    let shown = in_a_page_without_a_body("browser_snapshot", args).await;
    assert!(shown.contains("heading \"The rest\""), "{shown}");
}

#[tokio::test]
async fn the_content_waits_for_the_body() {
    let shown = in_a_page_without_a_body("browser_content", json!({"action": "get"})).await;
    assert!(shown.contains("The rest") && !shown.contains("loading"), "{shown}");
}

#[tokio::test]
async fn a_query_waits_for_the_body() {
    let args = json!({"action": "query", "selector": "button"});
    let shown = in_a_page_without_a_body("browser_content", args).await;
    assert!(shown.contains("\"count\":1") && !shown.contains("loading"), "{shown}");
}

#[tokio::test]
async fn an_element_that_is_not_there_yet_is_waited_for() {
    let args = json!({"action": "click", "selector": "button"});
    in_a_page_without_a_body("browser_interact", args).await;
}

#[tokio::test]
async fn a_tab_whose_server_has_not_answered_is_waited_for() {
    let stage = Stage::start().await;
    let tab = follow(&stage, "#held").await;
    stage.site.until_asked("/hold/page?then=/arrived.html").await;
    let call = stage.client.text("browser_snapshot", json!({ "tab": tab }));
    let shown = with_the_rest_to_come(&stage, "page", call).await;
    assert!(shown.starts_with("page \"Arrived\""), "{shown}");
}

#[tokio::test]
async fn a_tab_whose_server_does_not_answer_is_told_as_loading() {
    let stage = Stage::start().await;
    let tab = follow(&stage, "#held").await;
    let args = json!({"tab": tab, "timeoutMs": 1500});
    let words = stage.client.fails("browser_snapshot", args, "TIMEOUT").await;
    assert!(words.contains("still loading"), "{words}");
    // It can be left.
    let go = json!({"tab": tab, "url": stage.site.url("/arrived.html")});
    stage.client.call("browser_navigate", go).await;
}

#[tokio::test]
async fn a_page_without_a_body_in_time_is_told_as_loading() {
    let stage = Stage::start().await;
    let tab = follow(&stage, "#parts").await;
    stage.site.report("begun").await;
    let args = json!({"tab": tab, "timeoutMs": 1500});
    let shown = stage.client.text("browser_snapshot", args).await;
    assert!(shown.contains("the page is still loading"), "{shown}");
}

#[tokio::test]
async fn a_page_that_shows_something_is_shown_and_said_to_be_loading() {
    let stage = Stage::start().await;
    stage.open("/parts-links.html").await;
    let url = stage.site.url("/parts/page/parts-begun.html");
    let go = json!({"url": url, "timeoutMs": 500});
    stage.client.fails("browser_navigate", go, "TIMEOUT").await;
    let shown = stage.client.snapshot().await;
    assert!(shown.contains("heading \"The beginning\""), "{shown}");
    assert!(shown.contains("the page is still loading"), "{shown}");
    let content = stage.client.call("browser_content", json!({"action": "get"})).await;
    assert_eq!((&content["content"], &content["loading"]), (&json!("The beginning"), &json!(true)));
    let query = json!({"action": "query", "selector": "h1"});
    assert_eq!(stage.client.call("browser_content", query).await["loading"], true);
    stage.site.let_go("page");
    let wait = json!({"action": "wait", "selector": "button"});
    stage.client.call("browser_navigate", wait).await;
    let shown = stage.client.snapshot().await;
    assert!(shown.contains("\"The end\"") && !shown.contains("loading"), "{shown}");
}

#[tokio::test]
async fn a_frame_is_waited_for_too() {
    let stage = Stage::start().await;
    let tab = open_unfinished(&stage, "/parts-frame.html").await;
    stage.site.report("begun").await;
    let call = stage.client.text("browser_snapshot", json!({ "tab": tab }));
    let shown = with_the_rest_to_come(&stage, "frame", call).await;
    assert!(shown.contains("heading \"The rest\"") && !shown.contains("loading"), "{shown}");
}

#[tokio::test]
async fn a_frame_that_is_not_there_is_said_to_be_loading() {
    let stage = Stage::start().await;
    let tab = open_unfinished(&stage, "/hold-frame.html").await;
    let shown = stage.client.text("browser_snapshot", json!({ "tab": tab })).await;
    assert!(shown.contains("iframe \"Not there\" [loading]"), "{shown}");
    assert!(!shown.contains("the page is still loading"), "{shown}");
    let get = json!({"action": "get", "tab": tab});
    assert_eq!(stage.client.call("browser_content", get).await["loading"], true);
}

/// Opens a page that will not have loaded; the tab is the client's own from then on.
async fn open_unfinished(stage: &Stage, path: &str) -> u64 {
    let tab = stage.client.new_tab(&stage.site.url("/parts-links.html")).await;
    let go = json!({
        "tab": tab, "url": stage.site.url(path), "waitUntil": "domcontentloaded",
    });
    stage.client.call("browser_navigate", go).await;
    tab
}
