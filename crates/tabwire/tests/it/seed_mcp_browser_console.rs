//! mcp-browser: what pages write to their console arrives as events, each line once.

use serde_json::{Value, json};
use testkit::{
    HubProcess, eventually,
    seeds::mcp_browser::{McpBrowser, McpBrowserOptions},
};

use crate::{
    seed_browsers::{client, done, feed_of, hub_for_extensions, session},
    seed_mcp_browser::hub_and_browser,
};

/// Returns the texts of console lines in a session's feed.
async fn console(hub: &HubProcess, name: &str) -> Vec<Value> {
    let mut events = feed_of(hub, name, "event").await;
    events.retain(|item| item["name"] == "console");
    events
}

/// Waits until a line is in the feed; returns all of them.
async fn until_line(hub: &HubProcess, name: &str, text: &str) -> Vec<Value> {
    eventually(&format!("the line {text}"), async || {
        let lines = console(hub, name).await;
        lines.iter().any(|line| line["body"].to_string().contains(text)).then_some(lines)
    })
    .await
}

#[tokio::test]
async fn console_lines_become_events_with_their_level() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.log(&[
        ("log", "started"),
        ("info", "ready"),
        ("warn", "slow network"),
        ("error", "payment failed"),
        ("debug", "the end"),
    ]);
    let lines = until_line(&hub, "mcp-browser", "the end").await;
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (line, (text, level)) in lines.iter().zip([
        ("started", "info"),
        ("ready", "info"),
        ("slow network", "warning"),
        ("payment failed", "error"),
        ("the end", "info"),
    ]) {
        assert!(line["body"].to_string().contains(text), "in order: {line}");
        assert_eq!(line["level"], level, "{line}");
        assert!(line["body"].to_string().contains("https://start.example/"), "where from: {line}");
    }
    let result = done(&client(&hub, "claude"), "browser_debug", json!({"action": "console"})).await;
    for text in ["started", "slow network", "payment failed"] {
        assert!(result.to_string().contains(text), "{text} in {result}");
    }
    let args = json!({"action": "console", "level": "error"});
    let errors = done(&client(&hub, "claude"), "browser_debug", args).await;
    assert!(errors.to_string().contains("payment failed"), "{errors}");
    assert!(!errors.to_string().contains("started"), "{errors}");
    assert!(browser.line.heard_of("query_logs").is_empty(), "it never answers that");
}

#[tokio::test]
async fn the_extensions_own_noise_is_dropped() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.log(&[
        ("log", "[MCP Browser] Content script loaded"),
        ("log", "[mcp-browser] a page may say this"),
        ("debug", "[MCP Browser] Batch sent"),
        ("log", "the page: [MCP Browser] is quoted"),
    ]);
    browser.log(&[("log", "[MCP Browser] nothing but noise")]);
    browser.log(&[("log", "marker")]);
    let lines = until_line(&hub, "mcp-browser", "marker").await;
    let text = json!(lines).to_string();
    assert!(!text.contains("Content script loaded") && !text.contains("Batch sent"), "{text}");
    assert!(!text.contains("nothing but noise"), "{text}");
    assert!(text.contains("is quoted"), "what a page writes is kept: {text}");
}

#[tokio::test]
async fn a_batch_that_comes_twice_counts_once_and_one_that_repeats_itself_later_does_not() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let batch = browser.batch(&[("log", "tick"), ("log", "tick")]);
    browser.send_batch(batch.clone());
    browser.send_batch(batch);
    browser.log(&[("log", "marker")]);
    let lines = until_line(&hub, "mcp-browser", "marker").await;
    let ticks = lines.iter().filter(|line| line["body"].to_string().contains("tick")).count();
    assert_eq!(ticks, 2, "two in one batch are two: {lines:?}");
    // The same words at another time are another batch.
    let mut later = browser.batch(&[("log", "tock")]);
    browser.send_batch(later.clone());
    later["timestamp"] = json!("2026-01-02T03:05:00.000Z");
    later["messages"][0]["timestamp"] = json!("2026-01-02T03:04:59.000Z");
    browser.send_batch(later);
    browser.log(&[("log", "second marker")]);
    let lines = until_line(&hub, "mcp-browser", "second marker").await;
    let tocks = lines.iter().filter(|line| line["body"].to_string().contains("tock")).count();
    assert_eq!(tocks, 2, "{lines:?}");
}

#[tokio::test]
async fn lines_from_before_it_was_ready_arrive_in_order() {
    let hub = hub_for_extensions(&[]).await;
    let options = McpBrowserOptions::new(hub.compat("mcp_browser"));
    let browser = options.begin().await;
    for number in 0..20 {
        let text = format!("early {number}.");
        browser.log(&[("log", text.as_str())]);
    }
    browser.until_ready().await;
    session(&hub, "mcp-browser").await;
    let lines = until_line(&hub, "mcp-browser", "early 19.").await;
    let found: Vec<_> = (0..20)
        .filter_map(|number| {
            let text = format!("early {number}.");
            lines.iter().position(|line| line["body"].to_string().contains(&text))
        })
        .collect();
    assert_eq!(found, (0..20).collect::<Vec<_>>(), "{lines:?}");
}

#[tokio::test]
async fn what_a_script_logs_comes_with_its_answer() {
    let (hub, browser) = hub_and_browser(&[]).await;
    browser.change(|page| {
        page.logs = vec![("log".to_owned(), "from the script".to_owned())];
        page.evaluates = Some(Ok("7".to_owned()));
    });
    let claude = client(&hub, "claude");
    let result = done(&claude, "browser_execute", json!({"expression": "f()"})).await;
    assert!(result.to_string().contains('7'), "{result}");
    until_line(&hub, "mcp-browser", "from the script").await;
}

#[tokio::test]
async fn a_client_can_wait_for_a_line_and_lines_survive_a_navigation() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let claude = client(&hub, "claude");
    browser.log(&[("error", "before the navigation")]);
    until_line(&hub, "mcp-browser", "before the navigation").await;
    done(&claude, "browser_navigate", json!({"url": "https://next.example/"})).await;
    let cursor = hub.api().feed_page("mcp-browser", 0, 100).await["newest"].clone();
    let args = json!({
        "until": "event", "event": "console", "session": "mcp-browser", "since": cursor,
        "timeoutMs": 25_000,
    });
    let (waited, ()) = tokio::join!(done(&claude, "wait_for", args), async {
        browser.log(&[("log", "after the navigation")]);
    });
    assert!(waited.to_string().contains("after the navigation"), "{waited}");
    let lines = done(&claude, "browser_debug", json!({"action": "console"})).await;
    for text in ["before the navigation", "after the navigation"] {
        assert!(lines.to_string().contains(text), "{text} in {lines}");
    }
}

#[tokio::test]
async fn odd_batches_cost_nothing_but_themselves() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let other = McpBrowser::connect(hub.compat("mcp_browser")).await;
    session(&hub, "mcp-browser-2").await;
    for odd in [
        json!({"type": "batch"}),
        json!({"type": "batch", "messages": 5}),
        json!({"type": "batch", "messages": []}),
        json!({"type": "batch", "messages": [5, null, {}, {"level": 7}, {"message": ["x"]}]}),
        json!({"type": "batch", "messages": [{"level": "shout", "message": "kept"}]}),
        json!({"type": "batch", "messages": [{"level": "log", "message": "x".repeat(200_000)}]}),
    ] {
        browser.send_batch(odd);
    }
    browser.log(&[("log", "marker")]);
    until_line(&hub, "mcp-browser", "marker").await;
    browser.line.must_be_open();
    other.log(&[("log", "elsewhere")]);
    until_line(&hub, "mcp-browser-2", "elsewhere").await;
    assert!(console(&hub, "mcp-browser-2").await.len() == 1, "its own lines only");
}
