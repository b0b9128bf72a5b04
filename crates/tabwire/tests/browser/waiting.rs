//! Waiting for something in a page: it comes, or the time is over and the answer says what lacked.

use serde_json::{Value, json};

use crate::stage::{Driver, Stage, with};

async fn wait(client: &Driver, what: Value) -> Value {
    client.call("browser_navigate", with(json!({"action": "wait"}), what)).await
}

/// Waits for something that the page does only when it is told, while the client waits.
async fn wait_while(client: &Driver, what: Value, script: &str) {
    let ask = json!({"expression": script});
    let (found, _) = tokio::join!(wait(client, what), client.call("browser_execute", ask));
    assert_eq!(found["found"], true, "{found}");
}

#[tokio::test]
async fn waiting_ends_when_what_is_waited_for_is_there() {
    let stage = &Stage::at("/waiting.html").await;
    let client = &stage.client;
    for (what, script) in [
        (json!({"text": "ready now"}), "at('out').textContent = 'all is ready now'"),
        (json!({"selector": "#hidden"}), "at('hidden').hidden = false"),
        (json!({"selector": "#shown", "state": "hidden"}), "at('shown').hidden = true"),
        (
            json!({"selector": "#added", "state": "attached"}),
            "document.body.insertAdjacentHTML('beforeend', '<i id=added hidden></i>')",
        ),
        (json!({"text": "ready now", "state": "hidden"}), "at('out').textContent = ''"),
        (json!({"url": "/moved?to=here"}), "history.pushState(0, '', '/moved?to=here')"),
        (json!({"url": "/v[0-9]+$/"}), "history.pushState(0, '', '/v17')"),
        (json!({"expression": "window.flag === 7"}), "window.flag = 7"),
        (json!({"networkIdle": true}), "fetch('/slow?ms=100').then((r) => r.text()).then(note); 0"),
    ] {
        wait_while(client, what, script).await;
    }
    let passed = wait(client, json!({"timeMs": 50})).await;
    assert!(passed["waitedMs"].as_u64().unwrap() >= 50, "{passed}");
    // What is there already is not waited for.
    assert_eq!(wait(client, json!({"expression": "window.flag"})).await["found"], true);
}

#[tokio::test]
async fn waiting_for_the_network_ends_after_the_last_answer() {
    let Stage { site, client, .. } = &Stage::at("/waiting.html").await;
    client.evaluate("fetch('/hold/a').then((r) => r.text()).then(note); 0").await;
    site.until_asked("/hold/a").await;
    let args = json!({"action": "wait", "networkIdle": true, "timeoutMs": 300});
    client.fails("browser_navigate", args, "TIMEOUT").await;
    let (found, ()) =
        tokio::join!(wait(client, json!({"networkIdle": true})), async { site.let_go("a") });
    assert_eq!(found["found"], true);
    assert_eq!(client.seen(site, json!({})).await, ["late"]);
}

#[tokio::test]
async fn what_does_not_come_is_told_by_name_when_the_time_is_over() {
    let stage = &Stage::at("/waiting.html").await;
    for (what, named) in [
        (json!({"text": "never said"}), "never said"),
        (json!({"selector": "#never"}), "#never"),
        (json!({"selector": "#hidden", "state": "visible"}), "#hidden"),
        (json!({"selector": "#shown", "state": "hidden"}), "#shown"),
        (json!({"url": "/nowhere"}), "/nowhere"),
        (json!({"expression": "window.never"}), "expression"),
    ] {
        let args = with(json!({"action": "wait", "timeoutMs": 200}), what);
        let words = stage.client.fails("browser_navigate", args, "TIMEOUT").await;
        assert!(words.contains(named), "{words}");
    }
    for (what, code) in [
        (json!({"selector": "##"}), "INVALID_SELECTOR"),
        (json!({"expression": "no such thing"}), "EVALUATION_FAILED"),
        (json!({"url": "/[/"}), "INVALID_ARGUMENT|TIMEOUT"),
    ] {
        let args = with(json!({"action": "wait"}), what);
        stage.client.fails("browser_navigate", args, code).await;
    }
}

#[tokio::test]
async fn an_expression_with_too_many_ways_hangs_nothing() {
    let Stage { site, client, .. } = &Stage::start().await;
    let letters = "a".repeat(2_000);
    client.go(&site.url(&format!("/waiting.html?{letters}!"))).await;
    for url in ["/(a+)+$/", "/(a|aa)+$/", "/(.*a){20}$/"] {
        let args = json!({"action": "wait", "url": url, "timeoutMs": 100});
        client.fails("browser_navigate", args, "TIMEOUT").await;
    }
    assert_eq!(wait(client, json!({"url": "/(.*a){20}!$/"})).await["found"], true);
    let args = json!({"action": "wait", "url": "/(a)\\1/"});
    let words = client.fails("browser_navigate", args, "INVALID_ARGUMENT").await;
    assert!(words.contains("refers back"), "{words}");
}
