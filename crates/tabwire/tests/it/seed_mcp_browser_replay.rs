//! mcp-browser: numbers, what was missed while it was away, and gaps.

use serde_json::{Value, json};
use testkit::{
    HubProcess, Incoming, eventually,
    seeds::mcp_browser::{McpBrowser, McpBrowserOptions, page::Tab},
};

use crate::{
    seed_browsers::{client, done, hub_for_extensions, names, session},
    seed_mcp_browser::hub_and_browser,
};

/// Sends the session numbered messages, `from` to `to`.
async fn events(hub: &HubProcess, from: u64, to: u64) {
    for number in from..=to {
        let sent = hub.api().event("mcp-browser", "console_log", json!({"number": number})).await;
        assert_eq!(sent, number);
    }
}

/// Returns the numbers of messages.
fn numbers(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["sequence"].as_u64().unwrap()).collect()
}

/// Fails the test unless messages carry what was sent under their numbers.
#[track_caller]
fn carry_their_data(messages: &[Value]) {
    for message in messages {
        assert_eq!(message["type"], "console_log", "the event's own name: {message}");
        let number = format!("\"number\":{}", message["sequence"]);
        assert!(message.to_string().contains(&number), "{message}");
    }
}

async fn until_sequence(browser: &McpBrowser, sequence: u64) {
    eventually(&format!("the extension is at {sequence}"), async || {
        (browser.sequence() == sequence).then_some(())
    })
    .await;
}

#[tokio::test]
async fn events_are_numbered_without_holes_and_commands_not_at_all() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let claude = client(&hub, "claude");
    for round in 1..=5 {
        events(&hub, round, round).await;
        done(&claude, "browser_navigate", json!({"url": format!("https://{round}.example/")}))
            .await;
        let query = json!({"action": "query", "selector": "#a"});
        done(&claude, "browser_content", query).await;
    }
    until_sequence(&browser, 5).await;
    assert_eq!(numbers(&browser.delivered()), [1, 2, 3, 4, 5]);
    carry_their_data(&browser.delivered());
    for message in browser.line.heard() {
        let numbered = message["type"] == "console_log";
        assert_eq!(message.get("sequence").is_some(), numbered, "{message}");
    }
    assert!(browser.line.said_of("gap_recovery").is_empty());
}

#[tokio::test]
async fn what_was_missed_is_replayed_at_the_next_introduction() {
    let (hub, mut browser) = hub_and_browser(&[]).await;
    events(&hub, 1, 2).await;
    until_sequence(&browser, 2).await;
    browser.vanish().await;
    hub.api().until_connected("mcp-browser", false).await;
    events(&hub, 3, 6).await;
    browser.reconnect(true).await;
    let ack = browser.ack();
    assert_eq!(numbers(ack["replay"].as_array().unwrap()), [3, 4, 5, 6], "{ack}");
    carry_their_data(ack["replay"].as_array().unwrap());
    assert_eq!(ack["currentSequence"], 6);
    assert_eq!(names(&hub).await, ["mcp-browser"], "the same session");
    events(&hub, 7, 7).await;
    until_sequence(&browser, 7).await;
    assert_eq!(numbers(&browser.delivered()), [1, 2, 7]);
    assert!(browser.line.said_of("gap_recovery").is_empty());
}

#[tokio::test]
async fn an_extension_that_has_forgotten_its_number_gets_everything() {
    let (hub, mut browser) = hub_and_browser(&[]).await;
    events(&hub, 1, 3).await;
    until_sequence(&browser, 3).await;
    browser.vanish().await;
    hub.api().until_connected("mcp-browser", false).await;
    events(&hub, 4, 4).await;
    // As the real one does after a loss.
    browser.reconnect(false).await;
    assert_eq!(numbers(browser.ack()["replay"].as_array().unwrap()), [1, 2, 3, 4]);
    assert_eq!(browser.sequence(), 4);
    browser.assign(Tab::new(4711, "https://start.example/"));
    done(&client(&hub, "claude"), "browser_navigate", json!({"url": "https://a.example/"})).await;
}

#[tokio::test]
async fn a_long_absence_is_replayed_up_to_a_hundred_and_the_rest_is_asked_for() {
    let (hub, mut browser) = hub_and_browser(&[]).await;
    browser.vanish().await;
    hub.api().until_connected("mcp-browser", false).await;
    events(&hub, 1, 130).await;
    browser.reconnect(true).await;
    let replay = numbers(browser.ack()["replay"].as_array().unwrap());
    assert!(replay.len() <= 100, "the seed's limit: {}", replay.len());
    assert!(replay.windows(2).all(|pair| pair[1] == pair[0] + 1), "no holes: {replay:?}");
    // Whatever the ack left out, the next message must come through.
    events(&hub, 131, 131).await;
    until_sequence(&browser, 131).await;
    let seen: Vec<_> = [numbers(&browser.replayed()), numbers(&browser.delivered())].concat();
    assert!(seen.contains(&131), "{seen:?}");
}

#[tokio::test]
async fn a_gap_is_filled_with_exactly_what_is_missing() {
    let (hub, browser) = hub_and_browser(&[]).await;
    events(&hub, 1, 2).await;
    until_sequence(&browser, 2).await;
    browser.lose(3);
    events(&hub, 3, 6).await;
    let asked = eventually("the extension asks", async || {
        browser.line.said_of("gap_recovery").first().cloned()
    })
    .await;
    assert_eq!((&asked["fromSequence"], &asked["toSequence"]), (&json!(3), &json!(5)));
    let answer = browser.line.until_heard("gap_recovery_response").await;
    let messages = answer["messages"].as_array().unwrap();
    assert_eq!(numbers(messages), [3, 4, 5], "{answer}");
    carry_their_data(messages);
    assert!(answer.get("sequence").is_none());
    until_sequence(&browser, 6).await;
    events(&hub, 7, 7).await;
    until_sequence(&browser, 7).await;
    assert_eq!(browser.line.said_of("gap_recovery").len(), 1);
}

#[tokio::test]
async fn a_request_for_a_gap_that_is_none_is_answered_in_the_same_shape() {
    let (hub, browser) = hub_and_browser(&["--replay-messages", "3"]).await;
    events(&hub, 1, 5).await;
    until_sequence(&browser, 5).await;
    for (round, (from, to, expected)) in [
        (json!(4), json!(5), vec![4, 5]),
        (json!(4), json!(4), vec![4]),
        (json!(0), json!(3), vec![]),
        (json!(5), json!(4), vec![]),
        (json!(-2), json!(-1), vec![]),
        (json!(6), json!(90), vec![]),
        (json!(5), json!(u64::MAX), vec![5]),
    ]
    .into_iter()
    .enumerate()
    {
        let ask = json!({"type": "gap_recovery", "fromSequence": from, "toSequence": to});
        browser.line.say(ask.clone());
        let heard = browser.line.until_heard_times("gap_recovery_response", round + 1).await;
        let answer = &heard[round];
        // Without the list the extension would never ask again.
        let messages = answer["messages"].as_array().unwrap_or_else(|| panic!("{ask}: {answer}"));
        assert_eq!(numbers(messages), expected, "{ask}: {answer}");
        assert_eq!(answer["success"], !expected.is_empty(), "{ask}: {answer}");
    }
    browser.line.must_be_open();
}

#[tokio::test]
async fn what_is_no_longer_kept_is_not_made_up() {
    let (hub, mut browser) = hub_and_browser(&["--replay-messages", "3"]).await;
    browser.vanish().await;
    hub.api().until_connected("mcp-browser", false).await;
    events(&hub, 1, 8).await;
    browser.reconnect(true).await;
    let ack = browser.ack();
    let replay = numbers(ack["replay"].as_array().unwrap());
    assert!(replay.is_empty() || replay == [6, 7, 8], "{ack}");
    assert_eq!(ack["currentSequence"], 8, "what comes next must not look like a hole");
    events(&hub, 9, 9).await;
    until_sequence(&browser, 9).await;
    assert_eq!(numbers(&browser.delivered()), [9]);
}

#[tokio::test]
async fn a_number_from_another_life_of_the_hub_does_not_make_messages_vanish() {
    for remembered in [1, 7, 42, 5000] {
        let hub = hub_for_extensions(&[]).await;
        let options = McpBrowserOptions::new(hub.compat("mcp_browser"));
        let browser = options.sequence(Some(remembered)).connect().await;
        session(&hub, "mcp-browser").await;
        let ack = browser.ack();
        assert_eq!(ack["replay"], json!([]), "{remembered}: {ack}");
        assert_eq!(browser.sequence(), ack["currentSequence"].as_u64().unwrap());
        events(&hub, 1, 3).await;
        until_sequence(&browser, 3).await;
        assert_eq!(numbers(&browser.delivered()), [1, 2, 3], "{remembered}");
    }
}

#[tokio::test]
async fn numbers_belong_to_one_extension_and_reach_no_other() {
    let (hub, first) = hub_and_browser(&[]).await;
    let second = McpBrowser::connect(hub.compat("mcp_browser")).await;
    session(&hub, "mcp-browser-2").await;
    events(&hub, 1, 4).await;
    until_sequence(&first, 4).await;
    hub.api().event("mcp-browser-2", "console_log", json!({"number": 1})).await;
    until_sequence(&second, 1).await;
    assert_eq!(numbers(&second.delivered()), [1]);
    assert_eq!(first.sequence(), 4);
}

#[tokio::test]
async fn nothing_numbered_comes_before_the_introduction() {
    let hub = hub_for_extensions(&[]).await;
    let mut first = McpBrowser::connect(hub.compat("mcp_browser")).await;
    session(&hub, "mcp-browser").await;
    first.vanish().await;
    hub.api().until_connected("mcp-browser", false).await;
    events(&hub, 1, 3).await;
    let mut socket = McpBrowserOptions::new(hub.compat("mcp_browser")).dial().connect().await;
    socket.until("connection_ack").await;
    socket.send(&json!({"type": "server_info"})).await;
    match socket.recv().await {
        Incoming::Message(answer) => assert_eq!(answer["type"], "server_info_response"),
        other => panic!("{other:?}"),
    }
}
