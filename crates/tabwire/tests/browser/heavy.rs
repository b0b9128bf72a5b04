//! Pages that are too much: one that hangs, and one that is huge.

use std::time::Duration;

use serde_json::json;
use testkit::within;

use crate::stage::{Stage, code, cursor_in, reference_in, with};

/// Codes of a page that does not answer.
const SILENT: &str = "PAGE_UNRESPONSIVE|TIMEOUT|timed_out";

#[tokio::test]
async fn a_page_that_hangs_costs_no_more_than_the_time_that_was_given() {
    let Stage { site, client, .. } = &Stage::at("/hang.html").await;
    // Far more than what is given, and less than calls have that are given nothing. The page hangs
    // until it is let go.
    let limit = Duration::from_secs(20);
    let click = json!({"selector": "#hang", "timeoutMs": 2000});
    let click = with(json!({"action": "click"}), click);
    let result = within(limit, "an answer", client.result("browser_interact", click)).await;
    // The click has arrived, so that the page is busy is an answer too.
    let told = match result["isError"] == true {
        true => SILENT.split('|').any(|silent| silent == code(&result)),
        false => result["structuredContent"]["busy"] == true,
    };
    assert!(told, "{result}");
    for (tool, args) in [
        ("browser_execute", json!({"expression": "1", "timeoutMs": 500})),
        ("browser_snapshot", json!({"timeoutMs": 500})),
    ] {
        let words = within(limit, "an answer", client.fails(tool, args, SILENT)).await;
        // Where the click was given up before it was answered, what follows waits behind it.
        let told = ["busy", "answer", "behind other calls"].iter().any(|it| words.contains(it));
        assert!(told, "{words}");
    }
    // Another tab is not held up.
    let other = client.new_tab(&site.url("/tab.html?other")).await;
    client.interact("click", json!({"tab": other, "selector": "#mark"})).await;
    assert_eq!(client.seen(site, json!({"tab": other})).await, ["click mark"]);
    assert!(site.reports("awake").is_empty(), "all this while the page hung");

    site.let_go("hang");
    site.report("awake").await;
    let hung = client.listed("the tab that hung", |it| it["title"] == "Hang").await["tab"].clone();
    client.interact("click", json!({"tab": hung, "selector": "#mark"})).await;
    // What timed out is not done later: one click on each.
    assert_eq!(client.seen(site, json!({"tab": hung})).await, ["click hang", "click mark"]);
}

#[tokio::test]
async fn a_huge_page_is_shown_in_parts_and_driven_at_once() {
    let Stage { site, client, .. } = &Stage::at("/huge.html").await;
    let text = client.snapshot().await;
    assert!(text.len() <= 25_000, "{} bytes", text.len());
    let first = reference_in(&text, "\"Button 1\"");
    let (_, open) = text.split_once("[open=").unwrap_or_else(|| panic!("{text}"));
    let open = json!({"open": open.split(']').next().unwrap()});
    let text = client.text("browser_snapshot", open).await;
    let cursor = cursor_in(&text).unwrap_or_else(|| panic!("{text}"));
    let next = client.text("browser_snapshot", json!({"cursor": cursor})).await;
    assert!(!next.contains("\"Button 1\"") && next.contains("\"Button "), "{next}");
    client.interact("click", json!({"ref": first})).await;
    client.click("#b20000").await;
    let part = client.text("browser_snapshot", json!({"selector": "#b19999"})).await;
    let last = reference_in(&part, "\"Button 19999\"");
    client.interact("click", json!({"ref": last})).await;
    let expected = ["click b1", "click b20000", "click b19999"];
    assert_eq!(client.seen(site, json!({})).await, expected);
    let all = json!({"action": "screenshot", "fullPage": true, "maxBytes": 100_000});
    client.works("browser_content", all).await;
}
